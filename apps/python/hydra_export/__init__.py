"""Exports a PyTorch module as a chain of layers that Hydra trains without Python: graph.json and model.safetensors.

    python -m hydra_export my_model:build --out my_model_export

where my_model.py has

    def build():
        return MyModel(), {"ids": torch.zeros(4, 128, dtype=torch.int64)}  # the inputs of forward(), some samples of each

hydra_export.Export says more than such a pair can. FORMAT.md describes the files.
"""
import importlib

PLACES = {"Export": ".request", "Refused": ".refused", "export": ".exporting"}
__all__ = list(PLACES)


def __getattr__(name):
    """Imported when asked for: the command line says which package is missing before that."""
    if name not in PLACES:
        raise AttributeError(f"hydra_export has no {name}")
    return getattr(importlib.import_module(PLACES[name], __name__), name)
