#!/usr/bin/env python3
"""Compares chat templates as Hydra renders them with what jinja2 writes, set up as transformers does: texts, what {%
generation %} marks, and which conversations are refused, which must all be equal.

    compare_templates.py PROBE [--conversations N] [FOLDER...]

PROBE is template_probe. Templates: those of templates/ beside this script, or *.jinja in the FOLDERs. Conversations: N of
each template, seeded, with or without a system message, of one to six turns, some with empty texts, white space around
them, thoughts, random Unicode strings, a last turn of the user, or roles in a wrong order. strftime_now is as in
Hydra, where a run must be the same on another day: not defined for a template that asks, else 26 Jul 2024. Needs transformers and jinja2: exit status 77 where
one is missing.
"""
import argparse
import datetime
import json
import pathlib
import random
import subprocess
import sys

from compare_tokenizers import random_strings, skip

try:
    import torch_of_build  # noqa: F401 (transformers looks for torch)
    import jinja2
    from transformers.utils import chat_template_utils
except ImportError as missing:
    skip(f"this Python cannot import {missing.name}")

HERE = pathlib.Path(__file__).resolve().parent
MARKS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
WORDS = ["Hello", "a b  c", "two\nlines", "x = {'a': [1, 2]}", "{{ no }} {% code %}", "\u4f60\u597d", "<think>\nhm\n</think>\n\nyes",
         "</think>", "<|im_end|>", "\\n", "'quoted' \"twice\"", "e\u0301\u00e9\U0001f600", "1 + 1 = 2", "<tool_response>x</tool_response>"]
AROUND = ["", "", "", "", " ", "\n", "\n\n", "\t", "\u3000", "\x1c", "\r\n"]


def conversations(count, strings, seed):
    chance = random.Random(seed)

    def content():
        kind = chance.random()
        if kind < 0.1:
            return ""
        words = chance.choice(WORDS) if kind < 0.7 else chance.choice(strings)
        return chance.choice(AROUND) + words + chance.choice(AROUND)

    def talk():
        turns = [{"role": role, "content": content()} for _ in range(chance.randint(1, 6)) for role in ("user", "assistant")]
        if chance.random() < 0.5:
            turns.insert(0, {"role": "system", "content": content()})
        if chance.random() < 0.2:
            turns.pop()
        if chance.random() < 0.05:
            chance.shuffle(turns)
        return {"messages": turns, "tools": None, "documents": None, "add_generation_prompt": chance.random() < 0.3, **MARKS}

    return [talk() for _ in range(count)]


def theirs(compiled, given):
    """The text and the ranges of code points that are marked; nothing where the template or jinja2 raises."""
    try:
        text, marked = chat_template_utils._render_with_assistant_indices(compiled, **given)
    except (jinja2.TemplateError, TypeError, ValueError, AttributeError, KeyError):
        return None
    return text, [list(m) for m in marked if m[0] < m[1]]


def in_bytes(found):
    if found is None:
        return None
    text, marked = found
    return text, [[len(text[:place].encode()) for place in m] for m in marked]


def compare(probe, file, talks):
    source = file.read_text()
    compiled = chat_template_utils._compile_jinja_template(source)
    if "strftime_now is defined" in source:
        compiled.environment.globals.pop("strftime_now", None)
    else:
        compiled.environment.globals["strftime_now"] = datetime.date(2024, 7, 26).strftime
    lines = "".join(json.dumps(t) + "\n" for t in talks).encode()
    done = subprocess.run([probe, file], input=lines, capture_output=True, check=False)
    if done.returncode != 0:
        print(f"{file.name}: REFUSED: {done.stderr.decode().strip()}", flush=True)
        return len(talks)
    wrong, refused = 0, 0
    for talk, line in zip(talks, done.stdout.decode().rstrip("\n").split("\n"), strict=True):
        own, expected = json.loads(line), in_bytes(theirs(compiled, talk))
        refused += expected is None
        if (own.get("text"), own.get("generated")) == (expected or (None, None)):
            continue
        wrong += 1
        if wrong <= 2:
            print(f"{file.name}: {talk['messages']!r:.500}\nhydra       {own!r:.1500}\ntransformers {expected!r:.1500}")
    print(f"{file.name}: {len(talks) - wrong} of {len(talks)} are equal, {refused} of them refused by both", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probe")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--conversations", type=int, default=300)
    o = parser.parse_args()
    files = sorted(f for folder in o.folders or [HERE / "templates"] for f in folder.glob("*.jinja"))
    talks = conversations(o.conversations, random_strings(500), 11)
    wrong = sum(compare(o.probe, f, talks) for f in files)
    sys.exit(1 if wrong or not files else 0)


if __name__ == "__main__":
    main()
