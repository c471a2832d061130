#!/usr/bin/env python3
"""Does Hydra feed a model what transformers would? Compares the first samples of a workload's training data.

    compare_data.py WORKLOAD [--hydra PROGRAM] [--show N] [--set KEY=VALUE]...

`hydra data` says what Hydra makes of the records; transformers' tokenizer or image processor of the checkpoint reads the same
files. Prints the first difference of each data, or that there is none, and what cannot be compared. Ends with 1 if something
differs. Needs transformers; Pillow for pictures.
"""
import argparse
import csv
import glob
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tomllib

os.environ.setdefault("HF_HUB_OFFLINE", "1")
try:
    import transformers
except ImportError:
    print("compare_data: this Python has no transformers; install it: python3 -m pip install transformers", file=sys.stderr)
    sys.exit(2)

NEAR = 0.02  # of a pixel after scaling: decoders and resizing round otherwise


class Differs(Exception):
    """What differs first."""


class Unknown(Exception):
    """Why something cannot be compared."""


def shown_by(options, keys=()):
    """What `hydra data` says, a list with an object for each data."""
    settings = [part for key in [*options.set, *keys] for part in ("--set", key)]
    done = subprocess.run([options.hydra, "data", options.workload, "--json", "--show", str(options.show), *settings],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"hydra data: {done.stderr.strip()}")
    return json.loads(done.stdout)


def opened(path):
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8", newline="")


def records_of(data, folder):
    """The training records in the order of the files."""
    patterns = data["train"] if isinstance(data["train"], list) else [data["train"]]
    for file in (f for p in patterns for f in sorted(glob.glob(str(folder / p)))):
        with opened(pathlib.Path(file)) as lines:
            if data["kind"] == "csv":
                yield from csv.DictReader(lines, delimiter={"tab": "\t"}.get(data.get("separator"), data.get("separator", ",")))
            else:
                yield from (json.loads(line) for line in lines if line.strip())


def require_same(where, what, found, expected):
    for i, (mine, theirs) in enumerate(zip(found, expected)):
        if mine != theirs:
            raise Differs(f"{where}: {what} {i} is {mine!r}, in transformers {theirs!r}")
    if len(found) != len(expected):
        raise Differs(f"{where}: {len(found)} {what}s, in transformers {len(expected)}")


class Texts:
    """Samples of text. `folder`: of the tokenizer."""

    def __init__(self, data, model, folder):
        self.data, self.words = data, transformers.AutoTokenizer.from_pretrained(folder)
        self.config = json.loads((model / "config.json").read_text()) if model else {}

    def expected(self, record, room):
        """Ids, and which of them are taught (None: not compared)."""
        if self.data["kind"] == "chat":
            if not self.words.chat_template:
                raise Unknown("the tokenizer's folder has no template of conversations")
            return self.words.apply_chat_template(record["messages"], tokenize=True, return_dict=True)["input_ids"], None
        if "label" in self.data or "target" in self.data:
            return self.words(record[self.data.get("text", "text")], truncation=True, max_length=room)["input_ids"], None
        if "prompt" not in self.data:
            return self.words(record[self.data.get("text", "text")])["input_ids"], None
        prompt, answer = record[self.data["prompt"]], record[self.data["answer"]]
        made = self.words(prompt + answer, return_offsets_mapping=True, return_special_tokens_mask=True)
        taught = [end > len(prompt) and not special
                  for (_, end), special in zip(made["offset_mapping"], made["special_tokens_mask"])]
        return made["input_ids"], taught

    def compare(self, where, sample, record):
        tokens = sample["tokens"]
        ids, taught = self.expected(record, len(tokens) + sample["padding"])
        found = [t["id"] for t in tokens]
        if found and found[-1] == self.words.eos_token_id and ids[-1:] != found[-1:] and "label" not in sample:
            found.pop()  # what ends a text is taught
        names = self.words.convert_ids_to_tokens
        require_same(where, "token", list(zip(found, names(found))), list(zip(ids, names(ids))))
        if taught:
            require_same(where, "loss of token", [t["taught"] for t in tokens[:len(ids)]], taught)
        if "label" in sample:
            self.compare_label(where, sample, str(record[self.data.get("label", self.data.get("target"))]))

    def compare_label(self, where, sample, name):
        compare_label(where, sample, name, self.config)


def compare_label(where, sample, name, config):
    known = {str(k): v for k, v in config.get("label2id", {}).items()}
    if name in known and known[name] != sample["label"]:
        raise Differs(f'{where}: "{name}" is class {sample["label"]}, in the checkpoint {known[name]}')


class Pictures:
    """Samples of pictures, in the order of their folders and names."""

    def __init__(self, data, model, folder):
        if model is None or not (model / "preprocessor_config.json").exists():
            raise Unknown("there is no preprocessor_config.json")
        self.processor = transformers.AutoImageProcessor.from_pretrained(model, use_fast=False)
        self.config = json.loads((model / "config.json").read_text())
        self.files = sorted(p for p in (folder / data["train"]).glob("*/*") if p.is_file())

    def compare(self, where, sample, file):
        from transformers.image_utils import load_image  # pylint: disable=import-outside-toplevel
        try:
            picture = load_image(str(file))
        except OSError as e:
            raise Unknown(f"{file}: {e}") from None
        made = self.processor(picture, return_tensors="np")["pixel_values"][0].ravel()
        if len(made) != len(sample["numbers"]):
            raise Differs(f"{where}: {sample['input']}, in transformers {len(made)} numbers")
        worst = max(range(len(made)), key=lambda i: abs(made[i] - sample["numbers"][i]))
        if abs(made[worst] - sample["numbers"][worst]) > NEAR:
            raise Differs(f"{where} ({file.name}): number {worst} is {sample['numbers'][worst]:.4f}, in transformers "
                          f"{made[worst]:.4f}")
        compare_label(where, sample, file.parent.name, self.config)


def folder_of(path):
    return path if path.is_dir() else path.parent


def comparison(shown, workload, folder):
    """What compares a sample with its record, and the records."""
    data = workload["data"][shown["data"]]
    model = next(m for m in workload["model"] if any(n == m["name"] or n.startswith(m["name"]) for n in shown["models"]))
    start = model["chain"].get("from")
    start = folder / start if start else None
    if data["kind"] == "images":
        made = Pictures(data, start, folder)
        return made, made.files
    if data["kind"] not in ("jsonl", "chat", "csv") or (data["kind"] == "csv" and "text" not in data):
        raise Unknown(f'data of kind = "{data["kind"]}" have no counterpart in transformers')
    named = data.get("tokenizer")
    if named == "bytes" or (named is None and start is None):
        raise Unknown("every byte is a token")
    words = folder_of(folder / (named["file"] if "file" in named else named["vocab"])) if named else start
    return Texts(data, start, words), records_of(data, folder)


def compare(shown, workload, folder):
    against, records = comparison(shown, workload, folder)
    compared = 0
    for sample, record in zip(shown["samples"], records):
        against.compare(f"sample {sample['index']}", sample, record)
        compared += 1
    return f"{compared} samples are those of transformers"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("workload")
    arguments.add_argument("--hydra", default="hydra")
    arguments.add_argument("--show", type=int, default=20, metavar="N")
    arguments.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = arguments.parse_args()
    path = pathlib.Path(options.workload)
    workload = tomllib.loads(path.read_text(encoding="utf-8"))
    one_by_one = [f"data.{name}.packing=false" for name, d in workload["data"].items() if d["kind"] in ("jsonl", "chat")]
    one_by_one += [f"data.{name}.validation_share=0" for name, d in workload["data"].items() if "validation_share" in d]
    failed = False
    for shown in shown_by(options, one_by_one):
        try:
            found = compare(shown, workload, path.parent)
        except Differs as e:
            found, failed = f"DIFFERS: {e}", True
        except Unknown as e:
            found = f"not compared: {e}"
        print(f"{shown['data']} ({', '.join(shown['models'])}): {found}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
