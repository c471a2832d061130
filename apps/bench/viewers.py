#!/usr/bin/env python3
"""What viewers of a run's page cost it.

    viewers.py HYDRA [--pairs 5] [--viewers 20] [--steps 400]

Trains the same model with `--serve`, in turns without viewers and with so many who read all that they are sent, and one who
stops reading; prints the ratios of the makespans and of the peak memory of the process, with median and spread. Digests must be
equal.
"""

import argparse
import contextlib
import json
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time

WORKLOAD = """[run]
seed = 7
[[device]]
kind = "cpu"
memory = "64MiB"
[data.text]
kind = "synthetic-language"
[[model]]
name = "lr{{learning_rate}}"
chain = {{ family = "gpt2", layers = 4, width = 128, heads = 4, context = 64 }}
data = "text"
batch_size = 8
steps = {steps}
validate = {{ every_steps = 50, batches = 2 }}
[model.grid]
learning_rate = [1e-4, 3e-4, 1e-3, 3e-3]
"""


def view(address, path, reads):
    """A viewer; returns when the run ends its page."""
    with contextlib.suppress(OSError), socket.create_connection(address) as s:
        s.sendall(f"GET /events?{path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode())
        while reads and s.recv(1 << 16):
            pass
        while not reads:
            time.sleep(1)


def train(hydra, folder, name, viewers):
    process = subprocess.Popen([hydra, "train", "w.toml", "--serve", "--quiet", "--output", name], cwd=folder, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    host, port, token = re.search(r"http://([\d.]+):(\d+)/\?(\S+)", process.stderr.readline()).groups()
    for i in range(viewers):
        threading.Thread(target=view, args=((host, int(port)), token, i > 0), daemon=True).start()
    process.communicate()
    report = json.loads((folder / name / "report.json").read_text())
    return report["makespan_s"], report["host"]["process_peak_bytes"], [m["digest"] for m in report["models"]]


def ratios(values):
    return f"{statistics.median(values):.4f} ({min(values):.4f} to {max(values):.4f})"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("hydra")
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--viewers", type=int, default=20)
    options.add_argument("--steps", type=int, default=400)
    o = options.parse_args()
    hydra = str(pathlib.Path(o.hydra).resolve())
    times, peaks = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "w.toml").write_text(WORKLOAD.format(steps=o.steps))
        for i in range(o.pairs):
            first = [(0, "without"), (o.viewers + 1, "with")]
            done = {kind: train(hydra, folder, f"{kind}-{i}", n) for n, kind in (first if i % 2 == 0 else first[::-1])}
            if done["with"][2] != done["without"][2]:
                raise SystemExit("the digests differ")
            times.append(done["with"][0] / done["without"][0])
            peaks.append(done["with"][1] / done["without"][1])
            print(f"makespan {done['without'][0]:.2f} s without, {done['with'][0]:.2f} s with {o.viewers} viewers and one that "
                  f"does not read: {times[-1]:.4f}", flush=True)
    print(f"makespan with / without: {ratios(times)}; peak memory: {ratios(peaks)}")


if __name__ == "__main__":
    main()
