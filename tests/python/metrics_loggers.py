#!/usr/bin/env python3
"""The examples that pass the metrics of a run on, against what they use of wandb and mlflow: no account, no server, no package.

    metrics_loggers.py HYDRA
"""

import importlib
import pathlib
import sys
import tempfile
import types

from checks import require
from hydra_module import ROOT, WORKLOAD, hydra_train

sys.path.insert(0, str(ROOT / "apps" / "examples"))


class FakeWandb(types.ModuleType):
    """What wandb_logger.py uses of wandb: runs with their records."""

    def __init__(self):
        super().__init__("wandb")
        self.runs = {}

    def init(self, **options):
        require(options["reinit"] == "create_new", "a run of W&B does not end the one before")
        self.runs[options["name"]] = logged = types.SimpleNamespace(options=options, records=[], ends=[])
        logged.define_metric = lambda name, step_metric: require((name, step_metric) == ("*", "step"), "the axis is the step")
        logged.log, logged.finish = logged.records.append, lambda exit_code: logged.ends.append(exit_code)
        return logged


class FakeMlflow:
    """What mlflow_logger.py uses of MlflowClient."""

    def __init__(self):
        self.metrics, self.params, self.ends = {}, {}, {}

    def get_experiment_by_name(self, name):
        require(name == "first", f"the experiment {name}")

    def create_experiment(self, name):
        return f"id of {name}"

    def create_run(self, experiment, run_name):
        require(experiment == "id of first", f"a run of {experiment}")
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id=run_name))

    def log_batch(self, run, metrics=(), params=()):
        self.metrics.setdefault(run, []).extend(metrics)
        self.params.setdefault(run, {}).update(params)

    def set_terminated(self, run, status):
        self.ends[run] = status


def check(run):
    sys.modules["wandb"] = wandb = FakeWandb()
    sys.modules["mlflow"] = types.SimpleNamespace(MlflowClient=FakeMlflow)
    sys.modules["mlflow.entities"] = types.SimpleNamespace(Metric=lambda *m: m, Param=lambda *p: p)
    client = FakeMlflow()
    importlib.import_module("wandb_logger").pass_on(run, "project")
    importlib.import_module("mlflow_logger").pass_on(run, client)
    for model in run.models:
        own = [r for r in run.metrics() if r["model"] == model.name]
        logged = wandb.runs[model.name]
        require([{"model": model.name, **r} for r in logged.records] == own, f"W&B has {logged.records[:2]}")
        require(logged.options["config"] == model.settings and logged.ends == [0], f"W&B's run: {logged.options}")
        losses = [m[1:] for m in client.metrics[model.name] if m[0] == "loss"]
        known = [(r["loss"], int(1000 * r["time"]), r["step"]) for r in own if "loss" in r]
        require(losses == known, f"MLflow has {losses[:2]}")
        require(client.params[model.name]["data"] == "text" and client.ends[model.name] == "FINISHED", f"{client.params}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = hydra_train.train(WORKLOAD, pathlib.Path(folder, "first"))
        check(run)
    print("each record of a run is at Weights & Biases and at MLflow")


if __name__ == "__main__":
    main()
