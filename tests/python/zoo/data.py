"""Inputs and initial values, the same in each run."""
import torch

SAMPLES = 4


def generator(seed):
    return torch.Generator().manual_seed(seed)


def tokens(vocabulary, length=12, seed=1):
    """i64[4, length]"""
    return torch.randint(vocabulary, (SAMPLES, length), generator=generator(seed))


def lengths_mask(length=12, seed=2):
    """i64[4, length]: ones, then zeros; some sample has no zero."""
    ends = torch.randint(length // 2, length + 1, (SAMPLES, 1), generator=generator(seed))
    ends[0] = length
    return (torch.arange(length) < ends).long()


def reals(*shape, seed=3):
    """f32[4, *shape], normal"""
    return torch.randn((SAMPLES, *shape), generator=generator(seed))


def shaken(module, seed=7):
    """Moves all parameters and averages away from zeros and ones, which hide mistakes; trains."""
    drawn = generator(seed)
    with torch.no_grad():
        for p in module.parameters():
            p.add_((0.1 * torch.randn(p.shape, generator=drawn)).to(p.dtype))
        for name, b in module.named_buffers():
            if name.endswith("running_mean"):
                b.add_(0.1 * torch.randn(b.shape, generator=drawn))
            if name.endswith("running_var"):
                b.mul_(0.5 + torch.rand(b.shape, generator=drawn))
    return module.train()
