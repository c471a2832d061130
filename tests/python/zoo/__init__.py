"""Small models of many kinds for tests of apps/python/hydra_export. CASES: by name, functions that make (module, inputs) or an
Export."""
from . import language, mixtures, speech, training, vision

CASES = language.CASES | mixtures.CASES | speech.CASES | vision.CASES | training.CASES
