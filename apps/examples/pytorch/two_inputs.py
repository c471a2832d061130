"""A module with two inputs, and samples for it: the price of a house by its description and numbers about it.

    python3 -m hydra_export two_inputs.py:build --out prices
    python3 two_inputs.py      # writes prices-train.safetensors and prices-validation.safetensors
"""
import torch
from safetensors.torch import save_file
from torch import nn

WORDS, LENGTH, NUMBERS = 500, 24, 6


class Prices(nn.Module):
    def __init__(self, width=64, layers=2):
        super().__init__()
        self.words = nn.Embedding(WORDS, width, padding_idx=0)
        self.place = nn.Parameter(torch.zeros(LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.numbers = nn.Sequential(nn.Linear(NUMBERS, width), nn.GELU(), nn.Linear(width, width))
        self.price = nn.Linear(2 * width, 1)

    def forward(self, description, numbers):
        there = description != 0  # the rest is padding
        read = self.encoder(self.words(description) + self.place, src_key_padding_mask=~there)
        mean = (read * there[..., None]).sum(1) / there.sum(1, keepdim=True)
        return self.price(torch.cat([mean, self.numbers(numbers)], 1))


def build(width=64):
    description = torch.randint(1, WORDS, (4, LENGTH))
    description[:2, 10:] = 0
    return Prices(width), {"description": description, "numbers": torch.randn(4, NUMBERS)}


def samples(count, seed):
    """description i64 [LENGTH], numbers f32 [NUMBERS], price f32 [1]: each word and each number has a value."""
    values = torch.randn(WORDS, generator=torch.Generator().manual_seed(0))
    drawn = torch.Generator().manual_seed(seed)
    description = torch.randint(1, WORDS, (count, LENGTH), generator=drawn)
    there = torch.arange(LENGTH) < torch.randint(4, LENGTH + 1, (count, 1), generator=drawn)
    numbers = torch.randn(count, NUMBERS, generator=drawn)
    price = (values[description] * there).sum(1) / there.sum(1) + numbers[:, 0] * numbers[:, 1]
    return {"description": description * there, "numbers": numbers, "price": price[:, None]}


if __name__ == "__main__":
    save_file(samples(4096, 1), "prices-train.safetensors")
    save_file(samples(512, 2), "prices-validation.safetensors")
