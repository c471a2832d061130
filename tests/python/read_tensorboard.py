#!/usr/bin/env python3
"""metrics.jsonl and TensorBoard's files of a run that is killed and resumed, read back.

    read_tensorboard.py HYDRA [SECONDS]

Trains two models for about SECONDS (10), kills the program with SIGKILL in the middle, and resumes it. While it runs
metrics.jsonl must grow; after the kill it must have whole lines, but for the last; at the end each step must be in it once,
and the package tensorboard must read the same values from the event files. Exits with 77 where that is not installed.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

WORKLOAD = """[run]
seed = 7
name = "run"
tensorboard = true
checkpoint = {{ every_steps = 10 }}
[[device]]
kind = "cpu"
memory = "64MiB"
[data.text]
kind = "synthetic-language"
[[model]]
name = "lr{{learning_rate}}"
chain = {{ family = "gpt2", layers = 2, width = 64, heads = 4, context = 32 }}
data = "text"
batch_size = 8
steps = {steps}
schedule = {{ kind = "cosine", warmup = 5 }}
optimizer = {{ clip_norm = 1.0 }}
validate = {{ every_steps = {every}, batches = 2 }}
grid = {{ learning_rate = [1e-3, 3e-3] }}
"""
NAMES = {"loss": "train/loss", "grad_norm": "train/grad_norm", "learning_rate": "train/learning_rate",
         "tokens_per_s": "train/tokens_per_s", "validation": "validation/loss", "accuracy": "validation/accuracy"}


def require(holds, text):
    if not holds:
        sys.exit(f"FAILED: {text}")


def lines_of(file):
    """The lines, without a last one that a kill has cut."""
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def start(hydra, folder, *options):
    return subprocess.Popen([hydra, "train", "w.toml", "--quiet", *options], cwd=folder, stdout=subprocess.DEVNULL)


def write_workload(folder, steps):
    (folder / "w.toml").write_text(WORKLOAD.format(steps=steps, every=max(1, steps // 10)))


def steps_for(hydra, seconds):
    """How many steps take about so long."""
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        write_workload(folder, 40)
        begin = time.monotonic()
        require(start(hydra, folder).wait() == 0, "the run fails")
        return max(60, int(40 * seconds / (time.monotonic() - begin)))


def sizes_until(process, file, count):
    """Sizes of the file each half second, until it has so many lines or the process ends."""
    sizes = []
    while process.poll() is None and len(lines_of(file)) < count:
        time.sleep(0.5)
        sizes.append(file.stat().st_size if file.exists() else 0)
    return sizes


def check_lines(lines, steps):
    """Each step of each model once, in order."""
    for model in {line["model"] for line in lines}:
        own = [line for line in lines if line["model"] == model]
        done = [line["step"] for line in own if "loss" in line]
        require(done == list(range(1, steps + 1)), f"{model}: the steps are {done[:3]} ... {done[-3:]}, {len(done)} of {steps}")
        evaluated = [line["step"] for line in own if "validation" in line]
        require(len(evaluated) == len(set(evaluated)) >= 10, f"{model}: evaluated after {evaluated}")


def check_curves(folder, lines):
    curves = 0
    for model in {line["model"] for line in lines}:
        events = EventAccumulator(str(folder / "tensorboard" / model), size_guidance={"scalars": 0})
        events.Reload()
        for key, tag in NAMES.items():
            expected = [(line["step"], line[key]) for line in lines if line["model"] == model and line.get(key) is not None]
            found = [(e.step, e.value) for e in events.Scalars(tag)]
            require([s for s, _ in found] == [s for s, _ in expected], f"{model}: {tag} has other steps than metrics.jsonl")
            near = all(math.isclose(a, b, rel_tol=1e-6) for (_, a), (_, b) in zip(found, expected))
            require(near, f"{model}: {tag} has other values than metrics.jsonl")
            curves += 1
    require(curves == 12, f"there are {curves} curves")


def main():
    hydra = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    steps = steps_for(hydra, seconds)
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        write_workload(folder, steps)
        file = folder / "runs/run/metrics.jsonl"
        process = start(hydra, folder)
        sizes = sizes_until(process, file, steps)
        require(process.poll() is None, "the run ends before half of its lines are written")
        process.kill()
        process.wait()
        require(len(set(sizes)) > 2 and sizes == sorted(sizes), f"metrics.jsonl does not grow as it goes: {sizes}")
        killed_at = lines_of(file)
        require(start(hydra, folder, "--resume").wait() == 0, "the resumed run fails")
        lines = lines_of(file)
        check_lines(lines, steps)
        check_curves(folder / "runs/run", lines)
        print(f"{steps} steps, killed after {len(killed_at)} of {len(lines)} lines: each step once, 12 curves in TensorBoard")


if __name__ == "__main__":
    main()
