"""Data parallel replicas whose samples have different numbers of tokens

Reports: huggingface/transformers#35078, #35438, mosaicml/composer#3273: the mean over devices of the mean over tokens
weighs tokens of short answers more.
Right: the step of the whole batch, whatever the number of replicas.
Passes: first loss, and loss of `hydra evaluate run --json`, of three models.
"""
import torch

from inputs import MODEL, RECORDS, answer, llama_of_words, loss_of, mean, write_jsonl
from outputs import near, reported, show

WORKLOAD = '\n[[device]]\nkind = "cpu"\nmemory = "64MiB"\ncount = 2\n' + RECORDS + """prompt = "question"
answer = "answer"
shuffle = false
""" + "".join(MODEL.replace('"m"', f'"replicas{n}"').replace("context = 32", "context = 64").replace("size = 2", "size = 4")
              .replace("0.1", "0.5") + f"micro_batches = 4\nparallel = {{ replicas = {n} }}\n" for n in (1, 2, 4))
QA = [("the cat", " sat"), ("a dog", " ran to the red house by the sea where two small birds sing of rain"),
      ("is rain red?", " no"), ("four plus two?", " equals six yes")]


def step(model, samples):
    """Of SGD on all of them. Its loss."""
    total = 0
    for ids, labels in samples:
        logits = model(input_ids=torch.tensor([ids])).logits[0, :-1]
        total += torch.nn.functional.cross_entropy(logits, torch.tensor(labels[1:]), ignore_index=-100, reduction="sum")
    loss = total / sum(x != -100 for _, labels in samples for x in labels[1:])
    loss.backward()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    return float(loss.detach())


def case(hydra):
    t, model = llama_of_words(spread=0.1)
    write_jsonl("data.jsonl", [{"question": q, "answer": a} for q, a in QA])
    samples = [answer(t.encode(q).ids, t.encode(a).ids + [0]) for q, a in QA]
    first, after = step(model, samples), mean([loss_of(model, *s) for s in samples])
    hydra.train()
    evaluated = hydra("evaluate run --json")
    for name in ("replicas1", "replicas2", "replicas4"):
        losses, then = reported("run", name=name), evaluated.value(name)
        yield (losses and near(losses[0], first, 1e-5) and near(then, after, 1e-5), f"{name} {losses} then {show(then)}",
               f"{show(first)} then {show(after)}")
