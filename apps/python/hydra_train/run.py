"""One run: what it has measured, its models, and the commands that it takes."""
from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import commands
from .control import ask, is_under_way, takes_commands, wait_for_lock
from .errors import HydraError, Interrupted, error_of
from .metrics import records
from .models import Model, failures_of, models_of, read_report
from .process import Process
from .toml import Path, Workload, assignments, to_toml

INTERVAL = 1.0  # seconds: metrics.jsonl is read so often while it grows
START_INTERVAL = 0.05  # seconds: so often a run that starts is tried


class Run:
    """A run folder: of a run that `train` has started, or, by `open`, of any that is under way or has ended.

    Commands raise HydraError (status 2) where the run refuses them or is not under way; the models go on as before.
    As a context manager it waits for the run; on an exception, such as that of Ctrl-C, it lets the run save its state
    and end.
    """

    def __init__(self, folder: Path, process: Process | None = None):
        self.folder = pathlib.Path(os.path.abspath(folder))
        self._process = process
        self._has_quit = False

    def __repr__(self) -> str:
        return f"hydra_train.open({str(self.folder)!r})"

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.wait()
        elif not self.over:
            self.quit()

    # -- what it has measured ------------------------------------------------------------------------------------------

    def metrics(self, follow: bool = True) -> Iterator[dict[str, Any]]:
        """The records of metrics.jsonl from the first (keys: docs/running.md), each step and evaluation once.

        Follows a run that is under way to its end, by a look at the file each second (INTERVAL); with `follow=False`
        ends with what is there. That a run fails is raised by `wait`. Ctrl-C while it waits is that of `wait`.
        """
        try:
            yield from records(self.folder / "metrics.jsonl", lambda: not follow or self.over, self._pause)
        except KeyboardInterrupt:
            self._interrupt()
            raise

    def metrics_frame(self) -> Any:
        """What `metrics(follow=False)` yields, as a pandas.DataFrame with a column for each key.

        Raises ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("metrics_frame() needs pandas: pip install pandas; metrics() works without") from missing
        return pandas.DataFrame(list(self.metrics(follow=False)))

    @property
    def models(self) -> list[Model]:
        """The models as they stand now, in the order of the workload, then of joining."""
        return list(models_of(self.folder, self.metrics(follow=False), self._models_now()).values())

    def _models_now(self) -> list[dict[str, Any]]:
        if takes_commands(self.folder):
            try:
                return list(ask(self.folder, "status")["models"])
            except HydraError:
                pass  # it has just ended
        report = None if is_under_way(self.folder) else read_report(self.folder)
        return report["models"] if report else []

    # -- its end -------------------------------------------------------------------------------------------------------

    def wait(self) -> None:
        """Returns when the run has ended and every model with it.

        Raises HydraError where some model failed, with the reasons, or the run was refused or killed; Interrupted where
        it was interrupted other than by `quit`. Ctrl-C interrupts a run that this process started, as in a terminal:
        its state is saved, then KeyboardInterrupt goes on; a second one ends it at once. A run of another process goes
        on.
        """
        try:
            self._wait_for_end()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        try:
            self._raise_outcome()
        except Interrupted:
            if not self._has_quit:
                raise

    def quit(self) -> None:
        """Saves all models, ends the run, and returns when it has ended. `train(folder, resume=True)` continues it."""
        self._has_quit = True
        if self._process:
            self._interrupt()
        else:
            ask(self.folder, "quit")
            wait_for_lock(self.folder)

    @property
    def over(self) -> bool:
        """No run is under way in the folder, or it has ended."""
        return self._process.ended.is_set() if self._process else not is_under_way(self.folder)

    def _pause(self) -> None:
        if self._process:
            self._process.ended.wait(INTERVAL)
        else:
            time.sleep(INTERVAL)

    def _wait_for_end(self) -> None:
        if self._process:
            self._process.ended.wait()
        else:
            wait_for_lock(self.folder)

    def _interrupt(self) -> None:
        """Lets a run of this process save its state; at once with a second Ctrl-C."""
        if not self._process:
            return
        self._process.interrupt()
        try:
            self._process.ended.wait()
        except KeyboardInterrupt:
            self._process.interrupt()
            self._process.ended.wait()

    def _wait_for_start(self, process: Process) -> None:
        """Until it takes commands, or has ended."""
        while not takes_commands(self.folder):
            if process.ended.wait(START_INTERVAL):
                self._raise_status(process)
                return

    def _raise_outcome(self) -> None:
        if self._process:
            self._raise_status(self._process)
        else:
            self._raise_report()

    def _raise_status(self, process: Process) -> None:
        if process.status != 0:
            why = [process.message, failures_of(self.models) if process.status == 1 else ""]
            raise error_of(process.status, "\n".join(filter(None, why)))

    def _raise_report(self) -> None:
        """As the program's exit status would say it."""
        models = self.models
        states = {m.status for m in models}
        if "unfinished" in states:
            text = f"{self.folder}: the run has ended without a report (killed?); resume=True continues it"
            raise HydraError(text, None)
        if failures := failures_of(models):
            raise HydraError(failures, 1)
        if states & {"interrupted", "paused"}:
            raise Interrupted(f"{self.folder}: the run was interrupted; resume=True continues it", 130)

    # -- commands to a run that is under way (docs/control.md) ---------------------------------------------------------

    def stop(self, model: str) -> None:
        """Ends a model with the step that has begun; its memory is free then, its best and last state saved."""
        ask(self.folder, "stop", model=model)

    def pause(self, model: str) -> None:
        """Saves a model and frees its memory, until it is resumed."""
        ask(self.folder, "pause", model=model)

    def resume(self, model: str) -> None:
        """Continues a paused model, with the same bits."""
        ask(self.folder, "resume", model=model)

    def clone(self, model: str, changes: Mapping[str, Any] | None = None) -> str:
        """Starts a model from the state of another, with changed keys: {"optimizer.learning_rate": 1e-4}.

        Returns its name."""
        return str(ask(self.folder, "clone", model=model, changes=assignments(changes))["model"])

    def add(self, models: Workload | Sequence[Mapping[str, Any]]) -> list[str]:
        """Adds models that train on the data and devices of the run: a [[model]] table as a dict, a list of them, or
        the path of a file with such tables. Returns their names, those of all members of a grid."""
        if isinstance(models, (str, os.PathLike)):
            text = pathlib.Path(models).read_text(encoding="utf-8")
        else:
            text = to_toml({"model": [models] if isinstance(models, Mapping) else list(models)})
        return list(ask(self.folder, "add", workload=text)["models"])

    # -- commands to its models ----------------------------------------------------------------------------------------

    def evaluate(self, *models: str, **options: Any) -> list[dict[str, Any]]:
        """`hydra_train.evaluate` of this run."""
        return commands.evaluate(self.folder, *models, **options)

    def export(self, model: str, folder: Path, **options: Any) -> pathlib.Path:
        """`hydra_train.export` of this run."""
        return commands.export(self.folder, model, folder, **options)

    def generate(self, prompt: str | None = None, *, chat: str | None = None, **options: Any) -> str:
        """`hydra_train.generate` by a model of this run: `model="gpt-a"`."""
        return commands.generate(self.folder, prompt, chat=chat, **options)
