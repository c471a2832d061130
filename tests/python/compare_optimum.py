#!/usr/bin/env python3
"""The optimum that `hydra simulate --policies exact` finds, against a mixed-integer program solved by HiGHS.

    compare_optimum.py HYDRA [CASE ...]

Small instances whose copies take no time: a unit of a model follows the unit before it, a device computes one at a time.
Exits with 77 where the package highspy is not installed.
"""

import json
import os
import random
import subprocess
import sys

try:
    import highspy
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

from checks import in_a_folder, program_and_cases, require, run_checks

INSTANCES = 12
UNITS = 10


def some_model(chance, name):
    forward = [chance.randint(2, 9) * 1000 for _ in range(chance.randint(1, 3))]
    none = [0] * len(forward)
    return {"name": name, "steps": chance.randint(1, 3), "activation": 0, "remaining_scale": 1.0, "forward": forward,
            "backward": [chance.randint(2, 3) * f for f in forward], "h2d": none, "d2h_gradient": none, "optimizer": none}


def units_of(model):
    """Durations of its units, in their order."""
    forward, backward = model["forward"], model["backward"]
    step = forward[:-1] + [forward[-1] + backward[-1]] + backward[-2::-1]
    return step * model["steps"]


def some_instance(seed):
    chance = random.Random(seed)
    while True:
        models = [some_model(chance, f"m{i}") for i in range(chance.randint(2, 4))]
        if sum(len(units_of(m)) for m in models) <= UNITS:
            break
    return {"format": "schedule-instance/1", "name": f"random {seed}", "note": "", "time_unit": "us", "slots": 2,
            "devices": [{"speed": 1.0}] * chance.randint(1, 3), "link": {"private": True, "full_duplex": True},
            "prefetch": False, "copy_back_clean": False, "host_workers": 1, "models": models}


def least_by_highs(instance):
    """Start times and devices of all units; of two units on one device one comes first. Microseconds."""
    lengths = [(i, length) for i, m in enumerate(instance["models"]) for length in units_of(m)]
    devices, horizon = range(len(instance["devices"])), sum(length for _, length in lengths)
    solver = highspy.Highs()
    solver.silent()
    end = solver.addVariable(lb=0, ub=horizon, obj=1)
    start = [solver.addVariable(lb=0, ub=horizon) for _ in lengths]
    on = [[solver.addBinary() for _ in devices] for _ in lengths]
    for u, (model, length) in enumerate(lengths):
        solver.addConstr(sum(on[u]) == 1)
        solver.addConstr(start[u] + length <= end)
        if u > 0 and lengths[u - 1][0] == model:
            solver.addConstr(start[u] >= start[u - 1] + lengths[u - 1][1])
        for v in range(u + 1, len(lengths)):
            if lengths[v][0] == model:
                continue
            first = solver.addBinary()
            for d in devices:
                both = 2 - on[u][d] - on[v][d]
                solver.addConstr(start[v] >= start[u] + length - horizon * (both + 1 - first))
                solver.addConstr(start[u] >= start[v] + lengths[v][1] - horizon * (both + first))
    solver.run()
    require(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, f"HiGHS: {solver.getModelStatus()}")
    return round(solver.getInfo().objective_function_value)


def check(hydra, seed, folder):
    instance = some_instance(seed)
    file = folder / "i.json"
    file.write_text(json.dumps(instance))
    command = [hydra, "simulate", file, "--driver", "loop", "--policies", "exact", "--json"]
    answer = subprocess.run(command, text=True, capture_output=True, timeout=300, check=False)
    require(answer.returncode == 0, answer.stderr)
    row = json.loads(answer.stdout)["rows"][0]
    require(row["proven"], "not proven")
    least = least_by_highs(instance)
    require(row["makespan_us"] == least, f"{row['makespan_us']} us, HiGHS finds {least}: {json.dumps(instance)}")
    return f"{least} us"


def main():
    hydra, cases = program_and_cases(__doc__, "HYDRA")
    first = int(os.environ.get("HYDRA_TEST_SEED") or 1)
    seeds = [int(c) for c in cases] or range(first, first + INSTANCES)
    return run_checks({f"seed {s}": in_a_folder(check, hydra, s) for s in seeds})


if __name__ == "__main__":
    sys.exit(main())
