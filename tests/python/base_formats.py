#!/usr/bin/env python3
"""Compares Hydra's parameters in 4 bits with bitsandbytes, as transformers uses it: those that it freezes (base = "nf4"), and
those of checkpoints that are stored so.

    base_formats.py PROBE HYDRA

Of small random models: the values that hydra computes with, as it exports them, are bit for bit those of bitsandbytes'
quantize_4bit and what undoes it; which parameters are in 4 bits is what transformers' BitsAndBytesConfig makes of the model; an
adapter trained over them is bit for bit that over a checkpoint of the dequantised values. Of checkpoints that transformers saves
in nf4 and fp4: hydra begins with the dequantised values, bit for bit, and with base = "nf4" keeps those of nf4; logits and losses
of 20 steps are those of transformers' model with these values. Exits with 77 where bitsandbytes is not installed.
"""

import copy
import json
import pathlib
import sys
import tempfile

from checks import require, run_checks
from compare_models import CASES, SEED, Folder, compare_logits, compare_training, read_checkpoint, require_equal, run

try:
    import torch
    import transformers
    from bitsandbytes.backends.default.ops import _dequantize_4bit_compute
    from bitsandbytes.functional import dequantize_blockwise, quantize_4bit
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

WORKLOAD = """[run]
seed = 7
[[device]]
kind = "cpu"
memory = "64MiB"
[data.text]
kind = "synthetic-language"
symbols = 20
[[model]]
name = "m"
chain = {{ from = "{base}", context = 8 }}
{tuned}
base = "{format}"
data = "text"
batch_size = 4
steps = 3
optimizer = {{ learning_rate = 1e-2 }}
"""
NORMS = dict(gpt2="ln_f", llama="norm.weight", qwen3="norm.weight")  # trained, so that something is
ADAPTER = "adapter = { rank = 4 }"


def dequantized(stored, state, shape):
    """As dequantize_4bit() does, but not by its kernel for CPUs with AVX-512: that of version 0.50.2 is wrong where a row is no
    multiple of the block, by as much as the numbers themselves."""
    packed = stored.reshape(-1).view(torch.uint8)
    scales = dequantize_blockwise(state.absmax, state.state2) + state.offset if state.nested else state.absmax.float()
    return _dequantize_4bit_compute(packed, scales, state.code, state.blocksize, shape, torch.float32).view(shape)


def in_4_bits(values):
    stored, state = quantize_4bit(values.contiguous(), blocksize=64, quant_type="nf4")
    return dequantized(stored, state, values.shape)


def frozen(name):
    return f'freeze = ["*", "!*{NORMS[name]}*"]'


def trained(hydra, path, name, **keys):
    """The folder of the run."""
    (path / f"{name}.toml").write_text(WORKLOAD.format(**keys))
    run(hydra, "train", path / f"{name}.toml", "--output", path / name, "--quiet")
    return path / name


def exported(hydra, path, run_folder, *options):
    run(hydra, "export", run_folder, "m", path / f"{run_folder.name}-export", *options)
    return read_checkpoint(path / f"{run_folder.name}-export")


def expected_values(name, values):
    """As bitsandbytes has them, of the stored name."""
    matrix = values.dim() == 2 and not any(part in name for part in ("embed", "wte", "wpe", "lm_head"))
    return in_4_bits(values) if matrix else values


def compare_values(hydra, name):
    torch.manual_seed(SEED)
    model = CASES[name](name).model
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        model.save_pretrained(path / "base")
        before = read_checkpoint(path / "base")
        found = exported(hydra, path, trained(hydra, path, "run", base=path / "base", tuned=frozen(name), format="nf4"))
        changed = 0
        for key, values in before.items():
            if NORMS[name] in key:
                continue
            want = expected_values(key, values)
            require_equal(key, found[key], want)
            changed += not torch.equal(want, values)
        require(changed > 4, f"only {changed} parameters are in 4 bits")
        halves = exported(hydra, path, trained(hydra, path, "halves", base=path / "base", tuned=frozen(name), format="bf16"))
        for key, values in before.items():
            if NORMS[name] not in key:
                require_equal(key, halves[key], values.bfloat16().float())
    return f"{changed} parameters in 4 bits"


def compare_modules(hydra, name):
    """GPT-2's maps are not Linear in transformers: its integration transposes them first."""
    torch.manual_seed(SEED)
    model = CASES[name](name).model
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        model.save_pretrained(path / "base")
        found = exported(hydra, path, trained(hydra, path, "run", base=path / "base", tuned=frozen(name), format="nf4"))
        config = transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float32)
        narrow = type(model).from_pretrained(path / "base", quantization_config=config, dtype=torch.float32, device_map="cpu")
        stored = {n: m.weight for n, m in narrow.named_modules() if hasattr(getattr(m, "weight", None), "quant_state")}
        require(stored, "transformers has left all modules as they are")
        for module, weight in stored.items():
            values = found[f"{module}.weight"]
            require_equal(module, values, dequantized(weight.data, weight.quant_state, values.shape))
        wide = {key for key, values in read_checkpoint(path / "base").items() if torch.equal(values, found[key])}
        also = {f"{module}.weight" for module in stored} & wide
        require(not also, f"hydra leaves {sorted(also)} as they are")
    return f"{len(stored)} modules"


def compare_adapters(hydra, name):
    torch.manual_seed(SEED)
    model = CASES[name](name).model
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        model.save_pretrained(path / "base")
        narrow = trained(hydra, path, "narrow", base=path / "base", tuned=ADAPTER, format="nf4")
        with torch.no_grad():
            for key, values in model.named_parameters():
                values.copy_(expected_values(key, values))
        model.save_pretrained(path / "widened")
        wide = trained(hydra, path, "wide", base=path / "widened", tuned=ADAPTER, format="fp32")
        found, expected = exported(hydra, path, narrow), exported(hydra, path, wide)
        for key, values in expected.items():
            require_equal(key, found[key], values)
        run(hydra, "export", narrow, "m", path / "narrow-merged", "--merge")
        run(hydra, "export", wide, "m", path / "wide-merged", "--merge")
        merged, wanted = read_checkpoint(path / "narrow-merged"), read_checkpoint(path / "wide-merged")
        for key, values in wanted.items():
            require_equal(key, merged[key], values)
    return f"{len(expected)} tensors of the adapter"


def in_4_bits_by_transformers(model, base, options):
    config = transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float32, **options)
    return type(model).from_pretrained(base, quantization_config=config, dtype=torch.float32, device_map="cpu")


def widened(model, narrow):
    """A copy of the model with the values that one of bitsandbytes has, of GPT-2's maps as they are in a checkpoint."""
    values = {f"{name}.weight": dequantized(m.weight.data, m.weight.quant_state, m.weight.quant_state.shape)
              for name, m in narrow.named_modules() if hasattr(getattr(m, "weight", None), "quant_state")}
    require(values, "transformers has left all modules as they are")
    wide = copy.deepcopy(model)
    with torch.no_grad():
        for name, p in wide.named_parameters():
            if name in values:
                p.copy_(values[name].T if "gpt2" in type(model).__module__ else values[name])
    return wide, len(values)


def compare_stored(probe, hydra, name, options):
    """A checkpoint that transformers has saved in 4 bits."""
    torch.manual_seed(SEED)
    case = CASES[name](name)
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        folder = Folder(probe, case, path)
        narrow = in_4_bits_by_transformers(case.model, folder.save("base", case.model), options)
        narrow.save_pretrained(path / "narrow")
        case.model, changed = widened(case.model, narrow)
        wide = read_checkpoint(folder.save("wide", case.model))
        losses, results, _ = compare_training(case, folder, path / "narrow", 0, 1)
        for key, values in wide.items():
            require_equal(key, results[f"begin.{key}"], values)
        logits = compare_logits(case, results, case.model)
        require_same_adapters(hydra, path, options["bnb_4bit_quant_type"] == "nf4" and name != "gpt2")
    return f"{changed} weights, logits {logits:.1e}, losses {losses:.1e}"


def require_same_adapters(hydra, path, is_kept):
    """Over the checkpoint in 4 bits, and over that of its values; with base = "nf4", too, if that keeps them."""
    wide_run = trained(hydra, path, "wide-run", base=path / "wide", tuned=ADAPTER, format="fp32")
    expected = exported(hydra, path, wide_run, "--merge")
    for form in ("fp32", "nf4") if is_kept else ("fp32",):
        run_folder = trained(hydra, path, f"narrow-{form}", base=path / "narrow", tuned=ADAPTER, format=form)
        found = exported(hydra, path, run_folder, "--merge")
        for key, values in expected.items():
            require_equal(f"{form}: {key}", found[key], values)
        require("in 4 bits" in " ".join(json.loads((run_folder / "report.json").read_text())["notes"]), "no note says 4 bits")
        config = json.loads((path / f"narrow-{form}-export" / "config.json").read_text())
        require("quantization_config" not in config, "the export says that it is quantised")


STORED = {"nf4": {"bnb_4bit_quant_type": "nf4"}, "fp4": {"bnb_4bit_quant_type": "fp4"},
          "nf4 twice": {"bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
          "fp4 twice": {"bnb_4bit_quant_type": "fp4", "bnb_4bit_use_double_quant": True},
          "nf4 in bf16": {"bnb_4bit_quant_type": "nf4", "bnb_4bit_quant_storage": torch.bfloat16}}


def main():
    probe, hydra, *chosen = sys.argv[1:]
    torch.set_num_threads(1)
    checks = {f"values of {n}": lambda n=n: compare_values(hydra, n) for n in ("gpt2", "llama", "qwen3")}
    checks |= {f"modules of {n}": lambda n=n: compare_modules(hydra, n) for n in ("llama", "qwen3")}
    checks |= {f"adapter of {n}": lambda n=n: compare_adapters(hydra, n) for n in ("gpt2", "llama")}
    stored = [("llama", each) for each in STORED] + [("gpt2", "nf4 twice"), ("phi3", "nf4 twice")]
    checks |= {f"{n} stored in {how}": lambda n=n, how=how: compare_stored(probe, hydra, n, STORED[how]) for n, how in stored}
    sys.exit(run_checks({name: check for name, check in checks.items() if not chosen or any(map(name.startswith, chosen))}))


if __name__ == "__main__":
    main()
