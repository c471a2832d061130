"""What the two PyTorch baselines share: options, the timed loop, the choice of the micro-batch, the line of JSON."""
import argparse
import gc
import json
import sys
import time

import torch

from shapes import SHAPES


def options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="tiny")
    parser.add_argument("--tokens", type=int, required=True, help="in a step")
    parser.add_argument("--steps", type=int, default=3, help="that are measured, after a warm one")
    parser.add_argument("--micro-batch", type=int, default=8, help="samples; halved as long as it does not fit")
    parser.add_argument("--checkpointing", action="store_true", help="keep only blocks' inputs, recompute the rest in backward")
    parser.add_argument("--memory", type=float, help="GiB of the device that PyTorch may allocate; default: all of it")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    a = parser.parse_args()
    if a.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device; --device cpu tries this script without one")
    if a.device == "cuda" and a.memory:
        whole = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, a.memory * 2**30 / whole))
    if a.tokens % SHAPES[a.shape].context:
        sys.exit(f"--tokens {a.tokens}: not whole samples of {SHAPES[a.shape].context} tokens")
    a.micro_batch = min(a.micro_batch, a.tokens // SHAPES[a.shape].context)
    return a


def synchronise(device):
    if device == "cuda":
        torch.cuda.synchronize()


def timed(step, a):
    """Seconds of each step but the first, which is warm-up; the device is waited for at the end of each."""
    seconds = []
    for i in range(a.steps + 1):
        synchronise(a.device)
        began = time.perf_counter()
        loss = step(i)
        synchronise(a.device)
        seconds.append(time.perf_counter() - began)
    return seconds[1:], float(loss)


def fitting(attempt, a):
    """attempt(micro_batch) with the largest micro-batch that fits: the one asked for, or its half, and so on."""
    size = a.micro_batch
    while True:
        try:
            return (*attempt(size), size)
        except torch.cuda.OutOfMemoryError as e:
            why = str(e).splitlines()[0]
        gc.collect()
        torch.cuda.empty_cache()
        if size == 1:
            sys.exit(f"does not fit: {why}")
        print(f"{size} samples do not fit: {why}", file=sys.stderr, flush=True)
        size //= 2


def tell(a, seconds, loss, micro_batch, precision):
    """One line of JSON, the last one of stdout."""
    shape = SHAPES[a.shape]
    print(json.dumps({"shape": shape.name, "parameters": shape.parameters, "tokens": a.tokens, "micro_batch": micro_batch,
                      "step_s": seconds, "loss": loss, "precision": precision, "torch": torch.__version__,
                      "peak_bytes": torch.cuda.max_memory_allocated() if a.device == "cuda" else None}))
