#!/usr/bin/env python3
"""Compares Hydra's LoRA with Hugging Face's peft.

    compare_adapters.py PROBE HYDRA [CASE ...]

Makes a small random model of several architectures with an adapter of peft, stores both, and checks in fp32: the logits,
the losses of 20 steps of AdamW, every tensor of the adapter after them, and that peft reads Hydra's adapter with the same
logits; then, by the program, that an adapter it has trained is the same merged, in peft, and continued. Exits with 77 where
peft is not installed.
"""

import copy
import json
import pathlib
import sys
import tempfile

from checks import require, run_checks
from compare_models import CASES, RATE, SEED, STEPS, Folder, logits_of, read_checkpoint, require_equal, require_near, run, train

try:
    import torch
    import peft
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

LOGITS, LOSSES, ADAPTERS = 1e-5, 2e-6, 2e-5  # relative
ADAPTED = {  # "of": the architecture, where a name is none; "frozen": what Hydra reads and does not train
    "gpt2": dict(target_modules=["c_attn", "c_proj", "c_fc"]),
    "llama": dict(target_modules="all-linear"),
    "llama-patterns": dict(of="llama", target_modules=r".*\.(q_proj|up_proj)", rank_pattern={"up_proj": 3},
                           alpha_pattern={r"layers\.1\.self_attn\.q_proj": 20}),
    "gpt2-tied": dict(of="gpt2", target_modules=["c_attn", "c_fc"], layers_to_transform=[1], modules_to_save=["lm_head"]),
    "llama-dora": dict(of="llama", target_modules="all-linear", use_dora=True),
    "gpt2-dora": dict(of="gpt2", target_modules=["c_attn", "c_proj", "c_fc"], use_dora=True, use_rslora=True),
    "llama-head": dict(of="llama", target_modules=["q_proj", "lm_head"]),  # peft also stores the head's weight
    "llama-suffix": dict(of="llama", target_modules=["q_proj", "up_proj"], modules_to_save=["norm"]),  # of all norms
    "llama-excluded": dict(of="llama", target_modules=["q_proj", "v_proj", "down_proj"], exclude_modules=["1.mlp.down_proj"],
                           layers_to_transform=[1], layers_pattern=["h", "lay[a-z]+"]),
    "gpt2-biases": dict(of="gpt2", target_modules=["c_attn"], bias="lora_only"),
    "gpt2-all-biases": dict(of="gpt2", target_modules=["c_fc"], modules_to_save=["ln_f"], bias="all"),
    "llama-all-biases": dict(of="llama-biases", target_modules="all-linear", bias="all"),
    "bert-biases": dict(of="bert-classification", target_modules=["query"], modules_to_save=["classifier"], bias="all",
                        task_type="SEQ_CLS"),
    "bert-head-biases": dict(of="bert-masked-lm", target_modules=["query"], bias="all"),
    "gpt2-tokens": dict(of="gpt2", target_modules=["c_attn"], trainable_token_indices=[5, 1], frozen="trainable_tokens_delta"),
    "llama-embedding": dict(of="llama", target_modules=["q_proj", "embed_tokens"], frozen="lora_embedding_"),
    "qwen3": dict(target_modules=["q_proj", "v_proj"], use_rslora=True),
    "gemma3": dict(target_modules="all-linear"),
    "phi3": dict(target_modules=["qkv_proj", "gate_up_proj"]),
    "bert-classification": dict(target_modules=["query", "value", "output.dense"], modules_to_save=["classifier"],
                                task_type="SEQ_CLS"),
}
RANKS = (4, 16)
# bias = "all" stores a bias of modules_to_save, or one that is tied, by more names than that which peft reads
REPEATED = ".modules_to_save.bias", ".original_module.bias", "cls.predictions.decoder.bias"


def adapted(model, rank, frozen, **options):
    """With an adapter whose B is not zero, or its logits would be those of the base."""
    model = peft.get_peft_model(copy.deepcopy(model), peft.LoraConfig(r=rank, lora_alpha=12, lora_dropout=0.0, **options))
    generator = torch.Generator().manual_seed(rank + 1)
    with torch.no_grad():
        for name, p in model.named_parameters():
            is_trained = p.requires_grad and (name.endswith(".bias") or (frozen and frozen in name))
            if "lora_B" in name or "lora_magnitude" in name or is_trained:
                p.add_(0.1 * torch.randn(p.shape, generator=generator))
            p.requires_grad_(p.requires_grad and not (frozen and frozen in name))
    return model


def adapter_in(folder, frozen):
    """Without the weight of an adapted head: peft always stores it, Hydra only where it is not the base's. Without what is not
    trained, of which Hydra stores the whole parameter."""
    config, tensors = json.loads((folder / "adapter_config.json").read_text()), read_checkpoint(folder)
    is_more = lambda name: name.endswith((".base_layer.weight", *REPEATED))
    is_compared = lambda name: (".lora_A." in name or ".lora_B." in name) if frozen else not is_more(name)
    return config, {name: t for name, t in tensors.items() if is_compared(name)}


def determined(name, t):
    """Zero for the bias of attention's keys, whose gradient is 0 but for rounding, which AdamW divides by its own size."""
    if not name.endswith((".key.bias", ".c_attn.bias", ".c_attn.base_layer.bias")):
        return t
    parts = [t] if ".key." in name else t.chunk(3)
    parts = [torch.zeros_like(part) if i == len(parts) // 2 else part for i, part in enumerate(parts)]
    return torch.cat(parts)


def require_near_norm(what, found, expected):
    """Of whole tensors: AdamW divides a gradient that is nearly 0 by its own size, so that the rounding of a processor decides how
    far single elements go."""
    error = ((found.double() - expected.double()).norm() / max(expected.double().norm().item(), 1e-30)).item()
    require(error <= ADAPTERS, f"{what}: relative error {error:.2e}, at most {ADAPTERS:.0e} is allowed")
    return error


def compare(probe, name, rank):
    torch.manual_seed(SEED)
    options = dict(ADAPTED[name])
    architecture, frozen = options.pop("of", name), options.pop("frozen", None)
    case = CASES[architecture](architecture)
    base = case.model
    case.model = adapted(base, rank, frozen, **options)
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(probe, case, pathlib.Path(path))
        checkpoint = folder.save("checkpoint", base)
        case.model.save_pretrained(folder.path / "adapter")
        results = folder.results(checkpoint, "--adapter", folder.path / "adapter", "--steps", STEPS, "--export", folder.path / "exported")
        logits = require_near("logits", results["logits"], logits_of(case, case.model), LOGITS)
        require(logits_of(case, case.model).sub(logits_of(case, base)).abs().max() > 1e-2, "the adapter changes nothing")
        losses, trained = train(case, 0, 1)
        loss = require_near("losses", results["losses"].double() / losses, torch.ones_like(losses), LOSSES, 1.0)
        trained.save_pretrained(folder.path / "trained")
        config, found = adapter_in(folder.path / "exported", frozen)
        expected_config, expected = adapter_in(folder.path / "trained", frozen)
        require(found.keys() == expected.keys(), f"the adapters differ in {sorted(found.keys() ^ expected.keys())}")
        worst = max(require_near_norm(key, determined(key, found[key]), determined(key, expected[key])) for key in found)
        for key in ("r", "use_rslora", "peft_type", "fan_in_fan_out", "bias"):
            require(config[key] == expected_config[key], f"{key} is {config[key]}; peft writes {expected_config[key]}")
        read = peft.PeftModel.from_pretrained(type(base).from_pretrained(checkpoint), folder.path / "exported").float()
        with torch.no_grad():
            difference = logits_of(case, read).sub(logits_of(case, trained)).abs().max()
        require(difference <= 1e-4, f"the logits of the adapter that Hydra has trained differ by {difference}")
        again = folder.results(checkpoint, "--adapter", folder.path / "exported")
        require_near("logits of the export in peft", logits_of(case, read), again["logits"], LOGITS)
    return f"logits {logits:.1e}  losses {loss:.1e}  adapter {worst:.1e}"


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
adapter = {{ {adapter} }}
data = "text"
batch_size = 4
steps = {steps}
optimizer = {{ learning_rate = 1e-2 }}
"""


def compare_program(hydra, name):
    """An adapter that hydra trains from scratch: in peft, merged, and continued."""
    torch.manual_seed(SEED)
    case = CASES[name](name)
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        base = path / "base"
        case.model.save_pretrained(base)

        def trained(adapter, steps, at):
            (path / f"{at}.toml").write_text(WORKLOAD.format(base=base, adapter=adapter, steps=steps))
            run(hydra, "train", path / f"{at}.toml", "--output", path / f"{at}-run", "--quiet")
            run(hydra, "export", path / f"{at}-run", "m", path / at)
            return path / at

        def logits(folder):
            return logits_of(case, peft.PeftModel.from_pretrained(type(case.model).from_pretrained(base), folder))

        first = trained("rank = 4", 5, "first")
        saved = read_checkpoint(max((path / "first-run" / "checkpoints" / "m").iterdir()))
        stored = read_checkpoint(first)
        require(stored and all("lora_" in key for key in stored), f"the adapter has {sorted(stored)}")
        for key, value in stored.items():
            module = key.removeprefix("base_model.model.")
            own = next(n for n in (f"parameter.{module}", f"parameter.{module.removeprefix('transformer.')}") if n in saved)
            require_equal(key, value, saved[own])
        run(hydra, "export", path / "first-run", "m", path / "merged", "--merge")
        merged = type(case.model).from_pretrained(path / "merged")
        require_near("logits of the merged model", logits_of(case, merged), logits(first), LOGITS)
        require(logits(first).sub(logits_of(case, case.model)).abs().max() > 1e-3, "nothing was trained")
        second = trained(f'from = "{first}"', 3, "second")
        begun = json.loads((path / "second-run" / "report.json").read_text())["models"][0]["loss"][0]
        before = json.loads((path / "first-run" / "report.json").read_text())["models"][0]["loss"][0]
        require(begun < before, f"the continued adapter starts at a loss of {begun}, the new one at {before}")
        require(logits(second).sub(logits(first)).abs().max() > 1e-4, "nothing was trained further")


def main():
    probe, hydra, *chosen = sys.argv[1:]
    torch.set_num_threads(1)
    checks = {f"{name} rank {rank}": lambda n=name, r=rank: compare(probe, n, r) for name in ADAPTED for rank in RANKS}
    for name in ("gpt2", "llama"):
        checks[f"hydra train on {name}"] = lambda n=name: compare_program(hydra, n) or "in peft, merged and continued"
    checks = {name: check for name, check in checks.items() if not chosen or any(map(name.startswith, chosen))}
    sys.exit(run_checks(checks, share=1 if chosen else 2))


if __name__ == "__main__":
    main()
