"""Exports a PyTorch module as a chain of layers that Hydra trains without Python: graph.json and model.safetensors.

    python -m hydra_export my_model:build --out my_model_export

where my_model.py has

    def build():
        return MyModel(), {"ids": torch.zeros(4, 128, dtype=torch.int64)}  # the inputs of forward(), some samples of each

hydra_export.Export says more than such a pair can. FORMAT.md describes the files.
"""
from .refused import Refused
from .request import Export

__all__ = ["Export", "Refused", "export"]


def export(request, folder, **options):
    """See exporting.export()."""
    from .exporting import export as run  # pylint: disable=import-outside-toplevel
    return run(request, folder, **options)
