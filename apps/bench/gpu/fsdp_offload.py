#!/usr/bin/env python3
"""The other way to train models that do not fit: PyTorch's FSDP2 with CPU offload, in one process.

torch.distributed.fsdp.fully_shard on each block with CPUOffloadPolicy (pinned): fp32 parameters, gradients and AdamW's moments
in host memory, bf16 on the GPU while a block is visited, the fused AdamW of the CPU. Gradients stay on the device until the
last micro-batch of a step, which is FSDP's fastest way to accumulate. --device cpu runs the same loop without offload, only to
try this script. Prints a line of JSON.
"""
import os

import torch
import torch.distributed as distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.nn.attention import SDPBackend, sdpa_kernel

import llama
import training
from shapes import SHAPES


def shard(model, device):
    how = {"mesh": init_device_mesh(device, (1,)),
           "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    if device == "cuda":
        how["offload_policy"] = CPUOffloadPolicy(pin_memory=True)
    for block in model.blocks:
        fully_shard(block, **how)
    fully_shard(model, **how)


def attempt(a, micro_batch):
    shape = SHAPES[a.shape]
    model = llama.build(shape, a.checkpointing, "cpu", torch.float32)
    shard(model, a.device)
    rule = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    parts = a.tokens // shape.context // micro_batch
    batches = [llama.batch(shape, micro_batch, a.device, seed) for seed in range(min(parts, 4))]

    def step(i):
        for k in range(parts):
            model.set_requires_gradient_sync(k + 1 == parts)
            loss = model(*batches[k % len(batches)]) / parts
            loss.backward()
        rule.step()
        rule.zero_grad()
        return loss.detach() * parts

    return training.timed(step, a)


def main():
    a = training.options(__doc__)
    if a.device == "cuda":
        torch.cuda.set_device(0)
    for library in ("GLOO", "NCCL"):
        os.environ.setdefault(f"{library}_SOCKET_IFNAME", "lo")  # one process: no other interface has to be there
    distributed.init_process_group("cpu:gloo,cuda:nccl" if a.device == "cuda" else "gloo", store=distributed.HashStore(), rank=0,
                                   world_size=1)
    allowed = [SDPBackend.FLASH_ATTENTION] if a.device == "cuda" else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
    with sdpa_kernel(allowed):
        training.tell(a, *training.fitting(lambda size: attempt(a, size), a),
                      "bf16 on the device, fp32 masters and moments on the host")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
