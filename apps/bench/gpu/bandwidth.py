#!/usr/bin/env python3
"""Rates of copies between pinned host memory and the GPU, by PyTorch: each way alone, then both at once.

    bandwidth.py [--device cuda] [--sizes MIB,...] [--repeats N]

Prints a line of JSON: GiB/s of each repeat. "both" is the sum of the two directions while both are copying. With --device cpu
it copies within host memory, only to try this script.
"""
import argparse
import json
import sys
import time

import torch

GIB = 2**30


class Lane:
    """One direction: a source, a target, a stream of its own; enough copies in a row for a measurement."""

    def __init__(self, to_device, size, a):
        pinned = torch.empty(size, dtype=torch.uint8, pin_memory=a.device == "cuda").random_(256)
        there = torch.empty(size, dtype=torch.uint8, device=a.device).random_(256)
        self.source, self.target = (pinned, there) if to_device else (there, pinned)
        self.count = max(1, min(64, a.bytes // size))
        self.stream = torch.cuda.Stream() if a.device == "cuda" else None

    def copy(self):
        if self.stream is None:
            for _ in range(self.count):
                self.target.copy_(self.source)
            return
        with torch.cuda.stream(self.stream):
            for _ in range(self.count):
                self.target.copy_(self.source, non_blocking=True)

    @property
    def bytes(self):
        return self.count * self.source.numel()


def rate(lanes, device):
    """GiB/s of the lanes together, from the first copy to the end of the last."""
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    for lane in lanes:
        lane.copy()
    if device == "cuda":
        torch.cuda.synchronize()
    return sum(lane.bytes for lane in lanes) / (time.perf_counter() - began) / GIB


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--sizes", default="1,4,16,64,256,1024", help="MiB")
    parser.add_argument("--repeats", type=int, default=7)
    a = parser.parse_args()
    if a.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device; --device cpu tries this script without one")
    a.bytes = 4 * GIB if a.device == "cuda" else GIB // 8
    found = []
    for mib in map(int, a.sizes.split(",")):
        h2d, d2h = Lane(True, mib * 2**20, a), Lane(False, mib * 2**20, a)
        for name, lanes in {"h2d": [h2d], "d2h": [d2h], "both": [h2d, d2h]}.items():
            rate(lanes, a.device)  # warm
            found.append({"mib": mib, "way": name, "gib_per_s": [rate(lanes, a.device) for _ in range(a.repeats)]})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
