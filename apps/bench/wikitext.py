#!/usr/bin/env python3
"""A small GPT-2 on WikiText-2, trained by Hydra (spilled) and by a plain PyTorch loop: perplexity and speed of both.

    apps/bench/wikitext.py HYDRA DATA [--steps N] [--only bytes|gpt2]

HYDRA: the program; DATA: the folder that has wikitext-2/{test,valid}.txt and gpt2-tokenizer/{vocab.json,merges.txt}. Both
start from the same random checkpoint, which transformers makes, and see the same batches in the same order: bytes, then
GPT-2's tokens. Trained on test.txt, validated on valid.txt. One thread each, one after the other. Needs torch and transformers.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
import numpy
import torch
import transformers
from transformers import GPT2Config, GPT2LMHeadModel

torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()

KINDS = {
    "bytes": dict(vocabulary=256, layers=4, width=128, heads=4, context=128, batch=16, validation=24, memory="18MiB"),
    "gpt2": dict(vocabulary=50257, layers=2, width=64, heads=4, context=64, batch=8, validation=24, memory="240MiB"),
}
RATE, CLIP, WARMUP = 1e-3, 1.0, 20

WORKLOAD = """
[run]
name = "{name}"
checkpoint = {{ every_minutes = 0 }}
[[device]]
kind = "cpu"
memory = "{memory}"
[data.text]
kind = "text"
train = "{data}/wikitext-2/test.txt"
validation = "{data}/wikitext-2/valid.txt"
shuffle = false
{tokenizer}
[[model]]
name = "gpt"
chain = {{ from = "{folder}" }}
data = "text"
batch_size = {batch}
micro_batches = 2
steps = {steps}
optimizer = {{ learning_rate = {rate}, clip_norm = {clip} }}
schedule = {{ kind = "cosine", warmup = {warmup} }}
validate = {{ batches = {validation} }}
"""


def make_checkpoint(kind, folder):
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=kind["vocabulary"], n_positions=kind["context"], n_embd=kind["width"], n_layer=kind["layers"],
                        n_head=kind["heads"], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(folder)


def train_by_hydra(name, kind, a, folder, work):
    tokenizer = 'tokenizer = "bytes"' if name == "bytes" else 'tokenizer = {{ vocab = "{0}/vocab.json", merges = "{0}/merges.txt" }}'.format(
        a.data / "gpt2-tokenizer")
    file = work / f"{name}.toml"
    file.write_text(WORKLOAD.format(name=name, data=a.data, tokenizer=tokenizer, folder=folder, steps=a.steps, rate=RATE, clip=CLIP,
                                    warmup=WARMUP, **{k: kind[k] for k in ("batch", "validation", "memory")}))
    run = work / f"run-{name}"
    subprocess.run([a.hydra, "train", file, "--output", run, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    report = json.loads((run / "report.json").read_text())
    model = report["models"][0]
    evaluated = model["validation"][-1]
    return dict(perplexity=evaluated["perplexity"], tokens_per_second=model["tokens"] / model["seconds"],
                losses=model["loss"], shards=len(model["cuts"]))


def ids_of(name, text, a, work):
    if name == "bytes":
        return numpy.frombuffer((a.data / text).read_bytes(), dtype=numpy.uint8).astype(numpy.int64)
    out = work / (pathlib.Path(text).stem + ".bin")
    subprocess.run([a.hydra, "tokenize", a.data / text, "--tokenizer", a.data / "gpt2-tokenizer", "--output", out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return numpy.fromfile(out, dtype=numpy.uint32).astype(numpy.int64)


def windows(ids, context, first, count):
    rows = [ids[i * context:i * context + context + 1] for i in range(first, first + count)]
    batch = torch.from_numpy(numpy.stack(rows))
    return batch[:, :-1], batch[:, 1:]


def loss_of(model, x, y):
    return torch.nn.functional.cross_entropy(model(x).logits.flatten(0, 1), y.flatten())


def train_by_torch(name, kind, a, folder, work):
    model = GPT2LMHeadModel.from_pretrained(folder)
    train, valid = (ids_of(name, f"wikitext-2/{t}.txt", a, work) for t in ("test", "valid"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    rate = lambda step: min(1, (step + 1) / WARMUP) if step < WARMUP else (
        1 + math.cos(math.pi * (step - WARMUP) / (a.steps - 1 - WARMUP))) / 2
    per_epoch = (len(train) - 1) // kind["context"] // kind["batch"]
    losses, began = [], time.perf_counter()
    for step in range(a.steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * rate(step)
        x, y = windows(train, kind["context"], step % per_epoch * kind["batch"], kind["batch"])
        for part in range(2):
            half = slice(part * kind["batch"] // 2, (part + 1) * kind["batch"] // 2)
            loss = loss_of(model, x[half], y[half]) / 2
            loss.backward()
            losses.append(loss.item())
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
    seconds = time.perf_counter() - began
    with torch.no_grad():
        sums = [loss_of(model, *windows(valid, kind["context"], i * kind["batch"], kind["batch"])).item()
                for i in range(kind["validation"])]
    return dict(perplexity=math.exp(sum(sums) / len(sums)), tokens_per_second=a.steps * kind["batch"] * kind["context"] / seconds,
                losses=[a + b for a, b in zip(losses[::2], losses[1::2])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hydra", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--only", choices=KINDS)
    a = parser.parse_args()
    a.hydra, a.data = a.hydra.resolve(), a.data.resolve()
    print("tokens  shards  steps  loss Hydra  loss torch  perplexity Hydra  torch   ratio    tokens/s Hydra  torch")
    for name, kind in KINDS.items():
        if a.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            make_checkpoint(kind, work / "checkpoint")
            h = train_by_hydra(name, kind, a, work / "checkpoint", work)
            t = train_by_torch(name, kind, a, work / "checkpoint", work)
            print(f"{name:6}  {h['shards']:6}  {a.steps:5}  {h['losses'][-1]:10.4f}  {t['losses'][-1]:10.4f}  {h['perplexity']:16.3f}"
                  f"  {t['perplexity']:6.3f}  {h['perplexity'] / t['perplexity']:.5f}  {h['tokens_per_second']:14.0f}"
                  f"  {t['tokens_per_second']:5.0f}", flush=True)


if __name__ == "__main__":
    main()
