"""The command `hydra` of the wheel: its program in place of this process."""
import os
import sys

from .errors import HydraError
from .program import environment, find_program


def main() -> None:
    try:
        program, variables = find_program(), environment()
    except HydraError as missing:
        sys.exit(f"hydra: {missing}")
    os.execve(program, ["hydra", *sys.argv[1:]], variables)
