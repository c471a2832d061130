"""The measured models in plain PyTorch: the same layers and sizes as Hydra's family "llama"."""
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


def rotary_tables(context, size, device):
    """cos and sin of each position, [context, size]; angles as Llama's, in fp32."""
    frequencies = 10000.0 ** (-torch.arange(0, size, 2, device=device, dtype=torch.float32) / size)
    angles = torch.outer(torch.arange(context, device=device, dtype=torch.float32), frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, tables):
    cos, sin = (t.to(x.dtype) for t in tables)
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads = shape.heads
        self.before, self.between = (nn.RMSNorm(shape.width, eps=1e-5) for _ in range(2))
        self.q, self.k, self.v, self.o = (nn.Linear(shape.width, shape.width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(shape.width, shape.hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x, cos, sin):
        y = self.before(x)
        q, k, v = (p(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        mixed = functional.scaled_dot_product_attention(rotate(q, (cos, sin)), rotate(k, (cos, sin)), v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).flatten(2))
        y = self.between(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Mean loss of a micro-batch; with `recompute` only the inputs of blocks are kept for backward."""

    def __init__(self, shape, recompute):
        super().__init__()
        self.shape, self.recompute = shape, recompute
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=1e-5)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)

    def forward(self, ids, targets):
        cos, sin = rotary_tables(ids.shape[1], self.shape.width // self.shape.heads, ids.device)
        x = self.embedding(ids)
        for block in self.blocks:
            x = checkpoint(block, x, cos, sin, use_reentrant=False) if self.recompute else block(x, cos, sin)
        logits = self.head(self.norm(x)).flatten(0, 1).float()
        return functional.cross_entropy(logits, targets.flatten())


def build(shape, recompute, device, dtype):
    """Parameters of that type on that device, with small random values: a pattern, because speed does not depend on them and
    drawing billions of them on a processor takes minutes."""
    with torch.device("meta"):
        model = Llama(shape, recompute).to(dtype)
    model.to_empty(device=device)
    pattern = (torch.randn(1_000_003, generator=torch.Generator().manual_seed(1)) * 0.02).to(device=device, dtype=dtype)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.fill_(1)
                continue
            flat = p.view(-1)
            for begin in range(0, flat.numel(), pattern.numel()):
                part = flat[begin:begin + pattern.numel()]
                part.copy_(pattern[:part.numel()])
    return model


def batch(shape, samples, device, seed):
    """Ids and targets: random tokens."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(shape.vocabulary, (samples, shape.context + 1), generator=generator).to(device)
    return ids[:, :-1], ids[:, 1:]
