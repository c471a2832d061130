"""The module itself, run as its author runs it, with dropout taken out: what an export is compared with."""
import contextlib
import sys

import torch
from torch.nn import functional

from .eager_ways import Patches
from .results import chosen_result
from .run_calls import PlainDropout
from .step import Step

ATTENTION = functional.scaled_dot_product_attention


class NoDropout:
    """Stands for functions that drop. drawn: how often they would have."""
    def __init__(self):
        self.drawn = 0

    def dropout(self, input, p=0.5, training=True, inplace=False):  # pylint: disable=redefined-builtin,unused-argument
        drops = training and p > 0
        self.drawn += drops
        return PlainDropout.apply(input) if drops else input

    def attention(self, query, key, value, attn_mask=None, dropout_p=0.0, *arguments, **named):
        self.drawn += dropout_p > 0
        return ATTENTION(query, key, value, attn_mask, 0.0, *arguments, **named)


def heeding_masks(is_ignored):
    """transformers leaves out a padding mask that happens to have no padding, and takes other kernels then: a branch on values.
    The graph always applies the mask that it is given."""
    def given_mask(padding_mask, *arguments, **named):
        return padding_mask is None and is_ignored(padding_mask, *arguments, **named)
    return given_mask


@contextlib.contextmanager
def as_exported():
    """Within it, modules drop nothing and apply all masks. Yields a NoDropout."""
    patches, masks, plain = Patches(), sys.modules.get("transformers.masking_utils"), NoDropout()
    try:
        patches.put(functional, "dropout", plain.dropout)
        patches.put(torch, "dropout", plain.dropout)
        patches.put(functional, "scaled_dot_product_attention", plain.attention)
        for name in ("_ignore_causal_mask_sdpa", "_ignore_bidirectional_mask_sdpa"):
            if hasattr(masks, name):
                patches.put(masks, name, heeding_masks(getattr(masks, name)))
        yield plain
    finally:
        patches.undo()


@contextlib.contextmanager
def kept_state(module):
    """Leaves no trace in buffers, gradients and modes."""
    buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]
    modes = [(part, part.training) for part in module.modules()]
    gradients = [(parameter, parameter.grad) for parameter in module.parameters()]
    try:
        for parameter, _ in gradients:
            parameter.grad = None
        yield
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
        for part, mode in modes:
            part.training = mode
        for parameter, before in gradients:
            parameter.grad = before


def eager_step(request, inputs, upstream):
    """A Step of the module. inputs: by argument, other values than tensors included."""
    module = request.module
    with kept_state(module), as_exported(), torch.enable_grad():
        output = chosen_result(module(**inputs), request.output)
        output.backward(upstream(output))
        gradients = {name: p.grad for name, p in module.named_parameters() if p.grad is not None}
        statistics = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    return Step(output.detach(), gradients, statistics)


def eager_evaluation(request, inputs):
    """The output, and whether the module would have dropped something although it is in eval()."""
    with kept_state(request.module), as_exported() as plain, torch.enable_grad():
        return chosen_result(request.module.eval()(**inputs), request.output).detach(), plain.drawn > 0
