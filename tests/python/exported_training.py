#!/usr/bin/env python3
"""Trains the models of zoo/ by `hydra train`, exported, and compares them with the PyTorch modules.

    exported_training.py HYDRA [CASE ...]

Twenty steps of AdamW on batches of four samples: as a whole on one device, and cut before every layer on two devices, where
every loss, parameter and statistic has to be the same bits; both against PyTorch and its fused AdamW, losses to 2e-6 (most are
equal). Where dropout is drawn, or the parameters are bf16, which Hydra trains with fp32 masters, only whole and cut are
compared. Exits with 77 where a package is not installed.
"""
import json
import math
import os
import subprocess
import sys

from checks import in_a_folder, program_and_cases, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch_of_build  # pylint: disable=unused-import
    import torch
    from exported_models import in_order, inputs_for, sites
    from safetensors.torch import load_file, save_file
    import zoo
    from hydra_export import Refused, export
    from hydra_export.eager import as_exported
    from hydra_export.program import Program
    from hydra_export.request import as_request
    from hydra_export.results import chosen_result
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

BATCH, STEPS, RATE, LOSSES = 4, 20, 1e-3, 2e-6
NOT_TAKEN = {"clip": "the dimensions of its output that follow the samples depend on their number"}


def rows_of(inputs, begin, end):
    return {name: v[begin:end] if isinstance(v, torch.Tensor) else v for name, v in inputs.items()}


def contiguous(tensors):
    return {name: t.contiguous() for name, t in tensors.items()}


class Data:
    """Samples for all steps; targets are random numbers, unless the loss is inside the module."""

    def __init__(self, request, program, path):
        self.inputs = inputs_for(request, BATCH * STEPS)
        named = dict(zip([part["name"] for part in program.graph["inputs"]], in_order(program, self.inputs)))
        self.target, self.summed = None, request.loss == "sum"
        if request.loss is None:
            with torch.no_grad(), as_exported():
                output = chosen_result(request.module(**rows_of(self.inputs, 0, BATCH)), request.output)
            if output.dim() > 0:
                self.target = torch.randn((BATCH * STEPS, *output.shape[1:]),
                                          generator=torch.Generator().manual_seed(3))
                named["target"] = self.target
        save_file(contiguous(named), path)

    def loss(self, output, step):
        if self.target is None:
            return output / BATCH if self.summed else output
        target = self.target[step * BATCH:(step + 1) * BATCH]
        return torch.nn.functional.mse_loss(output.float().contiguous(), target, reduction="sum") / target.numel()


def train_eager(request, data):
    module, losses = request.module, []
    optimizer = torch.optim.AdamW(module.parameters(), lr=RATE, fused=True)
    with as_exported():
        for step in range(STEPS):
            optimizer.zero_grad()
            loss = data.loss(chosen_result(module(**rows_of(data.inputs, step * BATCH, (step + 1) * BATCH)), request.output),
                             step)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


WORKLOAD = """
[run]
name = "exported"
checkpoint = {{ keep = 1 }}
[[device]]
kind = "cpu"
count = {devices}
memory = "1GiB"
{precision}
[data.samples]
kind = "tensors"
train = "data.safetensors"
shuffle = false
[[model]]
name = "it"
chain = {{ from = "model" }}
data = "samples"
batch_size = {batch}
steps = {steps}
optimizer = {{ kind = "adamw", learning_rate = {rate} }}
cuts = {cuts}
"""


def train_in_hydra(hydra, work, name, **how):
    """Losses, and all tensors of the last checkpoint."""
    (work / f"{name}.toml").write_text(WORKLOAD.format(batch=BATCH, steps=STEPS, rate=RATE, **how))
    run = subprocess.run([hydra, "train", f"{name}.toml", "--output", name, "--quiet"], cwd=work, capture_output=True,
                         text=True, timeout=300, check=False)
    require(run.returncode == 0, f"{name}: {run.stderr.strip()}")
    model, = json.loads((work / name / "report.json").read_text())["models"]
    folder, = (work / name / "checkpoints" / "it").glob("0*-step-*")
    tensors = {}
    for file in sorted(folder.glob("shard-*.safetensors")):
        tensors.update(load_file(file))
    return model["loss"], tensors


def compare_tensors(whole, cut):
    require(whole.keys() == cut.keys(), f"tensors: {whole.keys() ^ cut.keys()}")
    for name, t in whole.items():
        require(torch.equal(t, cut[name]), f"cut, {name} has other bits than whole")


def farthest(found, expected):
    require(all(map(math.isfinite, found)), f"losses: {found}")
    return max(abs(a - b) / max(abs(b), 1e-6) for a, b in zip(found, expected))


def run_case(hydra, name, work):
    torch.manual_seed(0)
    request = as_request(zoo.CASES[name]())
    export(request, work / "model", checked=False, say=lambda line: None)
    program = Program(work / "model")
    if name in NOT_TAKEN:
        return f"not taken: {NOT_TAKEN[name]}"
    data = Data(request, program, work / "data.safetensors")
    rounded = program.graph["precision"] == "bf16"
    precision = 'precision = "bf16"' if rounded else ""
    whole, whole_tensors = train_in_hydra(hydra, work, "whole", devices=1, cuts=[0], precision=precision)
    cut, cut_tensors = train_in_hydra(hydra, work, "cut", devices=2, cuts=[0, *program.every_cut()], precision=precision)
    require(whole == cut, f"losses, cut: {cut}, and whole {whole}")
    compare_tensors(whole_tensors, cut_tensors)
    shards = f"{len(program.every_cut()) + 1} shards as one"
    if rounded or sites(program):
        return f"{shards}; not compared with PyTorch: {'bf16' if rounded else 'dropout'}"
    error = farthest(whole, train_eager(request, data))
    require(error <= LOSSES, f"losses differ from the module's by {error:.1e}")
    return f"{shards}; losses {'equal' if error == 0 else f'to {error:.1e}'}"


def main():
    hydra, cases = program_and_cases(__doc__, "HYDRA")
    torch.set_num_threads(1)
    sys.exit(run_checks({name: in_a_folder(run_case, hydra, name) for name in cases or zoo.CASES}, also=(Refused,),
                        share=1 if cases else 4))


if __name__ == "__main__":
    main()
