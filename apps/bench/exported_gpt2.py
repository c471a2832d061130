#!/usr/bin/env python3
"""The same GPT-2 as Hydra's family and exported by hydra_export: losses and tokens per second, in pairs of runs.

    exported_gpt2.py HYDRA [--pairs N] [--layers N] [--width N] [--context N] [--batch N] [--steps N]

Needs torch, transformers and safetensors. Prints each pair, then the median of the ratios exported / own, with their range.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import torch
import transformers
from hydra_export import Export, export

WORKLOAD = """
[run]
name = "gpt2"
checkpoint = {{ keep = 0 }}
[[device]]
kind = "cpu"
threads = {threads}
memory = "{memory}"
[data.text]
kind = "text"
train = "text.txt"
tokenizer = "bytes"
[[model]]
name = "gpt2"
chain = {{ from = "{folder}"{context} }}
data = "text"
batch_size = {batch}
steps = {steps}
optimizer = {{ kind = "adamw", learning_rate = 1e-3 }}
"""


GELU = "gelu_pytorch_tanh"  # "gelu_new" is the same function in eight operations, which cost the module some percent


class Wrapped(torch.nn.Module):
    """Logits alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids, use_cache=False).logits


def make_models(o, work):
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=256, n_positions=o.context, n_embd=o.width, n_layer=o.layers,
                                     n_head=o.width // 64, activation_function=GELU, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = transformers.GPT2LMHeadModel(config)
    model.save_pretrained(work / "own")
    ids = torch.zeros(2, o.context, dtype=torch.int64)
    export(Export(Wrapped(model.train()), {"ids": ids}), work / "exported", checked=False, say=lambda line: None)
    text = "".join(path.read_text() for path in sorted((pathlib.Path(__file__).resolve().parents[2] / "docs").glob("*.md")))
    (work / "text.txt").write_text(text)


def run(o, work, kind):
    """Losses and tokens per second of a run."""
    context = f", context = {o.context}" if kind == "own" else ""
    (work / f"{kind}.toml").write_text(WORKLOAD.format(folder=kind, context=context, batch=o.batch, steps=o.steps,
                                                       memory=o.memory, threads=o.threads))
    number = len(list(work.glob(f"run-{kind}-*")))
    folder = work / f"run-{kind}-{number}"
    subprocess.run([o.hydra, "train", f"{kind}.toml", "--quiet", "--output", str(folder)], cwd=work, check=True,
                   stdout=subprocess.DEVNULL)
    report = json.loads((folder / "report.json").read_text())
    return report["models"][0]["loss"], o.steps * o.batch * o.context / report["makespan_s"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hydra", metavar="HYDRA")
    for name, value in (("pairs", 9), ("layers", 6), ("width", 384), ("context", 128), ("batch", 4), ("steps", 20), ("threads", 1)):
        arguments.add_argument(f"--{name}", type=int, default=value)
    arguments.add_argument("--memory", default="1GiB")
    o = arguments.parse_args()
    o.hydra = str(pathlib.Path(o.hydra).resolve())
    with tempfile.TemporaryDirectory() as path:
        work, ratios = pathlib.Path(path), []
        make_models(o, work)
        for pair in range(o.pairs):
            made = {kind: run(o, work, kind) for kind in (("own", "exported") if pair % 2 == 0 else ("exported", "own"))}
            ratios.append(made["exported"][1] / made["own"][1])
            apart = max(abs(a - b) / b for a, b in zip(made["exported"][0], made["own"][0]))
            print(f"own {made['own'][1]:.0f} tokens/s, exported {made['exported'][1]:.0f}, ratio {ratios[-1]:.3f}; "
                  f"losses to {apart:.1e}", flush=True)
    print(f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    main()
