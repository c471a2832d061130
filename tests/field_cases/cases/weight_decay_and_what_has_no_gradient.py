"""Decay of matrices alone, clipping, accumulation

Reports: meta-pytorch/torchtune#1977, pytorch/pytorch#148532, axolotl-ai-cloud/axolotl#3058 (open): clipping is missing
or fails with offload.
Right: torch's AdamW with two groups and clip_grad_norm_: validation after 3 steps, norm of the third.
Passes: both, to 1e-5.
"""
import torch

from inputs import MODEL, RECORDS, TEXTS, llama_of_words, loss_of, mean, write_texts
from outputs import near, reported, show

WORKLOAD = RECORDS + "shuffle = false\n" + MODEL.replace("32", "64").replace("size = 2", "size = 4").replace(
    "steps = 1", "steps = 3").replace('kind = "sgd", learning_rate = 0.1', 'kind = "adamw", learning_rate = 0.01, '
                                      'weight_decay = 0.5, decay = "matrices", clip_norm = 0.1') + "micro_batches = 2\n"


def train(model, texts):
    """Three steps. The last norm of the gradient."""
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.5}, {"params": others, "weight_decay": 0.0}], lr=0.01)
    for _ in range(3):
        loss = sum(torch.nn.functional.cross_entropy(model(input_ids=torch.tensor([i])).logits[0, :-1], torch.tensor(i[1:]),
                                                     reduction="sum") for i in texts) / sum(len(i) - 1 for i in texts)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        optimizer.zero_grad()
    return float(norm)


def case(hydra):
    words, model = llama_of_words(spread=0.1)
    write_texts("data.jsonl", [s[:60] for s in TEXTS[:4]])
    texts = [words.encode(s[:60]).ids + [0] for s in TEXTS[:4]]
    last_norm = train(model, texts)
    right = mean([loss_of(model, i) for i in texts])
    ran = hydra.train()
    loss, norm = reported("run", "validation"), reported("run", "grad_norm")
    yield (loss and near(loss[-1]["loss"], right, 1e-5), f"loss {show(loss[-1]['loss']) if loss else ran.brief()}", show(right))
    yield norm and near(norm[-1], last_norm, 1e-5), f"norm {norm[-1:]}", show(last_norm)
