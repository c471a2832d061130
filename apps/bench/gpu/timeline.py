#!/usr/bin/env python3
"""Evaluates the timeline of a run: the share of copies hidden behind computation, the time of steps. Standard library only.

    timeline.py RUN [--device cuda:0] [--warm 1]        prints JSON; RUN: a run folder, or its trace.json

A copy is hidden while the same device computes: the share is (time of copies during computation) / (time of copies), for each
direction and for both. The first --warm steps are left out, and what follows the last computation (which
nothing could hide) is reported separately. Times are seconds.
"""
import argparse
import bisect
import collections
import json
import pathlib
import re

QUEUES = ("compute", "h2d", "d2h")
STEP = re.compile(r"^update of (.*) \d+ step (\d+)$")
LAST_UNIT = re.compile(r" step (\d+) backward 0$")

Span = collections.namedtuple("Span", "name process thread begin end detail")


def read_spans(file):
    """Spans of a Chrome trace, times in seconds. The names of tracks precede their spans."""
    names, spans = {}, []
    for event in json.loads(pathlib.Path(file).read_text())["traceEvents"]:
        track = (event["pid"], event["tid"])
        if event["ph"] == "M":
            names[(event["name"],) + track] = event["args"]["name"]
        elif event["ph"] == "X":
            begin = event["ts"] / 1e6
            spans.append(Span(event["name"], names[("process_name",) + track], names[("thread_name",) + track], begin,
                              begin + event["dur"] / 1e6, event.get("args", {}).get("detail", "")))
    return spans


def union(intervals):
    """Sorted, disjoint intervals that cover the same times."""
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def overlap(interval, cover):
    """The length of the part of an interval that a union covers."""
    begin, end = interval
    i = max(bisect.bisect_right(cover, begin, key=lambda c: c[0]) - 1, 0)
    total = 0.0
    while i < len(cover) and cover[i][0] < end:
        total += max(0.0, min(end, cover[i][1]) - max(begin, cover[i][0]))
        i += 1
    return total


def clipped(intervals, window):
    cut = [(max(begin, window[0]), min(end, window[1])) for begin, end in intervals]
    return [(begin, end) for begin, end in cut if end > begin]


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def step_ends(spans):
    """When each step of each model was complete: {model: [time of step 0, ...]}, by the last update, else by the last unit."""
    ends = collections.defaultdict(dict)
    for s in spans:
        found = STEP.match(s.detail) if s.name == "step_shard" else None
        if found:
            step = int(found[2])
            ends[found[1]][step] = max(ends[found[1]].get(step, 0.0), s.end)
    if not ends:
        for s in spans:
            found = LAST_UNIT.search(s.detail) if s.name == "shard_completed" else None
            if found:
                ends[s.thread][int(found[1])] = s.end
    return {model: [at[step] for step in sorted(at)] for model, at in ends.items()}


def devices(spans):
    return sorted({s.process for s in spans if s.thread in QUEUES})


def intervals_of(spans, device):
    """By queue. Steps of the optimizer that a device takes itself are computation."""
    of = {queue: [] for queue in QUEUES}
    for s in spans:
        if s.process == device and s.thread in of:
            of[s.thread].append((s.begin, s.end))
    return of


def share(part, whole):
    return part / whole if whole > 0 else None


def evaluate(spans, device, warm=1):
    """The document that is printed."""
    of = intervals_of(spans, device)
    busy = union(of["compute"])
    if not busy:
        raise SystemExit(f"{device} computed nothing; devices of this trace: {', '.join(devices(spans)) or 'none'}")
    ends = step_ends(spans)
    begun = [at[warm - 1] for at in ends.values() if 0 < warm < len(at)]
    window = (max(begun) if begun else busy[0][0], busy[-1][1])
    computed = length(clipped(busy, window))
    report = {"device": device, "window_s": window[1] - window[0], "busy_s": computed,
              "busy_share": share(computed, window[1] - window[0])}
    copies = {queue: clipped(of[queue], window) for queue in ("h2d", "d2h")}
    for queue, intervals in copies.items():
        hidden = sum(overlap(c, busy) for c in intervals)
        report[queue] = {"copies": len(intervals), "time_s": length(intervals), "hidden_s": hidden, "all_time_s": length(of[queue]),
                         "hidden_share": share(hidden, length(intervals))}
    report["hidden_share"] = share(sum(report[q]["hidden_s"] for q in copies), sum(report[q]["time_s"] for q in copies))
    last = max(end for intervals in of.values() for _, end in intervals)
    report["after_last_computation_s"] = max(0.0, last - window[1])
    report["step_s"] = {model: [b - a for a, b in zip(at[max(warm, 1) - 1:], at[max(warm, 1):])] for model, at in ends.items()}
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--device", help="default: each device of the trace")
    parser.add_argument("--warm", type=int, default=1, help="steps to leave out")
    a = parser.parse_args()
    spans = read_spans(a.run / "trace.json" if a.run.is_dir() else a.run)
    print(json.dumps([evaluate(spans, d, a.warm) for d in ([a.device] if a.device else devices(spans))], indent=1))


if __name__ == "__main__":
    main()
