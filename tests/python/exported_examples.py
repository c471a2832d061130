#!/usr/bin/env python3
"""Runs apps/examples/pytorch as docs/pytorch.md does, with fewer samples and steps: a U-Net, a module with two inputs, a language
model of transformers with an adapter.

    exported_examples.py HYDRA

Each is exported by the command, trained, evaluated and exported back; the module loads what was trained, and evaluates to the same
loss. A run that is interrupted and resumed has the same bits. Exits with 77 where a package is not installed.
"""
import argparse
import importlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from checks import in_a_folder, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "apps" / "examples" / "pytorch"
sys.path[:0] = [str(ROOT / "apps" / "python"), str(EXAMPLES)]
try:
    import torch_of_build  # pylint: disable=unused-import
    import hydra_export.__main__ as exporter
    import peft
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

transformers.utils.logging.disable_progress_bar()
LOGITS = 1e-4


def export_module(work, *arguments):
    sys.argv = ["hydra_export", *map(str, arguments)]
    here = pathlib.Path.cwd()
    os.chdir(work)
    try:
        require(exporter.main() == 0, "hydra_export fails")
    finally:
        os.chdir(here)


class Hydra:
    def __init__(self, program, work, workload):
        self.program, self.work = program, work
        shutil.copy(ROOT / "apps" / "workloads" / "pytorch" / workload, work)

    def __call__(self, *arguments, status=0):
        run = subprocess.run([self.program, *map(str, arguments)], cwd=self.work, capture_output=True, text=True, timeout=300,
                             check=False)
        require(run.returncode == status, f"hydra {arguments}: {run.returncode}, {run.stderr.strip()}")
        return run.stdout + run.stderr

    def interrupted(self, folder, models, *arguments):
        """Interrupts a run when all of its models have been saved between two steps: it is saved inside of one, too."""
        run = subprocess.Popen([self.program, *map(str, arguments), "--output", folder, "--set", "run.checkpoint.every_steps=1"],
                               cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None:
            if len({saved.parent for saved in (self.work / folder / "checkpoints").glob("*/[0-9]*-step-*")}) == models:
                break
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        run.wait(timeout=60)
        require(run.returncode == 130, f"interrupted: {run.returncode}")

    def evaluated(self, run):
        """The losses of its models, by name."""
        lines = self("evaluate", run).splitlines()
        return {fields[0]: float(fields[2]) for fields in map(str.split, lines[1:]) if len(fields) > 3}


def require_near(what, found, expected, limit):
    error = abs(found - expected) / abs(expected)
    require(error <= limit, f"{what}: {found}, and of the module {expected}")


def unet(program, work):
    example, hydra = importlib.import_module("unet"), Hydra(program, work, "unet.toml")
    export_module(work, EXAMPLES / "unet.py:build", "--args", "width=4", "--out", "unet")
    save_file(example.samples(32, 1), work / "images-train.safetensors")
    save_file(example.samples(16, 2), work / "images-validation.safetensors")
    hydra("train", "unet.toml", "--set", "model.epochs=2", "--set", "model.schedule.warmup=2", "--set", "device.memory=30MiB")
    report = json.loads((work / "runs" / "unet" / "report.json").read_text())
    require(len(report["models"][0]["cuts"]) > 1, "the U-Net was not cut")
    hydra("export", "runs/unet", "unet", "trained")
    module, _ = example.build(4)
    module.load_state_dict(load_file(work / "trained" / "model.safetensors"))
    samples = example.samples(16, 2)
    with torch.no_grad():
        logits = module.eval()(samples["image"])
    expected = torch.nn.functional.cross_entropy(logits.flatten(0, 2), samples["target"].flatten()).item()
    require_near("evaluation", hydra.evaluated("runs/unet")["unet"], expected, 2e-4)  # printed with four digits
    return f"{len(report['models'][0]['cuts'])} shards; the module evaluates to the same loss"


def two_inputs(program, work):
    example, hydra = importlib.import_module("two_inputs"), Hydra(program, work, "prices.toml")
    export_module(work, EXAMPLES / "two_inputs.py:build", "--args", "width=16", "--out", "prices")
    save_file(example.samples(256, 1), work / "prices-train.safetensors")
    save_file(example.samples(64, 2), work / "prices-validation.safetensors")
    short = ("--set", "model.schedule.warmup=2")
    hydra("train", "prices.toml", *short, "--output", "whole")
    hydra.interrupted("parts", 2, "train", "prices.toml", *short)
    hydra("train", "prices.toml", *short, "--output", "parts", "--resume", "--set", "device.count=1", "--set", "model.cuts=[0, 3, 6]")
    for run in ("whole", "parts"):
        hydra("export", run, "prices-3e-3", f"trained-{run}")
    one, two = (load_file(work / f"trained-{run}" / "model.safetensors") for run in ("whole", "parts"))
    require(one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one), "a resumed run has other bits")
    module, _ = example.build(16)
    module.load_state_dict(one)
    samples = example.samples(64, 2)
    with torch.no_grad():
        price = module.eval()(samples["description"], samples["numbers"])
    expected = torch.nn.functional.mse_loss(price, samples["price"]).item()
    require_near("evaluation", hydra.evaluated("whole")["prices-3e-3"], expected, 1e-3)
    require("Hydra does not generate by exported models" in hydra("generate", "whole", "--model", "prices-3e-3", "--prompt", "x", status=2), "generates")
    return "interrupted and cut otherwise, the same bits; the module evaluates to the same loss"


def language_model(program, work):
    hydra = Hydra(program, work, "opt.toml")
    torch.manual_seed(0)
    config = transformers.OPTConfig(vocab_size=260, hidden_size=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=2,
                                    max_position_embeddings=64, word_embed_proj_dim=32, dropout=0.1)
    model = transformers.OPTForCausalLM(config)
    model.save_pretrained(work / "opt-125m")
    export_module(work, EXAMPLES / "language_model.py:build", "--args", "folder=opt-125m", "context=32", "--weights", "opt-125m",
                  "--out", "opt")
    (work / "novel.txt").write_text((ROOT / "README.md").read_text())
    hydra("train", "opt.toml", "--set", "data.novel.tokenizer=bytes", "--set", "model.steps=6", "--set", "model.schedule.warmup=2",
          "--set", "model.optimizer.learning_rate=1e-2")
    hydra("export", "runs/opt", "opt", "adapter")
    hydra("export", "runs/opt", "opt", "merged", "--merge")
    ids = torch.arange(32)[None] + 65
    with torch.no_grad():
        before = model.eval()(ids).logits
        adapted = peft.PeftModel.from_pretrained(model, work / "adapter").eval()(ids).logits
    whole = transformers.OPTForCausalLM(config)
    whole.load_state_dict(load_file(work / "merged" / "model.safetensors"))
    with torch.no_grad():
        merged = whole.eval()(ids).logits
    require((adapted - before).abs().max() > 100 * LOGITS, "the adapter does nothing")
    error = (adapted - merged).abs().max().item()
    require(error <= LOGITS, f"the adapter, and merged: differ by {error:.1e}")
    return f"the adapter by peft and merged: logits to {error:.1e}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hydra", metavar="HYDRA")
    program = str(pathlib.Path(arguments.parse_args().hydra).resolve())
    torch.set_num_threads(1)
    examples = (unet, two_inputs, language_model)
    sys.exit(run_checks({example.__name__: in_a_folder(example, program) for example in examples}))


if __name__ == "__main__":
    main()
