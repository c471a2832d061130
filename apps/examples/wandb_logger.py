#!/usr/bin/env python3
"""Passes the metrics of a run to Weights & Biases, also while it goes: a run there for each model, in one group.

    wandb_logger.py runs/quickstart PROJECT

Needs the packages wandb and hydra_train (docs/python.md).
"""
import sys

import hydra_train
import wandb


def pass_on(run, project):
    logged = {}
    for record in run.metrics():
        name = record.pop("model")
        if name not in logged:
            settings = next(model.settings for model in run.models if model.name == name)
            logged[name] = wandb.init(project=project, group=run.folder.name, name=name, config=settings,
                                      reinit="create_new")
            logged[name].define_metric("*", step_metric="step")
        logged[name].log(record)
    for model in run.models:
        if model.name in logged:
            logged[model.name].finish(exit_code=int(model.status.startswith("failed")))


if __name__ == "__main__":
    pass_on(hydra_train.open(sys.argv[1]), sys.argv[2])
