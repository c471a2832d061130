"""A causal language model of transformers, of a family that Hydra does not have.

    python3 -m hydra_export language_model.py:build --args folder=opt-125m --weights opt-125m --out opt
"""
import torch
import transformers
from hydra_export import Export


def build(folder, context=256):
    config = transformers.AutoConfig.from_pretrained(folder)
    config.use_cache = False
    model = transformers.AutoModelForCausalLM.from_config(config)
    return Export(model, {"input_ids": torch.zeros(2, context, dtype=torch.int64)}, output="logits")
