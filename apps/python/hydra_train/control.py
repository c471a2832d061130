"""The socket of a run folder (docs/control.md), and whether its run is under way."""
from __future__ import annotations

import fcntl
import json
import os
import pathlib
import socket
from typing import Any

from .errors import HydraError
from .program import run_program


def connect(folder: pathlib.Path) -> socket.socket:
    """Raises OSError where no run listens."""
    opened = os.open(folder, os.O_PATH)  # the path of a socket has at most 107 bytes
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(f"/proc/self/fd/{opened}/control.sock")
        return client
    except OSError:
        client.close()
        raise
    finally:
        os.close(opened)


def takes_commands(folder: pathlib.Path) -> bool:
    try:
        connect(folder).close()
        return True
    except OSError:
        return False


def ask(folder: pathlib.Path, command: str, **members: Any) -> dict[str, Any]:
    """The answer of the run. Raises HydraError (status 2) where it refuses, or where no run is under way."""
    try:
        client = connect(folder)
    except OSError:
        run_program("control", str(folder), "status")  # says why
        client = connect(folder)
    with client:
        client.sendall(json.dumps({"command": command, **members}).encode() + b"\n")
        line = client.makefile(encoding="utf-8").readline()
    if not line:
        raise HydraError(f"{folder}: the run has ended before it answered")
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        raise HydraError(answer["error"])
    return answer


def wait_for_lock(folder: pathlib.Path, flags: int = 0) -> None:
    """A run locks its folder from its start to its end. Raises BlockingIOError with LOCK_NB while it does."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | flags)
    finally:
        os.close(opened)


def is_under_way(folder: pathlib.Path) -> bool:
    try:
        wait_for_lock(folder, fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
