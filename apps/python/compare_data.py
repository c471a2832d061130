#!/usr/bin/env python3
"""Does Hydra feed a model what transformers would? Compares the first samples of a workload's training data.

    compare_data.py WORKLOAD [--hydra PROGRAM] [--show N] [--set KEY=VALUE]...

`hydra data` says what Hydra makes of the records; transformers' tokenizer or image processor of the checkpoint reads the same
files. Prints the first difference of each data, or that there is none, and what cannot be compared. Ends with 1 if something
differs, with 2 if nothing is compared: Hydra refuses the workload, or something is missing. Needs transformers; Pillow for
pictures, jinja2 for conversations.
"""
import argparse
import csv
import glob
import gzip
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib



def refuse(text):
    print(f"compare_data: {text}", file=sys.stderr)
    sys.exit(2)


def refuse_without(error):
    """What is missing says the first of the errors, in its first sentence."""
    while error.__cause__:
        error = error.__cause__
    what = " ".join(str(error).split()).split(". ")[0]
    refuse(f"this Python lacks a package ({what}); install what is needed: python3 -m pip install transformers pillow jinja2")


os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it wants torch and torchvision, which are not needed here
try:
    import transformers
except ImportError as e:
    refuse_without(e)

NEAR = 0.02  # of a pixel after scaling: decoders and resizing round otherwise
PICTURES = {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp", ".gif", ".bmp", ".dib", ".tif", ".tiff"}
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.model")
REQUEST = "Write a response that appropriately completes the request.\n\n### Instruction:\n{instruction}\n\n"
ALPACA = "Below is an instruction that describes a task. " + REQUEST + "### Response:"
ALPACA_INPUT = ("Below is an instruction that describes a task, paired with an input that provides further context. "
                + REQUEST + "### Input:\n{input}\n\n### Response:")
SHAPES = {"alpaca": {"answer": "output"}, "prompt-completion": {"prompt": "prompt", "answer": "completion"}}
LETTERS = 50  # of a token, at most: so much of a text is read


END = object()


class Differs(Exception):
    """What differs first."""


class Unknown(Exception):
    """Why something cannot be compared."""


# -- the workload ----------------------------------------------------------------------------------------------------------


def workload_in(file):
    try:
        return tomllib.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        return refuse(f"{file}: {e}")


def shown_by(options, keys=()):
    """What `hydra data` says, a list with an object for each data."""
    settings = [part for key in [*options.set, *keys] for part in ("--set", key)]
    command = [options.hydra, "data", options.workload, "--json", "--show", str(options.show), *settings]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as e:
        refuse(f"{options.hydra} cannot be run ({e.strerror}); build it and name it: --hydra build/release/bin/hydra")
    if done.returncode != 0:
        refuse(f"hydra data: {done.stderr.strip()}")
    return json.loads(done.stdout)


def set_key(workload, setting):
    """As --set: model.KEY is of all models, model.NAME.KEY of one; the value is TOML or a bare word."""
    path, _, text = setting.partition("=")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    first, *keys = path.split(".")
    if not keys:
        refuse(f"--set {setting}: KEY is TABLE.KEY")
    tables = workload.setdefault(first, {})
    tables = tables if isinstance(tables, list) else [tables]
    if keys[0] in (t.get("name") for t in tables):
        tables, keys = [t for t in tables if t["name"] == keys[0]], keys[1:]
    for table in tables:
        for key in keys[:-1]:
            table = table.setdefault(key, {}) if isinstance(table, dict) else {}
        if isinstance(table, dict):  # else Hydra refuses it
            table[keys[-1]] = value


def model_of(workload, names):
    """The [[model]] of one of these; names of a grid's members have values in place of {KEY}."""
    for model in workload["model"]:
        pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(model["name"]))
        if any(re.fullmatch(pattern, name) for name in names):
            return model
    raise Unknown(f"no [[model]] is named as {names[0]}")


# -- files -----------------------------------------------------------------------------------------------------------------


def opened(path):
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def record_of(line, leave_out):
    """None: it is left out."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        if leave_out:
            return None
        raise


def filled(text, record):
    """A field, or a text with fields in braces, as in a workload. KeyError: one is missing or null."""

    def part(found):
        name = found[1]
        if name is None:
            return found[0][0]
        value = record.get(name.removesuffix("?"))
        if value is None and not name.endswith("?"):
            raise KeyError(name)
        return value or ""
    return re.sub(r"\{\{|\}\}|\{([^{}]+)\}", part, text) if set(text) & set("{}") else record[text]


def texts_of(data, record):
    """Prompt and answer; of records without a prompt "" and the text."""
    data = data | SHAPES.get(data["kind"], {})
    if data["kind"] == "alpaca":
        data["prompt"] = ALPACA_INPUT if record.get("input") else ALPACA
    if "prompt" in data:
        return filled(data["prompt"], record), filled(data["answer"], record)
    return "", filled(text_field(data), record)


def readable(data, record):
    try:
        return bool(messages_of(record) if data["kind"] == "chat" else texts_of(data, record)[1])
    except (KeyError, TypeError):
        return False


def records_of(data):
    """The training records in the order of the files, without those that cannot be read if these are left out."""
    patterns = data["train"] if isinstance(data["train"], list) else [data["train"]]
    leave_out = data.get("bad_rows") == "leave-out"
    for file in (f for p in patterns for f in sorted(glob.glob(p))):
        with opened(pathlib.Path(file)) as lines:
            if data["kind"] == "csv":
                records = csv.DictReader(lines, delimiter={"tab": "\t"}.get(data.get("separator"), data.get("separator", ",")))
            else:
                first = next((line for line in lines if line.strip()), "")
                rest = itertools.chain([first], lines)
                records = json.loads("".join(rest)) if first.lstrip().startswith("[") else (
                    record_of(line, leave_out) for line in rest if line.strip())
            yield from (r for r in records if not leave_out or r and readable(data, r))


SHAREGPT = {"human": "user", "gpt": "assistant"}


def messages_of(record):
    """With the keys that transformers has for those of ShareGPT."""
    messages = record.get("messages", record.get("conversations"))
    return messages and [{"role": SHAREGPT.get(m["from"], m["from"]), "content": m["value"], **m} if "from" in m else m
                         for m in messages]


def text_field(data):
    return data.get("text", "text")


# -- samples ---------------------------------------------------------------------------------------------------------------


def require_same(where, what, found, expected):
    for i, (mine, theirs) in enumerate(zip(found, expected)):
        if mine != theirs:
            raise Differs(f"{where}: {what} {i} is {mine!r}, in transformers {theirs!r}")
    if len(found) != len(expected):
        raise Differs(f"{where}: {len(found)} {what}s, in transformers {len(expected)}")


def compare_label(where, sample, value, config):
    """A label by its name in the record, or the number of a class. `config`: of a head that is kept, else empty."""
    name = value if isinstance(value, str) else json.dumps(value)
    known = {str(k): v for k, v in config.get("label2id", {}).items()}
    if name in known and known[name] != sample["label"]:
        raise Differs(f'{where}: "{name}" is class {sample["label"]}, in the checkpoint {known[name]}')
    if not known and isinstance(value, str) and sample.get("label_name", name) != name:
        raise Differs(f'{where}: the label is "{sample["label_name"]}", in the record "{name}"')


# What is taught is between the marks of a generation: then transformers tells which tokens it is.
TURNS = ("{%- for m in messages -%}{{- m.before -}}{%- if m.taught -%}{%- generation -%}{{- m.said -}}{%- endgeneration -%}"
         "{%- else -%}{{- m.said -}}{%- endif -%}{{- m.after -}}{%- endfor -%}")


def content_of(message):
    parts = message["content"]
    return parts if isinstance(parts, str) else "".join(p["text"] for p in parts)


def turns_of(messages, template, loss_on):
    """Messages for TURNS by what a workload's `template` writes around those of each role."""
    made = []
    for m in messages:
        before, end = template[m["role"]] if template != "chatml" else (f"<|im_start|>{m['role']}\n", "<|im_end|>")
        taught = m["role"] == "assistant" and bool(m.get("weight", 1)) and m.get("train", True)
        made.append({"role": m["role"], "content": "", "before": before, "said": content_of(m) + end, "taught": taught,
                     "after": "\n" if template == "chatml" else ""})
    last = max((i for i, m in enumerate(made) if m["taught"]), default=None)
    return [{**m, "taught": m["taught"] and (loss_on != "last" or i == last)} for i, m in enumerate(made)]


class Texts:
    """Samples of text. `folder`: of the tokenizer, to which `tokens` are added; `config`: of the checkpoint's head, if it is
    kept."""

    def __init__(self, data, config, folder, tokens=()):
        self.data, self.words = data, transformers.AutoTokenizer.from_pretrained(folder)
        self.words.add_tokens(list(tokens), special_tokens=True)
        self.config = config

    def conversation(self, record):
        template, messages = self.data["template"], messages_of(record)
        if "system" in record:
            messages = [{"role": "system", "content": record["system"]}, *messages]
        if self.words.chat_template and not isinstance(template, dict):
            return self.by_own_template(messages)
        if template != "chatml" and not isinstance(template, dict):
            raise Unknown("the tokenizer's folder has no template of conversations")
        turns = turns_of(messages, template, self.data.get("loss_on"))
        made = self.words.apply_chat_template(turns, chat_template=TURNS, tokenize=True, return_dict=True,
                                              return_assistant_tokens_mask=True)
        begin = [i for i in self.words("")["input_ids"][:1] if i == self.words.bos_token_id]
        return begin + made["input_ids"], [0] * len(begin) + made["assistant_masks"]

    def by_own_template(self, messages):
        """That of the checkpoint, which may mark what is taught, but does not know which messages are left out of that."""
        plain = [{**m, "content": content_of(m)} for m in messages]
        marks = bool(re.search(r"{%-?\s*generation", self.words.chat_template)) and "loss_on" not in self.data
        marks = marks and not any(key in m for m in messages for key in ("weight", "train"))
        made = self.words.apply_chat_template(plain, tokenize=True, return_dict=True, return_assistant_tokens_mask=marks)
        return made["input_ids"], made.get("assistant_masks")

    def answer(self, record):
        prompt, answer = texts_of(self.data, record)
        made = self.words(prompt + answer, return_offsets_mapping=True, return_special_tokens_mask=True)
        return made["input_ids"], [end > len(prompt) and not special for (_, end), special in
                                   zip(made["offset_mapping"], made["special_tokens_mask"])]

    def expected(self, record, room):
        """Ids, and which of them are taught (None: not compared)."""
        if self.data["kind"] == "chat":
            return self.conversation(record)
        if "prompt" in self.data or self.data["kind"] in SHAPES:
            return self.answer(record)
        cut = {"truncation": True, "max_length": room} if "label" in self.data or "target" in self.data else {}
        return self.words(texts_of(self.data, record)[1], **cut)["input_ids"], None

    def compare(self, where, sample, record):
        """Returns whether it could: not if the record is longer than the context, and no text."""
        tokens, context = sample["tokens"], int(re.findall(r"\d+", sample["input"])[-1])
        ids, taught = self.expected(record, context)
        found, chat = [t.get("masked", t["id"]) for t in tokens], self.data["kind"] == "chat"
        if len(ids) > context and (chat or taught):
            return False
        if not chat and found[-1:] == [self.words.eos_token_id] != ids[-1:] and "label" not in sample:
            ids, taught = ids + found[-1:], taught and taught + [True]  # the end of a text is taught
        if chat and len(ids) == len(found) + 1 and not (taught and taught[-1]):
            ids, taught = ids[:-1], taught and taught[:-1]  # what is not taught at the end is not an input either
        if "label" not in sample:
            ids = ids[:context + 1]
        self.compare_tokens(where, found, ids)
        if taught and self.data.get("loss_on") != "all":
            require_same(where, "loss of token", [t["taught"] for t in tokens], [bool(t) for t in taught])
        if "label" in sample:
            compare_label(where, sample, record[self.data.get("label", self.data.get("target"))], self.config)
        return True

    def compare_tokens(self, where, found, ids):
        names = self.words.convert_ids_to_tokens
        require_same(where, "token", list(zip(found, names(found))), list(zip(ids, names(ids))))


class Windows(Texts):
    """Samples of one long text: i has the tokens from i times the context on, and the next one as a target."""

    def __init__(self, data, folder, samples, tokens=()):
        super().__init__(data, {}, folder, tokens)
        self.context = len(samples[0]["tokens"]) - 1 if samples else 0
        with opened(pathlib.Path(data["train"])) as file:
            text = file.read(LETTERS * (len(samples) * self.context + 1))
        self.ids = self.words(text, add_special_tokens=False)["input_ids"]

    def compare(self, where, sample, record):
        if any("masked" in t for t in sample["tokens"]):
            raise Unknown("windows of masked tokens have no counterpart in transformers")
        first = sample["index"] * self.context
        self.compare_tokens(where, [t["id"] for t in sample["tokens"]], self.ids[first:first + self.context + 1])
        return True


def pictures_in(data, config):
    """In the order of their classes, which `labels` or the head's names say, or else are sorted, and of their names."""
    folder, names = pathlib.Path(data["train"]), config.get("id2label", {})
    names = data.get("labels") or [names[number] for number in sorted(names, key=int)]
    order = {**{str(i): i for i in range(len(names))}, **{str(name): i for i, name in enumerate(names)}}
    found = [pathlib.Path(file).relative_to(folder)  # without those that are hidden
             for file in glob.glob(f"{glob.escape(str(folder))}/*/**/*", recursive=True)]
    return [folder / file for file in sorted((f for f in found if f.suffix.lower() in PICTURES),
                                             key=lambda f: (order.get(f.parts[0], 0), f.parts))]


class Pictures:
    """Samples of pictures."""

    def __init__(self, data, model, config, samples):
        self.data, self.config = data, config
        self.processor = self.processor_of(model, samples)
        self.files = pictures_in(data, config)

    def processor_of(self, model, samples):
        """The checkpoint's, with the numbers of the data where they have some."""
        names = {"mean": "image_mean", "deviation": "image_std"}
        own = {theirs: self.data[key] for key, theirs in names.items() if key in self.data}
        if "size" in self.data:
            own["size"] = dict(zip(("height", "width"), self.data["size"]))
        if model and (model / "preprocessor_config.json").exists():
            return transformers.AutoImageProcessor.from_pretrained(model, backend="pil", **own)
        if len(own) < 2 or not samples:
            raise Unknown("there is no preprocessor_config.json, and the data have no mean and deviation")
        height, width = map(int, re.findall(r"\d+", samples[0]["input"])[-2:])
        return transformers.ViTImageProcessor(**{"size": {"height": height, "width": width}, **own})

    def compare(self, where, sample, file):
        made = self.processor(picture_of(file), return_tensors="np")["pixel_values"][0].ravel()
        if len(made) != len(sample["numbers"]):
            raise Differs(f"{where}: {sample['input']}, in transformers {len(made)} numbers")
        worst = max(range(len(made)), key=lambda i: abs(made[i] - sample["numbers"][i]))
        if abs(made[worst] - sample["numbers"][worst]) > NEAR:
            raise Differs(f"{where} ({file.name}): number {worst} is {sample['numbers'][worst]:.4f}, in transformers "
                          f"{made[worst]:.4f}")
        compare_label(where, sample, file.relative_to(self.data["train"]).parts[0], self.config)
        return True


def picture_of(file):
    """Of 16 bits the upper ones: Pillow's convert("RGB") takes all values above 255 for white."""
    from PIL import Image  # pylint: disable=import-outside-toplevel
    from transformers.image_utils import load_image  # pylint: disable=import-outside-toplevel
    try:
        with Image.open(file) as picture:
            if picture.mode.startswith("I"):
                return load_image(picture.point(lambda v: v / 257).convert("L"))
        return load_image(str(file))
    except OSError as e:
        raise Unknown(f"{file}: {e}") from None


# -- the comparison --------------------------------------------------------------------------------------------------------


def folder_of(path):
    return path if path.is_dir() else path.parent


def tokenizer_folder(data, model):
    """That of the data, of an adapter that is continued, of the checkpoint."""
    named = data.get("tokenizer")
    if named and named != "bytes":
        return folder_of(pathlib.Path(named.get("file") or named["vocab"]))
    folders = [pathlib.Path(part["from"]) for part in (model.get("adapter", {}), model.get("chain", {})) if "from" in part]
    if named or not folders:
        raise Unknown("every byte is a token")
    return next((f for f in folders if any((f / name).exists() for name in TOKENIZERS)), folders[-1])


def head_of(data, chain, start):
    """config.json of a checkpoint whose head's classes are those of the data; else empty."""
    own = start is None or "labels" in data or chain.get("head") == "classification"
    return {} if own else json.loads((start / "config.json").read_text(encoding="utf-8"))


def comparison(shown, workload):
    """What compares a sample with its record, and the records."""
    data, model = workload["data"][shown["data"]], model_of(workload, shown["models"])
    chain = model.get("chain", {})
    start, tokens = pathlib.Path(chain["from"]) if "from" in chain else None, chain.get("tokens", ())
    if data["kind"] == "images":
        made = Pictures(data, start, head_of(data, chain, start), shown["samples"])
        return made, made.files
    if data["kind"] == "text":
        return Windows(data, tokenizer_folder(data, model), shown["samples"], tokens), itertools.repeat(None)
    if data["kind"] not in ("jsonl", "csv", "chat", *SHAPES) or (data["kind"] == "csv" and "text" not in data):
        raise Unknown(f'data of kind = "{data["kind"]}" have no counterpart in transformers')
    return Texts(data, head_of(data, chain, start), tokenizer_folder(data, model), tokens), records_of(data)


def compare(shown, workload):
    against, records = comparison(shown, workload)
    compared, records = [], iter(records)
    for s in shown["samples"]:
        record = next(records, END)
        if record is END:
            raise Differs(f"sample {s['index']}: the files have no record for it")
        compared.append(against.compare(f"sample {s['index']}", s, record))
    longer = compared.count(False)
    if longer == len(compared):
        raise Unknown(f"{longer} samples are longer than the context" if longer else "there are no samples")
    return f"{compared.count(True)} samples are those of transformers" + (
        f", {longer} longer than the context not compared" if longer else "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("workload")
    arguments.add_argument("--hydra", default="hydra")
    arguments.add_argument("--show", type=int, default=20, metavar="N")
    arguments.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = arguments.parse_args()
    workload = workload_in(options.workload)
    for setting in options.set:
        set_key(workload, setting)
    data = workload.get("data", {}).items()
    one_by_one = [f"data.{name}.packing=false" for name, d in data if d.get("kind") in ("jsonl", "chat", *SHAPES)]
    one_by_one += [f"data.{name}.validation_share=0" for name, d in data if "validation_share" in d]
    compared, differs = False, False
    for shown in shown_by(options, one_by_one):
        try:
            found, compared = compare(shown, workload), True
        except Differs as e:
            found, differs = f"DIFFERS: {e}", True
        except Unknown as e:
            found = f"not compared: {e}"
        except ImportError as e:
            refuse_without(e)
        print(f"{shown['data']} ({', '.join(shown['models'])}): {found}")
    if not compared and not differs:
        refuse("nothing could be compared")
    sys.exit(differs)


if __name__ == "__main__":
    main()
