#!/usr/bin/env python3
"""Optuna chooses the models of a run that is under way: ask, train, report, prune, tell.

    hydra train apps/examples/optuna.toml --quiet &
    apps/examples/optuna_bridge.py runs/optuna [--trials 16] [--at-once 4]

Needs the package optuna. What it does with the run is docs/control.md: `add` for a trial that Optuna asks for, `stop` for one that
it prunes; results are the lines of metrics.jsonl. All trials share the run's devices, and what is stopped frees its memory.
"""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import time

import optuna

MODEL = """[[model]]
name = "trial-{number}"
chain = {{ family = "gpt2", layers = 2, width = 64, heads = 4, context = 32 }}
data = "text"
batch_size = {batch_size}
steps = 100
optimizer = {{ learning_rate = {learning_rate} }}
validate = {{ every_steps = 20 }}
"""


def model_of(trial):
    return MODEL.format(number=trial.number, batch_size=trial.suggest_categorical("batch_size", [4, 8, 16]),
                        learning_rate=trial.suggest_float("learning_rate", 1e-4, 1e-1, log=True))


def ask(run, **command):
    folder = os.open(run, os.O_PATH)  # the path of a socket has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"/proc/self/fd/{folder}/control.sock")
            client.sendall(json.dumps(command).encode() + b"\n")
            answer = json.loads(client.makefile().readline())
    finally:
        os.close(folder)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer


def new_lines(metrics):
    """The lines that have been written since the last call, as far as they are whole."""
    while (line := metrics.readline()).endswith("\n"):
        yield json.loads(line)
    metrics.seek(metrics.tell() - len(line))


def report(run, trials, metrics):
    """Passes on evaluations, and stops trials that Optuna prunes."""
    for line in new_lines(metrics):
        trial = trials.get(line["model"])
        if trial and "validation" in line:
            trial.report(line["validation"], line["step"])
            trial.set_user_attr("validation", line["validation"])
            if trial.should_prune():
                with contextlib.suppress(ValueError):  # it has ended, or is being stopped since its last evaluation
                    ask(run, command="stop", model=line["model"])


def tell(study, run, trials):
    """Takes trials out that have ended."""
    for model in ask(run, command="status")["models"]:
        if model["name"] not in trials or model["state"] not in ("finished", "stopped", "failed"):
            continue
        trial = trials.pop(model["name"])
        if model["state"] == "finished":
            study.tell(trial, model["validation"])
        else:
            study.tell(trial, state=optuna.trial.TrialState[{"stopped": "PRUNED", "failed": "FAIL"}[model["state"]]])
        print(f"{model['name']}: {model['state']} after {model['steps']} steps, validation {model['validation']}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("run", type=pathlib.Path)
    options.add_argument("--trials", type=int, default=16)
    options.add_argument("--at-once", type=int, default=4)
    o = options.parse_args()
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=7), pruner=optuna.pruners.MedianPruner(n_startup_trials=4))
    trials, asked = {}, 0
    ask(o.run, command="pause", model="reference")
    with open(o.run / "metrics.jsonl", encoding="utf-8") as metrics:
        while trials or asked < o.trials:
            while len(trials) < o.at_once and asked < o.trials:
                trial, asked = study.ask(), asked + 1
                ask(o.run, command="add", workload=model_of(trial))
                trials[f"trial-{trial.number}"] = trial
            time.sleep(0.2)
            report(o.run, trials, metrics)
            tell(study, o.run, trials)
    ask(o.run, command="stop", model="reference")
    print(f"best: trial-{study.best_trial.number}, validation {study.best_value:.4f}, {study.best_params}")


if __name__ == "__main__":
    main()
