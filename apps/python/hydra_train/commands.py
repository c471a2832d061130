"""Commands that end by themselves. All raise HydraError with the program's text and exit status."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from .program import options, run_program
from .toml import Path, Workload, assignments, require_workload, to_toml
from .wanted import require

@contextlib.contextmanager
def file_of(workload: Workload) -> Iterator[str]:
    """The path of a workload; of a dict that of a file for a while."""
    require_workload(workload)
    if not isinstance(workload, Mapping):
        yield os.fspath(workload)
        return
    with tempfile.TemporaryDirectory(prefix="hydra-") as folder:
        file = pathlib.Path(folder, "workload.toml")
        file.write_text(to_toml(workload), encoding="utf-8")
        yield str(file)


def set_options(changes: Mapping[str, Any] | None) -> list[str]:
    return [f"--set={change}" for change in assignments(changes)]


def plan(workload: Workload, *, set: Mapping[str, Any] | None = None, rehearse: int | None = None) -> dict[str, Any]:
    """Measures and cuts all models, and predicts what the run would take; trains nothing but `rehearse` steps of each.

    What `hydra plan --json` prints: names of members end with their units (`_s`, `_bytes`).
    """
    with file_of(workload) as file:
        words = [*set_options(set), *options(rehearse=rehearse)]
        found: dict[str, Any] = json.loads(run_program("plan", file, "--json", *words))
    return found


def evaluate(source: Workload, *models: str, best: bool = False,
             set: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Evaluates models (without names all) on their validation data: of a run folder their newest checkpoints, with
    `best` those of their best evaluations; of a workload the models before training.

    A dict for each: `name`, `weights` (name of the checkpoint), `status`, `loss` and its kin, such as `accuracy`.
    """
    with file_of(source) as file:
        words = [*set_options(set), *options(best=best)]
        found: list[dict[str, Any]] = json.loads(run_program("evaluate", file, *models, "--json", *words))
    return found


def export(run: Path, model: str, folder: Path, *, best: bool = False,
           merge: bool = False, step: int | None = None) -> pathlib.Path:
    """Writes a model of a run as a Hugging Face checkpoint into a folder that must not exist, and returns that.

    `merge`: of an adapter the whole model; `step`: the state after so many steps, although the run has continued since.
    """
    run_program("export", os.fspath(run), model, os.fspath(folder), *options(best=best, merge=merge, step=step))
    return pathlib.Path(folder)


def generate(source: Path, prompt: str | None = None, *, chat: str | None = None, system: str | None = None,
             ids: bool = False, **more: Any) -> str:
    """The text with which a model of a run, or a Hugging Face checkpoint, continues the prompt, or answers `chat`.

    `chat`: in place of a prompt, a user's message; only the answer is returned. `system`: the system's message before.
    `ids`: the prompt is token ids, "1 2 3", and ids are returned.
    `more`: options of `hydra generate` (docs/commands.md), with _ for -: model, best, tokenizer, tokens (to write at
    most; 100), samples, temperature (1; 0: always the likeliest token), top_k, top_p, seed (0), memory ("24MiB").
    """
    if (prompt is None) == (chat is None):
        raise TypeError('one of prompt and chat is wanted, generate("Once upon") or generate(chat="Hello")')
    texts = {"prompt": prompt, "chat": chat, "system": system}
    for name, text in texts.items():
        require(text is None or isinstance(text, str), f"{name}: a text", text)
    if ids:
        texts["prompt_ids"] = texts.pop("prompt")
    return run_program("generate", os.fspath(source), *options(**texts, **more)).removesuffix("\n")
