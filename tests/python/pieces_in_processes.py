#!/usr/bin/env python3
"""Compares layers in pieces with tensor parallelism in processes, which torch's gloo connects.

    pieces_in_processes.py PROBE

GPT-2 as Megatron divides it (Shoeybi et al. 2019): two processes, each with half of the tokens, heads and features, and an
all-reduce behind each map: with two terms in it what the head gets is equal bit for bit, whatever the order is; loss and
gradients are near. Llama by torch.distributed.tensor.parallel, as its documentation divides it, in two and four processes.
Exits with 77 where transformers is not installed."""

import os
import subprocess
import sys

from checks import in_a_folder, program_and_cases, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch_of_build
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    import transformers
    from initial_values import moved
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()
VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 37, 24, 4, 2, 12, 4
GRADIENTS, LOSS = 1e-5, 1e-6  # relative


def joined(rank, pieces, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting-{pieces}", rank=rank, world_size=pieces)


class Onward(torch.autograd.Function):
    """Megatron's f: each process has the whole input; their gradients are added."""
    @staticmethod
    def forward(_, x):
        return x.view_as(x)

    @staticmethod
    def backward(_, gradient):
        gradient = gradient.contiguous().clone()
        dist.all_reduce(gradient)
        return gradient


class Sum(torch.autograd.Function):
    """Megatron's g: terms are added, and each gets the gradient. The first process adds x to its own before."""
    @staticmethod
    def forward(_, x, term):
        total = x + term if dist.get_rank() == 0 else term.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(_, gradient):
        return gradient, gradient


def part(tensor, dimension):
    """Of this process; a row of n things is divided as Hydra does."""
    n, of, rank = tensor.shape[dimension], dist.get_world_size(), dist.get_rank()
    return tensor.narrow(dimension, n * rank // of, n * (rank + 1) // of - n * rank // of).contiguous()


def parts(tensor, dimension, segments):
    return torch.cat([part(t, dimension) for t in tensor.chunk(segments, dimension)], dimension).contiguous()


class MegatronGpt2:
    """Its share of the weights, by the names of the checkpoint."""

    def __init__(self, weights):
        self.w = {}
        for name, tensor in weights.items():
            if name.endswith(("c_attn.weight", "c_attn.bias")):
                tensor = parts(tensor, -1, 3)
            elif name.endswith(("c_fc.weight", "c_fc.bias")):
                tensor = part(tensor, tensor.dim() - 1)
            elif name.endswith("c_proj.weight") or name.endswith("wte.weight"):
                tensor = part(tensor, 0)
            self.w[name] = tensor.clone().requires_grad_(True)

    def map(self, x, name, biased=True):
        w, rows = self.w[f"transformer.{name}.weight"], x.reshape(-1, x.shape[-1])
        y = torch.addmm(self.w[f"transformer.{name}.bias"], rows, w) if biased else rows @ w
        return y.view(*x.shape[:-1], -1)

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w[f"transformer.{name}.weight"], self.w[f"transformer.{name}.bias"], 1e-5)

    def rows(self):
        n, of, rank = VOCABULARY, dist.get_world_size(), dist.get_rank()
        return n * rank // of, n * (rank + 1) // of

    def embedded(self, ids):
        first, past = self.rows()
        own = (ids >= first) & (ids < past)
        table = self.w["transformer.wte.weight"]
        term = F.embedding((ids - first).clamp(0, past - first - 1), table) * own.unsqueeze(-1)
        if dist.get_rank() == 0:
            term = term + self.w["transformer.wpe.weight"][:ids.shape[1]]
        return Sum.apply(torch.zeros_like(term), term)

    def attention(self, x, i):
        q, k, v = self.map(x, f"h.{i}.attn.c_attn").chunk(3, -1)
        split = lambda t: t.view(*t.shape[:2], HEADS // dist.get_world_size(), -1).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=True).transpose(1, 2).reshape(q.shape)
        return self.map(mixed, f"h.{i}.attn.c_proj", dist.get_rank() == 0)

    def mlp(self, x, i):
        hidden = F.gelu(self.map(x, f"h.{i}.mlp.c_fc"), approximate="tanh")
        return self.map(hidden, f"h.{i}.mlp.c_proj", dist.get_rank() == 0)

    def hidden(self, ids):
        x = self.embedded(ids)
        for i in range(LAYERS):
            x = Sum.apply(x, self.attention(Onward.apply(self.norm(x, f"h.{i}.ln_1")), i))
            x = Sum.apply(x, self.mlp(Onward.apply(self.norm(x, f"h.{i}.ln_2")), i))
        return x

    def loss(self, x, targets):
        """Megatron's vocabulary-parallel cross entropy, the mean over the targets."""
        first, past = self.rows()
        logits = Onward.apply(self.norm(x, "ln_f")) @ self.w["transformer.wte.weight"].t()
        largest = logits.detach().max(-1).values
        dist.all_reduce(largest, dist.ReduceOp.MAX)
        zero = torch.zeros_like(largest)
        total = Sum.apply(zero, (logits - largest.unsqueeze(-1)).exp().sum(-1))
        own = (targets >= first) & (targets < past)
        place = (targets - first).clamp(0, past - first - 1).unsqueeze(-1)
        of_target = Sum.apply(zero, logits.gather(-1, place).squeeze(-1) * own)
        return (largest + total.log() - of_target).mean()

    def gradients(self):
        """Whole, by the names of the checkpoint. What all processes have is the same in each of them."""
        whole = {}
        for name, w in sorted(self.w.items()):
            gathered = [None] * dist.get_world_size()
            dist.all_gather_object(gathered, torch.zeros_like(w) if w.grad is None else w.grad)
            if name.endswith(("c_attn.weight", "c_attn.bias")):
                thirds = [g.chunk(3, -1) for g in gathered]
                whole[name] = torch.cat([torch.cat([t[i] for t in thirds], -1) for i in range(3)], -1)
            elif name.endswith(("c_fc.weight", "c_fc.bias")):
                whole[name] = torch.cat(gathered, -1)
            elif name.endswith("c_proj.weight") or name.endswith("wte.weight"):
                whole[name] = torch.cat(gathered, 0)
            else:  # all have it, or the first one
                whole[name] = gathered[0]
        return whole


def megatron(rank, pieces, folder):
    joined(rank, pieces, folder)
    model = MegatronGpt2(load_file(f"{folder}/checkpoint/model.safetensors"))
    samples = load_file(f"{folder}/inputs.safetensors")
    hidden = model.hidden(samples["input"])
    loss = model.loss(hidden, samples["target"])
    loss.backward()
    gradients = model.gradients()
    if rank == 0:
        save_file({"hidden": hidden.detach().contiguous(), "loss": loss.detach().reshape(1)} |
                  {f"gradient.{n}": g.contiguous() for n, g in gradients.items()}, f"{folder}/theirs-{pieces}.safetensors")
    dist.barrier()
    dist.destroy_process_group()


def by_torch(rank, pieces, folder):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    joined(rank, pieces, folder)
    model = transformers.LlamaForCausalLM.from_pretrained(f"{folder}/checkpoint", attn_implementation="sdpa").train()
    plan = {**{f"self_attn.{m}_proj": ColwiseParallel() for m in "qkv"}, "self_attn.o_proj": RowwiseParallel(),
            "mlp.gate_proj": ColwiseParallel(), "mlp.up_proj": ColwiseParallel(), "mlp.down_proj": RowwiseParallel()}
    mesh = init_device_mesh("cpu", (pieces,))
    for layer in model.model.layers:
        parallelize_module(layer, mesh, plan)
    samples = load_file(f"{folder}/inputs.safetensors")
    logits = model(input_ids=samples["input"]).logits
    loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), samples["target"].reshape(-1))
    loss.backward()
    whole = lambda g: g.full_tensor() if hasattr(g, "full_tensor") else g
    gradients = {f"gradient.{n}": whole(p.grad).contiguous() for n, p in model.named_parameters()}
    if rank == 0:
        save_file({"loss": loss.detach().reshape(1)} | gradients, f"{folder}/theirs-{pieces}.safetensors")
    dist.barrier()
    dist.destroy_process_group()


def write(model, folder):
    generator = torch.Generator().manual_seed(5)
    ids = torch.randint(VOCABULARY, (BATCH, CONTEXT + 1), generator=generator)
    moved(model, 7).float().save_pretrained(folder / "checkpoint")
    save_file({"input": ids[:, :-1].contiguous(), "target": ids[:, 1:].contiguous()}, folder / "inputs.safetensors")


def difference(found, expected, scale=None):
    scale = max(expected.abs().max().item(), 1e-30) if scale is None else scale
    return (found.double() - expected.double()).abs().max().item() / scale


def compare(probe, worker, pieces, folder, equal):
    torch.multiprocessing.spawn(worker, (pieces, str(folder)), nprocs=pieces)
    theirs = load_file(folder / f"theirs-{pieces}.safetensors")
    done = subprocess.run([probe, folder / "checkpoint", folder / "inputs.safetensors", folder / f"ours-{pieces}", "--batch-size",
                           str(BATCH), "--pieces", str(pieces)], capture_output=True, text=True)
    require(done.returncode == 0, done.stderr)
    ours = load_file(folder / f"ours-{pieces}" / "results.safetensors")
    if equal:
        require(torch.equal(ours["hidden"], theirs["hidden"]), "what the head gets is not equal bit for bit")
    loss = difference(ours["loss"], theirs["loss"])
    require(loss <= LOSS, f"the losses differ by {loss:.1e}")
    names = {n for n in theirs if n.startswith("gradient.")}
    require(names == {n for n in ours if n.startswith("gradient.")}, "other parameters have gradients")
    largest = max(theirs[n].abs().max().item() for n in names)
    worst = max((difference(ours[n], theirs[n], max(theirs[n].abs().max().item(), 1e-2 * largest)), n) for n in names)
    require(worst[0] <= GRADIENTS, f"{worst[1]} differs by {worst[0]:.1e}")
    return f"loss {loss:.1e}, gradients {worst[0]:.1e}"


def gpt2(probe, folder):
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=16, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, resid_pdrop=0.0,
                                     embd_pdrop=0.0, attn_pdrop=0.0)
    write(transformers.GPT2LMHeadModel(config), folder)
    return f"{compare(probe, megatron, 2, folder, True)}; in 4: {compare(probe, megatron, 4, folder, False)}"


def llama(probe, folder):
    config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=LAYERS,
                                      num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=64)
    write(transformers.LlamaForCausalLM(config), folder)
    return f"{compare(probe, by_torch, 2, folder, False)}; in 4: {compare(probe, by_torch, 4, folder, False)}"


if __name__ == "__main__":
    torch.manual_seed(11)
    probe, _ = program_and_cases(__doc__, "PROBE")
    sys.exit(run_checks({"GPT-2 as Megatron divides it": in_a_folder(gpt2, probe),
                         "Llama by torch.distributed": in_a_folder(llama, probe)}))
