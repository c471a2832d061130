"""Adapters that peft writes

Reports: huggingface/peft#2777 (open), #1932, unslothai/unsloth#377, #9331 (adapters of resized vocabularies, trained
heads of tied models, embeddings among the targets), and what fine-tuning tools write by default (rsLoRA, DoRA,
patterns, regular expressions).
Right: peft's losses.
Passes: for each adapter its loss, also that of default-in-names (a state_dict() saved by hand, lora_A.default.weight). That of
another model is refused, without a word about ".default".
"""
import re

import torch

from inputs import BYTES, MODEL, byte_windows, causal_model, change_json, change_weights, copied, loss_of_windows, tiny
from outputs import near, says, show

WORKLOAD = BYTES + MODEL.replace('"model"', '"base"') + 'adapter = { from = "plain" }\n'
ADAPTERS = {
    "plain": {"target_modules": ["q_proj", "v_proj"]},
    "rslora": {"target_modules": "all-linear", "use_rslora": True},
    "head": {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
    "ranks": {"target_modules": ["q_proj", "v_proj"], "rank_pattern": {"v_proj": 2}, "alpha_pattern": {"v_proj": 16}},
    "some-layers": {"target_modules": ["q_proj"], "layers_to_transform": [1]},
    "regex": {"target_modules": r".*\.1\..*(q|v)_proj"},
    "dora": {"target_modules": ["q_proj"], "use_dora": True},
    "lora-on-embedding": {"target_modules": ["q_proj", "embed_tokens"]},
    "new-tokens": {"target_modules": ["q_proj"], "trainable_token_indices": [250, 251]},
    "bias": {"target_modules": ["q_proj"], "bias": "lora_only"},
    "tied-head": {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
}


def make_adapter(name, base, windows):
    """Saves an adapter that is trained a little. Its loss by peft."""
    import peft  # pylint: disable=import-outside-toplevel
    torch.manual_seed(0)
    model = peft.get_peft_model(causal_model(base), peft.LoraConfig(r=4, lora_alpha=8, task_type="CAUSAL_LM", **ADAPTERS[name]))
    torch.manual_seed(3)
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                p.add_(torch.randn_like(p) * 0.1)
    model.eval().save_pretrained(name)
    change_json(f"{name}/adapter_config.json", base_model_name_or_path=base)
    return loss_of_windows(model, windows)


def part(ran, name, right):
    return near(ran.value(), right), f"{name} {ran.loss()}", show(right)


def case(hydra):
    tiny("Llama", "base", vocab_size=256)
    tiny("Llama", "tied", vocab_size=256, tie_word_embeddings=True)
    windows, right = byte_windows(), {}
    for name in ADAPTERS:
        base = "tied" if name == "tied-head" else "base"
        right[name] = make_adapter(name, base, windows)
        yield part(hydra.evaluate(f"model.adapter.from={name}", f"model.chain.from={base}"), name, right[name])
    change_weights(copied("plain", "default-in-names"),
                   lambda w: {re.sub(r"(lora_[AB])\.", r"\1.default.", k): v for k, v in w.items()})
    yield part(hydra.evaluate("model.adapter.from=default-in-names"), "default-in-names", right["plain"])
    change_weights(copied("plain", "other"), lambda w: {k.replace("self_attn", "attn"): v for k, v in w.items()})
    other = hydra.evaluate("model.adapter.from=other")
    yield (other.status == 2 and not says(other.text, r"\.default\b"), "of another model: " + other.brief(),
           "a refusal without a word about .default")
