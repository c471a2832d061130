"""What authors do in forward(): recurrence, dropout, statistics, changes in place, checkpoints, parametrizations, adapters."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from hydra_export import Export

from .data import reals, shaken, tokens


class Mixed(nn.Module):
    """Dropout, a batch norm, and changes in place of values and of slices."""

    def __init__(self, p):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 5)
        self.middle, self.drop = nn.Linear(16, 16), nn.Dropout(p)

    def forward(self, x):
        y = F.relu_(self.norm(self.first(x)))
        y = self.drop(self.middle(y))
        y[:, :2] *= 3
        y[:, 3] = 0
        y.add_(1)
        return self.last(self.drop(y.masked_fill_(y > 4, 0.5)))


class LastState(nn.Module):
    """A classifier by the last state of an LSTM."""

    def __init__(self):
        super().__init__()
        self.embed, self.body, self.last = nn.Embedding(37, 8), nn.LSTM(8, 12, num_layers=2, batch_first=True), nn.Linear(12, 5)

    def forward(self, ids):
        _, (state, _) = self.body(self.embed(ids))
        return self.last(state[-1])


class Recurrent(nn.Module):
    """Two recurrent layers and what they end with."""

    def __init__(self, kind):
        super().__init__()
        self.embed = nn.Embedding(37, 12)
        self.one, self.two = kind(12, 16, batch_first=True), kind(16, 16, batch_first=True, bidirectional=True)
        self.last = nn.Linear(32, 5)

    def forward(self, ids):
        return self.last(self.two(self.one(self.embed(ids))[0])[0][:, -1])


class Unrolled(nn.Module):
    """A cell in a loop over the tokens."""

    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.last = nn.Embedding(37, 12), nn.GRUCell(12, 16), nn.Linear(16, 5)

    def forward(self, ids):
        state = torch.zeros(ids.shape[0], 16)
        for token in self.embed(ids).unbind(1):
            state = self.cell(token, state)
        return self.last(state)


class Encoder(nn.Module):
    """PyTorch's own transformer, with a causal mask."""

    def __init__(self, dropout=0.0):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout, batch_first=True)
        self.embed, self.last = nn.Embedding(37, 16), nn.Linear(16, 5)
        self.body = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.last(self.body(self.embed(ids), mask, is_causal=True))


class Checkpointed(nn.Module):
    """Computes its blocks again in backward."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)) for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = x + checkpoint(block, x, use_reentrant=False)
        return x


class PartlyWithoutGradient(nn.Module):
    """A part runs under torch.no_grad(), another one's result is detached."""

    def __init__(self):
        super().__init__()
        self.teacher, self.one, self.two, self.last = (nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x).tanh()
        y = self.one(x)
        return self.last(F.gelu(self.two(y)) * target + y.detach().sigmoid())


class Normalized(nn.Module):
    """Weights that are computed from parameters."""

    def __init__(self):
        super().__init__()
        self.one, self.two = parametrizations.weight_norm(nn.Linear(8, 16)), parametrizations.weight_norm(nn.Linear(16, 5))

    def forward(self, x):
        return self.two(F.gelu(self.one(x)))


class Adapted(nn.Module):
    """A frozen linear map and what is added to it."""

    def __init__(self, inside, outside, rank=2):
        super().__init__()
        self.base = nn.Linear(inside, outside).requires_grad_(False)
        self.a, self.b = nn.Linear(inside, rank, bias=False), nn.Linear(rank, outside, bias=False)

    def forward(self, x):
        return self.base(x) + 0.5 * self.b(self.a(x))


class SharedTwice(nn.Module):
    """One matrix in four layers: gradients are added in PyTorch's order, from the last use to the first."""

    def __init__(self):
        super().__init__()
        self.shared, self.norm, self.embed = nn.Linear(16, 16), nn.LayerNorm(16), nn.Embedding(37, 16)

    def forward(self, ids):
        x = self.embed(ids)
        for _ in range(4):
            x = x + F.gelu(self.norm(self.shared(x)))
        return F.linear(x, self.embed.weight)


class WrittenLater(nn.Module):
    """The fewest bytes cross where a value is still to be changed in place, and no cut may be there."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = nn.Linear(8, 4), nn.Linear(32, 8), nn.Linear(8, 5)

    def forward(self, x):
        y = self.one(x)
        wide = y.repeat(1, 8)
        y.mul_(2)
        return self.three(F.gelu(self.two(wide * y.repeat(1, 8))))


class MaskInPlace(nn.Module):
    """A mask that is made by changes in place, of sizes alone, in each layer anew."""

    def __init__(self):
        super().__init__()
        self.embed, self.maps = nn.Embedding(37, 16), nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, ids):
        mask = torch.ones(ids.shape[1], ids.shape[1])
        mask.triu_(1)
        mask[:, -1] = 0.5
        mask.mul_(-1e4)
        x = self.embed(ids)
        for each in self.maps:
            x = x + (x @ each(x).transpose(1, 2) / 16 + mask).softmax(-1) @ x
        return x


class Filled(nn.Module):
    """Zeros become results by changes in place; what reads them depends on parameters, though what made them does not."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = nn.Linear(8, 4), nn.Linear(6, 6), nn.Linear(6, 5)

    def forward(self, x):
        out = torch.zeros(x.shape[0], 6)
        out[:, 4:] = x[:, :2]
        out[:, :4] = self.one(x)
        return self.three(self.two(out.sigmoid()).tanh() * out)


class CarriedAsMade(nn.Module):
    """All layers need of a long input one number for each sample, which is carried instead of the input."""

    def __init__(self):
        super().__init__()
        self.embed, self.maps = nn.EmbeddingBag(37, 16), nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, ids):
        counts = (ids > 5).sum(1, keepdim=True).float() / ids.shape[1]
        x = self.embed(ids)
        for each in self.maps:
            x = F.gelu(each(x)) * counts
        return x


class PartOfResult(nn.Module):
    """Returns a view of what it computes: the last token's first numbers."""

    def __init__(self):
        super().__init__()
        self.embed, self.one, self.two = nn.Embedding(37, 16), nn.Linear(16, 16), nn.Linear(16, 8)

    def forward(self, ids):
        return self.two(F.gelu(self.one(self.embed(ids))))[:, -1, :5]


class Keywords(nn.Module):
    """Inputs of three kinds: by position, fixed, and by a name that forward() does not list."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 5)

    def forward(self, x, scale=1.0, scaled=False, **more):
        y = self.one(x) * more["weights"]
        return self.two(F.gelu(y * scale if scaled else y))


class Scored(nn.Module):
    """A loss inside of the module, over targets that are an input."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 5))

    def forward(self, x, target):
        return F.cross_entropy(self.body(x), target, reduction="sum")


class Grouped(nn.Module):
    """Norms without statistics, of groups and of instances, a frozen batch norm, and convolutions in one dimension."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = (nn.Conv1d(4, 4, 3, padding=1) for _ in range(3))
        self.group, self.instance, self.fixed = nn.GroupNorm(2, 4), nn.InstanceNorm1d(4, affine=True), nn.BatchNorm1d(4)

    def train(self, mode=True):
        super().train(mode)
        self.fixed.eval()
        return self

    def forward(self, x):
        return self.three(self.fixed(self.instance(self.two(F.silu(self.group(self.one(x)))))))


def scored():
    return Export(shaken(Scored()), {"x": reals(8), "target": tokens(5, 1)[:, 0].contiguous()}, loss="sum")


def of_reals(module, *shape):
    return shaken(module), reals(*shape)


CASES = {
    "mixed": lambda: of_reals(Mixed(0.0), 8),
    "mixed-dropout": lambda: of_reals(Mixed(0.2), 8),
    "lstm": lambda: (shaken(Recurrent(nn.LSTM)), tokens(37, 6)),
    "lstm-state": lambda: (shaken(LastState()), tokens(37, 6)),
    "gru": lambda: (shaken(Recurrent(nn.GRU)), tokens(37, 6)),
    "gru-cells": lambda: (shaken(Unrolled()), tokens(37, 6)),
    "encoder": lambda: (shaken(Encoder()), tokens(37)),
    "encoder-dropout": lambda: (shaken(Encoder(0.1)), tokens(37)),
    "checkpoint": lambda: of_reals(Checkpointed(), 8),
    "no-grad": lambda: of_reals(PartlyWithoutGradient(), 8),
    "weight-norm": lambda: of_reals(Normalized(), 8),
    "lora": lambda: of_reals(nn.Sequential(Adapted(8, 16), nn.GELU(), Adapted(16, 16), nn.GELU(), Adapted(16, 5)), 8),
    "shared": lambda: (shaken(SharedTwice()), tokens(37)),
    "written-later": lambda: of_reals(WrittenLater(), 8),
    "mask-in-place": lambda: (shaken(MaskInPlace()), tokens(37)),
    "filled": lambda: of_reals(Filled(), 8),
    "carried-as-made": lambda: (shaken(CarriedAsMade()), tokens(37, 40)),
    "part-of-result": lambda: (shaken(PartOfResult()), tokens(37)),
    "keywords": lambda: (shaken(Keywords()), {"x": reals(8), "scale": 3.0, "scaled": True, "weights": reals(8, seed=4)}),
    "loss-sum": scored,
    "norms": lambda: of_reals(Grouped(), 4, 10),
}
