"""Trials whose loss is not a number

Reports: optuna/optuna#6092, #236, keras-team/keras-tuner#817: NaN compares with nothing, and a diverged trial was the
best one, or was never pruned.
Right: trials whose loss is not a number rank last at every rung and do not outlast one with a finite loss; the kept
best states and the winner are finite.
Passes: search.jsonl of successive halving and of ASHA; `hydra evaluate --best` has finite models alone; with `on_nan =
"stop"` the exit status is 1 and each of the three is named with the reason.
"""
import json
import re

from outputs import attempt, says

WORKLOAD = """
[data.d]
kind = "synthetic-classes"
samples = 256
validation_samples = 64

[[model]]
name = "m-{learning_rate}"
chain = { family = "mlp", width = 16 }
data = "d"
batch_size = 16
steps = 16
on_nan = "ignore"
optimizer = { kind = "sgd", learning_rate = 1e-3 }
validate = { every_steps = 4, keep_best = true }

[model.grid]
learning_rate = [1e30, 1e-3, 1e25, 1e-2, 1e36, 1e-1]

[search]
kind = "halving"
first = 4
factor = 2
"""
WILD = ("m-1e30", "m-1e25", "m-1e36")


def steps_of(folder):
    """Of each trial of a search."""
    steps = {}
    with open(f"{folder}/search.jsonl", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            steps[row["trial"]] = max(row["steps"], steps.get(row["trial"], 0))
    return steps


def behind(steps, most):
    """Do the wild ones end by then, and before all others?"""
    if not isinstance(steps, dict):
        return False
    tame = [n for name, n in steps.items() if name not in WILD]
    wild = [steps[name] for name in WILD]
    return max(wild) <= most and max(tame) == 16 and min(tame) >= max(wild)


def case(hydra):
    train, asha = hydra.train(), hydra.train("run2", "search.kind=asha")
    halving, by_arrival = attempt(lambda: steps_of("run")), attempt(lambda: steps_of("run2"))
    yield train.status == 0 and behind(halving, 4), f"halving {halving}", "trials that are not finite end at the first rung"
    yield asha.status == 0 and behind(by_arrival, 8), f"asha {by_arrival}", "none that is not finite outlasts one that is"
    kept = {m["name"]: m["loss"] for m in hydra("evaluate run2 --best --json").json() or []}
    yield (kept and not set(kept) & set(WILD) and all(isinstance(loss, float) and loss < 3 for loss in kept.values()),
           f"best {kept}", "finite ones alone")
    stopped = hydra.train("run3", "model.on_nan=stop")
    named = [any(says(line, re.escape(w), "not finite|nan") for line in stopped.text.splitlines()) for w in WILD]
    yield (stopped.status == 1 and all(named), f"on_nan = stop: exit {stopped.status}, names {sum(named)}",
           "1, and each of the three with the reason")
