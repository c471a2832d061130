#!/usr/bin/env python3
"""The baseline: a model that is wholly on the GPU, trained by a plain PyTorch loop.

bf16 parameters and activations, fp32 masters and moments (fused AdamW) and fp32 sums of gradients, as Hydra has them on a CUDA
device; flash attention; micro-batches up to the tokens of a step. With --checkpointing each block's activations are recomputed:
that is what "resident with recompute" is compared with. Prints a line of JSON.
"""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import llama
import training
from shapes import SHAPES


class Trainer:
    """Masters, sums of gradients and the update; gradients are accumulated as soon as they are computed."""

    def __init__(self, model):
        self.parameters = list(model.parameters())
        self.masters = [p.detach().float() for p in self.parameters]
        for p, master in zip(self.parameters, self.masters):
            master.grad = torch.zeros_like(master)
            p.register_post_accumulate_grad_hook(self.adder(master))
        self.rule = torch.optim.AdamW(self.masters, lr=1e-4, weight_decay=0.01, fused=True)

    @staticmethod
    def adder(master):
        def add(p):
            master.grad.add_(p.grad)
            p.grad = None
        return add

    @torch.no_grad()
    def update(self):
        self.rule.step()
        torch._foreach_copy_([p.data for p in self.parameters], self.masters)
        torch._foreach_zero_([m.grad for m in self.masters])


def attempt(a, micro_batch):
    shape = SHAPES[a.shape]
    model = llama.build(shape, a.checkpointing, a.device, torch.bfloat16)
    trainer = Trainer(model)
    parts = a.tokens // shape.context // micro_batch
    batches = [llama.batch(shape, micro_batch, a.device, seed) for seed in range(min(parts, 4))]

    def step(i):
        for k in range(parts):
            loss = model(*batches[k % len(batches)]) / parts
            loss.backward()
        trainer.update()
        return loss.detach() * parts

    return training.timed(step, a)


def main():
    a = training.options(__doc__)
    allowed = [SDPBackend.FLASH_ATTENTION] if a.device == "cuda" else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
    with sdpa_kernel(allowed):
        training.tell(a, *training.fitting(lambda size: attempt(a, size), a), "bf16, fp32 masters, moments and sums of gradients")


if __name__ == "__main__":
    main()
