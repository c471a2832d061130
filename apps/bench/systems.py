#!/usr/bin/env python3
"""Time, utilisation, cost and energy of one workload under the ways of other systems, as in figure 3 of the Hydra paper.

    systems.py HYDRA WORKLOAD [--repeats N] [--price P] [--watts BUSY,IDLE] [--currency C] [--waves N] [--set KEY=VALUE]...

Each way is `hydra train` with other settings of the same file; the repeats of all ways are interleaved, and the final
parameters must be the same, to the bit. Prints the median of each figure, with its range. Prices (of a device, for an
hour) and watts are stated: those of an Amazon p3.2xlarge with one V100, unless they are given.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# What each one does when several models are to be trained. All of them spill: without that these models do not fit.
WAYS = {
    "whole models": ["run.policy=whole-model"],  # each device trains one model after the other
    "model parallel": ["run.policy=naive-pipeline", "ablation.sharp=false", "ablation.double_buffer=false"],
    "GPipe": ["run.policy=gpipe", "model.parallel={{waves={waves}}}", "ablation.sharp=false"],
    "Hydra": [],
}


def train(o, way, folder):
    settings = [f"device.price={o.price}", f"device.watts={{busy={o.busy},idle={o.idle}}}", f"run.currency={o.currency}",
                "run.checkpoint.keep=0", *[s.format(waves=o.waves) for s in WAYS[way]], *o.set]
    command = [o.hydra, "train", o.workload, "--quiet", "--output", folder]
    done = subprocess.run([*command, *[word for s in settings for word in ("--set", s)]], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{way}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(pathlib.Path(folder, "report.json").read_text())


def figures(report):
    makespan = report["makespan_s"]
    busy = sum(d["blame"]["compute_s"] for d in report["devices"])
    return {"makespan s": makespan,
            "utilisation %": 100 * busy / makespan / len(report["devices"]),
            "cost": report["expense"]["cost"],
            "energy kJ": report["expense"]["joules"] / 1000}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hydra")
    parser.add_argument("workload")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--price", type=float, default=3.06)
    parser.add_argument("--watts", default="300,55")
    parser.add_argument("--currency", default="USD")
    parser.add_argument("--waves", type=int, default=2)
    parser.add_argument("--set", action="append", default=[])
    o = parser.parse_args()
    o.busy, o.idle = map(float, o.watts.split(","))
    seen, digests = {way: [] for way in WAYS}, None
    for repeat in range(o.repeats):
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                report = train(o, way, str(pathlib.Path(folder, "run")))
            trained = {m["name"]: m["digest"] for m in report["models"]}
            if digests not in (None, trained):
                sys.exit(f"{way}: other parameters than before")
            digests = trained
            seen[way].append(figures(report))
            print(f"{repeat + 1} {way}: {seen[way][-1]}", file=sys.stderr)
    titles = list(seen["Hydra"][0])
    print("| way | " + " | ".join(titles) + " | / Hydra |\n|---|" + "---|" * (len(titles) + 1))
    for way, runs in seen.items():
        cells = []
        for title in titles:
            values = [run[title] for run in runs]
            digits = 4 if title == "cost" else 1
            cells.append(f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}..{max(values):.{digits}f}]")
        slower = [run["makespan s"] / own["makespan s"] for run, own in zip(runs, seen["Hydra"])]
        print("| " + " | ".join([way, *cells, f"{statistics.median(slower):.2f} [{min(slower):.2f}..{max(slower):.2f}]"]) + " |")
    print(f"{len(digests)} models with the same parameters in all runs, to the bit; price {o.price} {o.currency} an hour and "
          f"{o.watts} W (busy, idle) of each device, as stated")


if __name__ == "__main__":
    main()
