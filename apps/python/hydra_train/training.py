"""Starting runs, and opening those that exist."""
from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from .commands import set_options
from .control import is_under_way
from .errors import HydraError
from .process import Process
from .run import Run
from .toml import Path, Workload, read_toml, require_workload, to_toml
from .wanted import require

FIRST_LINE = "# Written by hydra_train.train from a dict, which it writes anew for the next run of this folder.\n"


def run_table(workload: Workload) -> dict[str, Any]:
    """[run]; empty where the file cannot be read, of which the program tells."""
    try:
        table = workload if isinstance(workload, Mapping) else read_toml(workload)
        return dict(table.get("run", {}))
    except (OSError, TypeError, ValueError):
        return {}


def folder_of(workload: Workload, output: Path | None, changes: Mapping[str, Any]) -> Path:
    """The run folder, as the program chooses it."""
    if output is not None:
        return output
    if not isinstance(workload, Mapping) and pathlib.Path(workload).is_dir():
        return workload
    run = run_table(workload)
    run.update((key[len("run."):], value) for key, value in changes.items() if key.startswith("run."))
    name = run.get("name") or (None if isinstance(workload, Mapping) else pathlib.Path(workload).stem)
    if "output" not in run and name is None:
        raise HydraError('a dict has no file name to call the run by: give output, or a name in its table "run"')
    return pathlib.Path(run.get("output") or pathlib.Path("runs", str(name)))


def file_in_place(workload: Workload, folder: pathlib.Path) -> str:
    """The path of the workload; of a dict that of a file beside the run folder: the program's hints name it later."""
    if not isinstance(workload, Mapping):
        return os.path.abspath(workload) if os.path.isdir(workload) else os.fspath(workload)
    file = folder.with_name(f"{folder.name}.toml")
    if file.exists() and not file.read_text(encoding="utf-8").startswith(FIRST_LINE):
        raise HydraError(f"{file} would be overwritten by the dict; choose another output, or train that file")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(FIRST_LINE + to_toml(workload), encoding="utf-8")
    return str(file)


def working_directory(folder: pathlib.Path) -> str | None:
    """In which a run began: there its relative paths start."""
    try:
        return str(json.loads((folder / "data.json").read_text(encoding="utf-8"))["working_directory"])
    except (OSError, KeyError, ValueError):
        return None


def open_run(folder: Path) -> Run:
    """The run of a folder, whoever started it, under way or not. Raises HydraError where there is none."""
    if not pathlib.Path(folder, "workload.toml").is_file():
        raise HydraError(f"{os.fspath(folder)}: this is not a run folder: it holds no workload.toml")
    return Run(folder)


def require_arguments(arguments: object) -> None:
    fits = isinstance(arguments, (list, tuple)) and all(isinstance(word, str) for word in arguments)
    require(fits, 'arguments: a list of texts, such as ["--policy=stay-pace"],', arguments)


def train(workload: Workload, output: Path | None = None, *, set: Mapping[str, Any] | None = None,
          resume: bool = False, wait: bool = True, show: bool = False, arguments: Sequence[str] = ()) -> Run:
    """Trains the models of a workload, as `hydra train` does.

    `workload`: a dict of its tables, {"run": {...}, "device": [...], "data": {...}, "model": [...]}; the path of a TOML
    file; with `resume` also a run folder, whose paths start where the run began.
    `output`: the run folder, which must not exist unless resumed; default: `output` of [run], else runs/NAME.
    `set`: keys to replace, {"run.seed": 3, "model.steps": 5}.
    `wait`: returns when the run has ended, and raises what `Run.wait` raises; else as soon as it takes commands: models
    are planned by then. Ctrl-C interrupts it, as `Run.wait` says. A run that is under way when Python ends saves its
    state and ends, too.
    `show`: the program's output appears line by line.
    `arguments`: more words of the command line, ["--policy=stay-pace"].

    Of a dict the file OUTPUT.toml is written beside the run folder; errors name its lines.
    Raises HydraError with the program's text: bad input (status 2), too little memory (3), failed models (1).
    """
    run = start(workload, output, set=set, resume=resume, show=show, arguments=arguments)
    if wait:
        run.wait()
    return run


def start(workload: Workload, output: Path | None = None, *, set: Mapping[str, Any] | None = None,
          resume: bool = False, show: bool = False, arguments: Sequence[str] = (),
          ends_with_python: bool = False) -> Run:
    """`train` without waiting. `ends_with_python`: if Python is killed, the run is saved and ends; else it goes on."""
    require_workload(workload)
    require_arguments(arguments)
    changes = set_options(set)
    continued = not isinstance(workload, Mapping) and pathlib.Path(workload).is_dir()
    folder = pathlib.Path(os.path.abspath(folder_of(workload, output, set or {})))
    if folder.is_dir() and is_under_way(folder):
        raise HydraError(f"{folder}: a run is under way in it: wait for its end, or choose another output")
    words = ["train", file_in_place(workload, folder), *changes, *arguments]
    words += [] if continued and output is None else [f"--output={folder}"]
    words += ["--resume"] * resume + ["--quiet"] * (not show)
    process = Process(words, working_directory(folder) if continued else None, show, ends_with_python)
    run = Run(folder, process)
    try:
        run._wait_for_start(process)
    except KeyboardInterrupt:
        run._interrupt()
        raise
    return run
