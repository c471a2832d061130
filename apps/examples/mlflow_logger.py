#!/usr/bin/env python3
"""Passes the metrics of a run to MLflow, also while it goes: a run there for each model, in an experiment for the run.

    MLFLOW_TRACKING_URI=... mlflow_logger.py runs/quickstart

Needs the packages mlflow (or mlflow-skinny) and hydra_train (docs/python.md).
"""
import sys
import time

import hydra_train
from mlflow import MlflowClient
from mlflow.entities import Metric, Param


def pass_on(run, client):
    found = client.get_experiment_by_name(run.folder.name)
    experiment = found.experiment_id if found else client.create_experiment(run.folder.name)
    logged = {}
    for record in run.metrics():
        name, step, at = record.pop("model"), record.pop("step"), record.pop("time", time.time())
        if name not in logged:
            logged[name] = client.create_run(experiment, run_name=name).info.run_id
            settings = next(model.settings for model in run.models if model.name == name)
            client.log_batch(logged[name], params=[Param(key, str(value)) for key, value in settings.items()])
        values = [Metric(key, value, int(1000 * at), step) for key, value in record.items() if value is not None]
        client.log_batch(logged[name], metrics=values)
    for model in run.models:
        if model.name in logged:
            client.set_terminated(logged[model.name], "FAILED" if model.status.startswith("failed") else "FINISHED")


if __name__ == "__main__":
    pass_on(hydra_train.open(sys.argv[1]), MlflowClient())
