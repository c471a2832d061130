"""Options, results and the time that is left: what every part is given. Standard library only."""
import dataclasses
import os
import pathlib
import time

import programs
import results
from machine import budget_of, free_bytes, host_bytes, machine
from programs import ROOT, shell
from shapes import SHAPES, Shape, peak_of

HERE = pathlib.Path(__file__).resolve().parent
PART_LIMIT = 530  # seconds
SIZES = ("8k", "32k", "128k", "512k")  # tokens in a step; a dry run has smaller ones in their places


@dataclasses.dataclass(frozen=True)
class Scale:
    """Everything that differs between a measurement and a dry run."""
    device: str
    budgets: dict         # of a mode: a size, and the share of what is free on the GPU that holds where it is less
    tokens: tuple
    steps: tuple          # that are measured, by tokens; one more is warm-up
    torch_steps: tuple
    micro_batch: int
    large_micro_batch: int
    shape: Shape = None   # in place of every shape
    small: Shape = None   # of the run of many steps
    small_memory: str = ""
    many_steps: int = 0


REAL = Scale(device='kind = "cuda"\nindex = {index}\nprecision = "bf16"',
             budgets={"resident": ("", 0.9), "recompute": ("", 0.9), "spill24": ("24GiB", 0.65), "spill16": ("16GiB", 0.45)},
             tokens=(8192, 32768, 131072, 524288), steps=(10, 8, 4, 2), torch_steps=(6, 4, 2, 1),
             micro_batch=8, large_micro_batch=32,
             small=Shape("small", layers=8, width=512, heads=8, hidden=1408, context=256, vocabulary=4096), small_memory="2GiB",
             many_steps=1000)
DRY = Scale(device='kind = "cpu"', budgets={"resident": ("64MiB", 0.9), "recompute": ("64MiB", 0.9), "spill24": ("3MiB", 0.65), "spill16": ("1536KiB", 0.45)},
            tokens=(64, 256, 1024, 2048), steps=(3, 2, 2, 1), torch_steps=(2, 1, 1, 1), micro_batch=2, large_micro_batch=8,
            shape=SHAPES["tiny"], small=SHAPES["tiny"], small_memory="3MiB", many_steps=200)


class Bench:
    def __init__(self, a):
        self.a = a
        self.scale = DRY if a.dry_run else REAL
        self.machine = machine(a)
        self.peak = a.peak_tflops * 1e12 if a.peak_tflops else None if a.dry_run else peak_of(self.machine["gpu"])
        if self.machine["gpu"] and not (self.peak or a.dry_run):
            print(f'the bf16 rate of "{self.machine["gpu"]}" is not known: no % of peak; --peak-tflops gives it', flush=True)
        self.free = None if a.dry_run else free_bytes(a.index)
        self.results = results.Results(a.output, self.machine)
        self.work = a.work
        self.work.mkdir(parents=True, exist_ok=True)
        self.ends = time.monotonic() + a.total
        self.part, self.part_ends = "", 0.0
        self.failed = False  # whether a row failed
        self.host_memory = a.host_memory or f"{int(host_bytes() * 0.9) // 2**20}MiB"

    def begin(self, part):
        self.part = part
        self.part_ends = min(self.ends, time.monotonic() + self.a.limit)

    def left(self):
        return self.part_ends - time.monotonic()

    def sizes(self, steps):
        """Tokens and steps of the sizes that were asked for."""
        return [(tokens, n) for name, tokens, n in zip(SIZES, self.scale.tokens, steps) if name in self.a.sizes]

    def budget(self, mode):
        return budget_of(*self.scale.budgets[mode], self.free)

    def shape(self, name):
        return self.scale.shape or SHAPES[name]

    def add(self, name, status, command, setting, **rest):
        row = self.results.add(self.part, name, status, command, setting, **rest)
        self.failed = self.failed or status == "failed" or self.a.dry_run and status != "ok"
        quantities = ", ".join(f"{k} {results.spread(m)}" for k, m in row["measured"].items() if m)
        why = f"({row['why'].splitlines()[0]})" if row["why"] else ""
        print("  ".join(filter(None, (f"  {name}: {status}", quantities, why))), flush=True)
        return row

    def call(self, command, limit=None, env=None, watch=None):
        done = programs.call(command, min(limit or self.left(), self.left()), env, watch)
        with open(self.a.output / "log.txt", "a") as log:
            log.write(f"\n$ {shell(command)}\n{done.out[-8000:]}{done.err[-8000:]}[status {done.status}, {done.seconds:.1f} s]\n")
        return done

    def environment(self):
        return {**os.environ, **({"OMP_NUM_THREADS": "1"} if self.a.dry_run else {})}

    def program(self, name):
        """hydra or a test program: where --hydra points to, else of the bundle that this is in, else of the release preset."""
        places = [self.a.hydra.parent] if self.a.hydra else [ROOT / "bin", ROOT / "build/release/bin"]
        for place in places:
            if (place / name).exists():
                return place / name
        raise SystemExit(f"{name} is not in {' or '.join(map(str, places))}: build it (cmake --build --preset release), or name "
                         "the program of another build by --hydra")

    def python(self, script, *arguments):
        return [self.a.python, HERE / script, *arguments, "--device", "cpu" if self.a.dry_run else "cuda"]

    def python_environment(self):
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
                **({"OMP_NUM_THREADS": "1"} if self.a.dry_run else {"CUDA_VISIBLE_DEVICES": str(self.a.index)})}

    def estimate(self, shape, tokens, steps, models=1, promotes=0):
        """Seconds of a row: work at 300 TFLOP/s, updates at 3 G parameters/s, the start of a program, and copies of the whole model
        in fp32 that nothing hides, three for each of `promotes`, at 40 GB/s."""
        if self.a.dry_run:
            return 3.0
        step = shape.flop_per_token * tokens / 300e12 + shape.parameters / 3e9 + promotes * 12 * shape.parameters / 40e9
        return 20 + models * ((steps + 1) * step * 1.3 + shape.parameters / 4e8)

    def affords(self, name, seconds, setting):
        """Whether a row fits into the time that is left; adds a skipped row if not."""
        if seconds <= self.left():
            return True
        self.add(name, "skipped", "", setting, why=f"would take some {seconds:.0f} s, {max(0, self.left()):.0f} s are left")
        return False


def speeds(bench, shape, tokens, seconds):
    """Tokens/s and % of peak of each step."""
    rates = [tokens / s for s in seconds]
    found = {"tokens/s": results.measured(rates, "1/s")}
    if bench.peak:
        found["% of peak"] = results.measured([100 * r * shape.flop_per_token / bench.peak for r in rates], "%")
    return found
