"""Inputs and initial values, the same in each run."""
import torch
from initial_values import moved

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
    return moved(module, seed).train()
