"""Mixtures of experts."""
import torch
import transformers
from torch import nn

from .data import reals, shaken
from .language import decoder


def mixtral(experts, **options):
    model, inputs = decoder(transformers.MixtralForCausalLM, transformers.MixtralConfig, num_hidden_layers=2,
                            num_local_experts=4, num_experts_per_tok=2, **options)
    model.set_experts_implementation(experts)
    return model, inputs


class Expert(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))


class DenseMixture(nn.Module):
    """Every expert sees every token; the router weighs them."""

    def __init__(self, width=16, experts=4):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))

    def forward(self, x):
        weights = self.router(x).softmax(-1)
        return x + sum(weights[..., i:i + 1] * expert(x) for i, expert in enumerate(self.experts))


class SparseMixture(nn.Module):
    """An expert sees the tokens that chose it, whose number depends on the data."""

    def __init__(self, width=16, experts=4):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weight, choice = self.router(flat).softmax(-1).max(-1)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows = torch.nonzero(choice == i).squeeze(-1)
            out = out.index_add(0, rows, expert(flat[rows]) * weight[rows].unsqueeze(-1))
        return x + out.view(x.shape)


def stacked(mixture):
    model = nn.Sequential(nn.Linear(8, 16), mixture(), nn.LayerNorm(16), mixture(), nn.Linear(16, 5))
    return shaken(model), reals(6, 8)


CASES = {
    "mixtral": lambda: mixtral("batched_mm"),
    "mixtral-bf16": lambda: mixtral("grouped_mm", dtype=torch.bfloat16),
    "moe-dense": lambda: stacked(DenseMixture),
    "moe-sparse": lambda: stacked(SparseMixture),
}
