"""The models of a run as they stand, put together from the run's answer or report and its files."""
from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterable
from typing import Any

from .toml import read_toml


@dataclasses.dataclass
class Model:
    """A model of a run as it stood when it was asked for.

    `status`: waiting, training, pausing, paused, finished, stopped, failed, interrupted; "unfinished" where neither the
    run answers nor a report of it says: it starts, ends, or was killed.
    """

    name: str
    status: str = "unfinished"
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)  # its table of workload.toml or added.toml
    steps: int = 0  # that are complete
    of: int | None = None  # all steps; None before the first
    loss: float | None = None  # of the last step
    validation: float | None = None  # loss of the last evaluation
    best_step: int | None = None  # of the evaluation with the smallest loss
    best_validation: float | None = None  # its loss
    note: str = ""  # what it waits for, why it failed

    def take(self, record: dict[str, Any]) -> None:
        """A record of metrics.jsonl."""
        if "validation" not in record:
            self.steps, self.of, self.loss = record["step"], record["steps"], record["loss"]
            return
        self.validation = record["validation"]
        if self.validation is not None and (self.best_validation is None or self.validation < self.best_validation):
            self.best_step, self.best_validation = record["step"], self.validation


def failures_of(models: Iterable[Model]) -> str:
    """Why models have failed, a line for each."""
    return "\n".join(f"{m.name}: {m.note}" for m in models if m.status.startswith("failed"))


def read_report(folder: pathlib.Path) -> dict[str, Any] | None:
    """report.json, if there is one."""
    try:
        report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        return report
    except FileNotFoundError:
        return None


def settings_of(folder: pathlib.Path) -> Iterable[dict[str, Any]]:
    for name in ("workload.toml", "added.toml"):
        if (folder / name).exists():
            yield from read_toml(folder / name).get("model", [])


def models_of(folder: pathlib.Path, records: Iterable[dict[str, Any]], now: list[dict[str, Any]]) -> dict[str, Model]:
    """`now`: models of the run's answer to `status`, or of its report."""
    models = {table["name"]: Model(table["name"], settings=table) for table in settings_of(folder)}
    for record in records:
        models.setdefault(record["model"], Model(record["model"])).take(record)
    for answer in now:
        model = models.setdefault(answer["name"], Model(answer["name"]))
        if "state" in answer:
            model.status, model.note = answer["state"], answer.get("note", "")
            model.steps, model.of = answer["steps"], answer["of"]
            model.loss, model.validation = answer["loss"], answer["validation"]
        elif answer["steps"] >= model.steps:  # else it is the report of an earlier part of the run
            model.status, model.note = answer["status"], answer.get("fault", {}).get("text", "")
            model.steps = answer["steps"]
    return models
