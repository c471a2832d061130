"""The program: where it is, and a command of it from its start to its end."""
from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pathlib
import shutil
import subprocess

from .errors import HydraError, error_of

PACKAGE = pathlib.Path(__file__).parent
BUNDLED = PACKAGE / "bin" / "hydra"


def find_program() -> str:
    """The one that HYDRA_PROGRAM names, else that of the wheel, else `hydra` of PATH."""
    found = os.environ.get("HYDRA_PROGRAM") or (str(BUNDLED) if BUNDLED.exists() else shutil.which("hydra"))
    if not found:
        text = "there is no program hydra in PATH; install the wheel, or name a program by HYDRA_PROGRAM"
        raise HydraError(text, None)
    return found


def required_torch() -> str:
    return next(r for r in importlib.metadata.requires("hydra-train") or ["torch"] if r.startswith("torch"))


def environment() -> dict[str, str]:
    """Variables for the program: by them that of the wheel finds the libraries of torch, wherever that is."""
    variables = dict(os.environ)
    if not BUNDLED.exists():
        return variables
    torch = importlib.util.find_spec("torch")  # not imported: that would take seconds
    if torch is None or torch.origin is None:
        raise HydraError(f"the package torch is missing; install it by: pip install '{required_torch()}'", None)
    libraries = pathlib.Path(torch.origin).parent / "lib"
    if libraries.parent.parent != PACKAGE.parent:  # elsewhere than the program looks
        variables["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(libraries), variables.get("LD_LIBRARY_PATH")]))
    return variables


def options(**values: object) -> list[str]:
    """Options of a command: best=True, top_k=3 -> --best --top-k=3; what is None or False is left out."""
    words = []
    for key, value in values.items():
        name = "--" + key.replace("_", "-")
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words.append(f"{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def run_program(*words: str) -> str:
    """What a command writes to stdout. Raises HydraError with what it wrote to stderr unless it ends with status 0."""
    done = subprocess.run([find_program(), *words], env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        raise error_of(done.returncode, done.stderr.strip())
    return done.stdout
