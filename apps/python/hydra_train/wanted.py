"""Arguments of another type than is wanted."""
from __future__ import annotations


def require(fits: bool, wanted: str, given: object) -> None:
    if not fits:
        raise TypeError(f"{wanted} is wanted, not {given!r:.80} of type {type(given).__name__}")
