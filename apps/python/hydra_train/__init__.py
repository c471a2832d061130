"""Hydra from Python: starts the program, follows and steers its runs, reads what they leave.

    run = hydra_train.train("w.toml", wait=False)
    for record in run.metrics():
        print(record)

There is no second engine here: a function does what the command of its name does, and results are files of the run
folder. docs/python.md has examples, docs/workload.md all keys of a workload.
"""
from .commands import evaluate, export, generate, plan
from .errors import HydraError, Interrupted
from .models import Model
from .run import Run
from .training import open_run as open  # pylint: disable=redefined-builtin
from .training import train

__all__ = ["HydraError", "Interrupted", "Model", "Run", "evaluate", "export", "generate", "open", "plan", "train"]
