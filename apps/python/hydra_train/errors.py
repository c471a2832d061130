"""What the program refuses, and what fails, as exceptions."""
from __future__ import annotations


class HydraError(Exception):
    """The program refused what was asked of it, or something failed.

    `message`: the program's own text, also `str(error)`.
    `status`: the program's exit status: 1 some model or file failed, 2 bad input, 3 the workload does not fit the
    budgets (docs/running.md), less than 0 a signal killed it; None where it is not known.
    """

    def __init__(self, message: str, status: int | None = 2):
        super().__init__(message)
        self.message = message
        self.status = status

    def __reduce__(self) -> tuple[type[HydraError], tuple[str, int | None]]:
        return type(self), (self.message, self.status)  # for other processes


class Interrupted(HydraError):
    """The run was interrupted, with its state saved (status 130): `train(folder, resume=True)` continues it."""


def error_of(status: int, message: str) -> HydraError:
    kind = Interrupted if status == 130 else HydraError
    return kind(message or f"the program has ended with status {status} and said nothing", status)
