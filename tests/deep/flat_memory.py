#!/usr/bin/env python3
"""Trains two models on a device that holds neither, in units of about a millisecond, and watches how much memory the process
has resident: after the first minute it must not grow any more.

    tests/deep/flat_memory.py build/release/bin/hydra [--minutes 30] [--folder KEPT]

One line each half minute; exit status 1 if the last minute's resident memory is more than 3 % above the first's. Also
printed: units per second, which depend on the machine."""
import argparse, json, os, pathlib, shutil, subprocess, sys, tempfile, time

MOST_GROWTH = 0.03
EVERY_S = 5
ENDING_S = 300         # an interrupted run writes its trace

WORKLOAD = """
[run]
name = "flat-memory"
seed = 3
checkpoint = { keep = 0 }

[host]
memory = "200MiB"

[[device]]
kind = "cpu"
memory = "8MiB"

[data.language]
kind = "synthetic-language"
symbols = 24

[[model]]
name = "gpt-{learning_rate}"
chain = { family = "gpt2", layers = 7, width = 160, heads = 4, context = 4 }
data = "language"
batch_size = 1
steps = 10000000
cuts = [0, 2, 3, 4, 5, 6, 7, 8]

[model.grid]
learning_rate = [1e-5, 3e-5]
"""


def resident(pid):
    """Resident MiB: all, and the part that is not of files."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmRSS", "RssAnon"))}
    return found["VmRSS"], found["RssAnon"]


def watch(run, seconds):
    """(time, MiB) until the time has passed."""
    begin, seen, next_line = time.monotonic(), [], 0.0
    while (now := time.monotonic() - begin) < seconds:
        time.sleep(EVERY_S)
        if run.poll() is not None:
            sys.exit(f"the run ended after {now:.0f} s with status {run.returncode}")
        whole, anonymous = resident(run.pid)
        seen.append((now + EVERY_S, whole))
        if now + EVERY_S >= next_line:
            print(f"{now + EVERY_S:6.0f} s  resident {whole:.1f} MiB, of which {anonymous:.1f} MiB are not of files", flush=True)
            next_line += 30
    return seen


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("hydra")
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--folder")
    o = options.parse_args()
    folder = pathlib.Path(o.folder or tempfile.mkdtemp(prefix="flat-memory-"))
    folder.mkdir(exist_ok=True)
    (folder / "w.toml").write_text(WORKLOAD)
    command = [os.path.abspath(o.hydra), "train", "w.toml", "--quiet", "--output", "run"]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        seen = watch(run, o.minutes * 60)
        run.terminate()  # like an interrupt: the run writes its report
        table = run.communicate(timeout=ENDING_S)[0]
    finally:
        run.kill()
    report = json.loads((folder / "run" / "report.json").read_text())
    print(table)
    print(f"{report['scheduling']['decisions'] / report['makespan_s']:.0f} units per second")
    first = mean(mib for at, mib in seen if 60 <= at < 120)
    last = mean(mib for at, mib in seen if at >= seen[-1][0] - 60)
    print(f"resident in the second minute {first:.1f} MiB, in the last one {last:.1f} MiB ({last / first - 1:+.1%})")
    if not o.folder:
        shutil.rmtree(folder)
    return last > first * (1 + MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
