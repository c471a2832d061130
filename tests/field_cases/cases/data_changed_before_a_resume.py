"""Data that changed before a resume; logs after a longer run

Reports: huggingface/accelerate#2016 (open), Lightning-AI/pytorch-lightning#19764 (open), verl-project/verl#7401 (open):
resume skips or repeats data.
Right: a refusal that names the file, also if its size is the same; with more steps and the same file it continues, and
metrics.jsonl and TensorBoard have each step once.
Passes: these four.
"""
import json
import os
import pathlib

from inputs import MODEL, RECORDS, TEXTS, llama_of_words, write_texts
from outputs import attempt

WORKLOAD = "[run]\nseed = 1\ntensorboard = true\n" + RECORDS.replace('validation = "data.jsonl"\n', "") + MODEL.replace(
    "32", "64").replace("size = 2", "size = 4").replace("steps = 1", "steps = 3")


def steps_of_metrics():
    with open("run/metrics.jsonl", encoding="utf-8") as lines:
        return [row["step"] for row in map(json.loads, lines) if "loss" in row]


def steps_of_tensorboard():
    from tensorboard.backend.event_processing import event_file_loader  # pylint: disable=import-outside-toplevel
    return sorted(e.step for f in pathlib.Path("run/tensorboard").glob("*/*")
                  for e in event_file_loader.EventFileLoader(str(f)).Load() for v in e.summary.value if v.tag == "train/loss")


def resume(hydra, steps):
    return hydra(f"train workload.toml --output run --resume --set model.steps={steps}")


def case(hydra):
    llama_of_words()
    write_texts("data.jsonl", TEXTS[:12])
    os.utime("data.jsonl", (1_600_000_000,) * 2)  # long ago: what is changed now has another time
    hydra.train()
    more = resume(hydra, 6)
    six = [1, 2, 3, 4, 5, 6]
    steps, logged = attempt(steps_of_metrics), attempt(steps_of_tensorboard)
    yield more.status == 0 and steps == six, f"steps {steps}", "1 to 6, once each"
    yield logged == six, f"TensorBoard {logged}", "1 to 6, once each"
    write_texts("data.jsonl", TEXTS[:12] + ["one more record"])
    longer = resume(hydra, 9)
    yield longer.refused(r"data\.jsonl"), f"longer file: {longer.brief()}", "a refusal that names the file"
    write_texts("data.jsonl", [TEXTS[0].replace("the", "tha", 1)] + TEXTS[1:12])
    changed = resume(hydra, 9)
    yield changed.refused(r"data\.jsonl"), f"changed file: {changed.brief()}", "a refusal that names the file"
