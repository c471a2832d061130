#!/usr/bin/env python3
"""Compares conversations as `hydra tokenize --template` writes them with transformers' apply_chat_template: token ids, and
which tokens are an assistant's, which must all be equal.

    compare_chat.py HYDRA [--conversations N]

The same by the templates as the checkpoint's own (`--template checkpoint`), and by those of templates/.

Then a small model is trained on them and exported, from the tokenizer's bare file and for Mistral also from a
tokenizer.model: what transformers' AutoTokenizer makes of the export must write texts and conversations as Hydra did,
and so must Hydra by the template of the export, which has no marks: the same tokens are an assistant's.

HYDRA is the program. The templates render as those of the models' tokenizer_config.json (ChatML's usual one, Llama 3
Instruct, Mistral 7B Instruct v0.2, Gemma 3, Qwen2.5) without tools; around what an assistant says stands {%
generation %}, which is how transformers knows its tokens. Tokenizers, byte-level and for Mistral and Gemma also of
the kind they have, are learnt from the tree's own text with each model's special tokens. Conversations: N of each
template, seeded, of one to six turns of lines of the text and of random Unicode strings, some with white space around
them. Needs only transformers: exit status 77 where it is missing.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from compare_tokenizers import LLAMA3, Program, byte_level, learnt_bpe, random_strings, skip, split_words, text_of

try:
    import torch_of_build  # noqa: F401 (transformers looks for torch)
    from piece_tokenizers import Pieces, gemma, llama2, llama_model
    from tokenizers import Tokenizer, decoders, processors
    from transformers import AutoTokenizer, GenerationConfig, PreTrainedTokenizerFast
except ImportError as missing:
    skip(f"this Python cannot import {missing.name}")

TREE = pathlib.Path(__file__).resolve().parents[2]

CHATML = """{%- for message in messages -%}
    {{- '<|im_start|>' + message['role'] + '\\n' -}}
    {%- if message['role'] == 'assistant' -%}
        {%- generation -%}{{- message['content'] + '<|im_end|>' -}}{%- endgeneration -%}
    {%- else -%}{{- message['content'] + '<|im_end|>' -}}{%- endif -%}
    {{- '\\n' -}}
{%- endfor -%}"""
QWEN = """{%- if messages[0]['role'] != 'system' -%}
    {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' -}}
{%- endif -%}""" + CHATML
LLAMA_3 = """{%- for message in messages -%}
    {{- bos_token if loop.index0 == 0 -}}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' -}}
    {%- if message['role'] == 'assistant' -%}
        {%- generation -%}{{- message['content'] | trim + '<|eot_id|>' -}}{%- endgeneration -%}
    {%- else -%}{{- message['content'] | trim + '<|eot_id|>' -}}{%- endif -%}
{%- endfor -%}"""
SYSTEM_APART = """{%- if messages[0]['role'] == 'system' -%}
    {%- set system = messages[0]['content'] + '\\n\\n' -%}{%- set rest = messages[1:] -%}
{%- else -%}{%- set system = '' -%}{%- set rest = messages -%}{%- endif -%}
{{- bos_token -}}"""
MISTRAL = SYSTEM_APART + """{%- for message in rest -%}
    {%- if message['role'] == 'user' -%}
        {{- ' [INST] ' + (system if loop.first else '') + message['content'] + ' [/INST]' -}}
    {%- else -%}{%- generation -%}{{- ' ' + message['content'] + eos_token -}}{%- endgeneration -%}{%- endif -%}
{%- endfor -%}"""
GEMMA = SYSTEM_APART + """{%- for message in rest -%}
    {%- if message['role'] == 'user' -%}
        {{- '<start_of_turn>user\\n' + (system if loop.first else '') + message['content'] | trim + '<end_of_turn>' -}}
    {%- else -%}
        {{- '<start_of_turn>model\\n' -}}
        {%- generation -%}{{- message['content'] | trim + '<end_of_turn>' -}}{%- endgeneration -%}
    {%- endif -%}
    {{- '\\n' -}}
{%- endfor -%}"""
TEMPLATES = {
    "chatml": (CHATML, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], {"eos_token": "<|im_end|>"}),
    "qwen": (QWEN, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], {"eos_token": "<|im_end|>"}),
    "llama-3": (LLAMA_3, ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
                {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}),
    "mistral": (MISTRAL, ["<s>", "</s>"], {"bos_token": "<s>", "eos_token": "</s>"}),
    "gemma": (GEMMA, ["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"], {"bos_token": "<bos>", "eos_token": "<eos>"}),
}


def own_text():
    files = [f for folder in ("runtime", "models") for f in sorted((TREE / folder).rglob("*.[ch]pp"))]
    return "".join(f.read_text() for f in files)


def learnt(text):
    """A byte-level tokenizer, and a model of SentencePiece."""
    made = learnt_bpe(text, split_words(LLAMA3), size=3000)
    made.decoder = decoders.ByteLevel()
    return made, llama_model(text)


def tokenizers_for(name, made, model, special):
    """Mistral's and Gemma's tokenizers are SentencePiece's: spaces are a character, and unknown ones are bytes."""
    tokenizers = {"bytes": Tokenizer.from_str(made.to_str())}
    if name in ("mistral", "gemma"):
        tokenizers["pieces"] = llama2(model) if name == "mistral" else gemma(model)
    for t in tokenizers.values():
        t.add_special_tokens(special)
    return tokenizers


def conversations(count, lines, strings, seed):
    chance = random.Random(seed)

    def content():
        kind = chance.random()
        words = chance.choice(lines) if kind < 0.7 else chance.choice(strings)
        around = [chance.choice(["", "", "", " ", "\n", "\n\n", "\t", "\u3000", "\x1c"]) for _ in range(2)]
        return around[0] + words.strip("\n") + around[1] or "?"  # an empty answer is refused

    def talk():
        system = [{"role": "system", "content": content()}] if chance.random() < 0.5 else []
        turns = [{"role": role, "content": content()} for _ in range(chance.randint(1, 6)) for role in ("user", "assistant")]
        return system + turns

    return [talk() for _ in range(count)]


def compare(name, kind, program, folder, made, talks):
    template, _, names = TEMPLATES[name]
    theirs = PreTrainedTokenizerFast(tokenizer_object=made, chat_template=template, **names)
    theirs.save_pretrained(folder)
    return sum(compare_ids(by, f"{name}, {kind}", program, folder, theirs, talks) for by in (name, "checkpoint"))


def compare_ids(by, what, program, folder, theirs, talks, marked=True):
    """Of conversations that the template does not refuse; without marks transformers does not tell an assistant's tokens."""
    ours = map(json.loads, program.run(conversation_file(program, talks), "--tokenizer", folder, "--template", by, "--json").splitlines())
    wrong, tokens, counted = 0, 0, 0
    for i, (talk, own) in enumerate(zip(talks, ours, strict=True)):
        expected = theirs.apply_chat_template(talk, tokenize=True, return_dict=True, return_assistant_tokens_mask=marked)
        ids, loss = expected["input_ids"], [0] + expected["assistant_masks"][1:] if marked else own["loss"]
        tokens, counted = tokens + len(ids), counted + sum(loss)
        if own["ids"] == ids and own["loss"] == loss:
            continue
        wrong += 1
        if wrong <= 2:
            print(f"{what} by {by}: conversation {i}, {talk!r:.400}\nhydra {own!r:.600}\ntransformers {ids!r:.300} {loss!r:.300}")
    print(f"{what} by {by}: {len(talks)} conversations, {tokens} tokens, {counted} of an assistant, {wrong} differences", flush=True)
    return wrong


def compare_stored(program, made, talks):
    """By templates/, which have every construct of the templates that checkpoints bring."""
    special = ["<s>", "</s>", "<|turn|>", "<|end|>", "<|eot|>", "<|head|>", "<|/head|>"]
    words, wrong = Tokenizer.from_str(made.to_str()), 0
    words.add_special_tokens(special)
    for file in sorted((TREE / "tests/python/templates").glob("*.jinja")):
        theirs, folder = PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="</s>"), program.file(f"-{file.stem}")
        theirs.chat_template = file.read_text()
        theirs.save_pretrained(folder)
        theirs.chat_template = theirs.chat_template.replace("strftime_now is defined", "false").replace(
            'strftime_now("%Y-%m-%d, %A")', "'2024-07-26, Friday'")
        marked = "{% generation %}" in theirs.chat_template
        wrong += compare_ids("checkpoint", file.stem, program, folder, theirs, talks, marked)
    return wrong


WORKLOAD = """[[device]]
kind = "cpu"
memory = "64MiB"
[data.talks]
kind = "chat"
train = {talks}
validation = {talks}
template = {template}
tokenizer = {{ file = {tokenizer} }}
[[model]]
name = "m"
chain = {{ family = "gpt2", layers = 1, width = 8, heads = 2, context = 64 }}
data = "talks"
batch_size = 4
steps = 1
optimizer = {{ learning_rate = 1e-3 }}
"""
ENDS = {"chatml": "<|im_end|>", "qwen": "<|im_end|>", "llama-3": "<|eot_id|>", "mistral": "</s>", "gemma": "<end_of_turn>"}
ROLES = {"user": ["Q: \"\n", "\n"], "assistant": ["A:\t", "<|im_end|>\u00e9\n"], "system": ["", "\\n {{ }} {% %}"]}


def hydra(program, *arguments):
    done = subprocess.run([program.program, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"hydra {arguments}: exit {done.returncode}: {done.stderr.decode()}")


def conversation_file(program, talks):
    return program.file(".jsonl", b"".join(json.dumps({"messages": t}).encode() + b"\n" for t in talks))


def exported(program, tokenizer, template, talks):
    """The folder of a model that was trained on a few of the conversations."""
    run, out = program.file("-run"), program.file("-export")
    keys = {"talks": str(conversation_file(program, talks[:8])), "tokenizer": str(tokenizer)}
    text = WORKLOAD.format(template=template, **{key: json.dumps(value) for key, value in keys.items()})
    hydra(program, "train", program.file(".toml", text.encode()), "--quiet", "--output", run)
    hydra(program, "export", run, "m", out)
    return out


def compare_export(name, kind, program, tokenizer, talks, texts):
    out = exported(program, tokenizer, json.dumps(name), talks)
    theirs = AutoTokenizer.from_pretrained(out)
    path = conversation_file(program, talks)
    ours = map(json.loads, program.run(path, "--tokenizer", tokenizer, "--template", name, "--json").splitlines())
    found = [theirs.apply_chat_template(t, tokenize=True, return_dict=True)["input_ids"] for t in talks]
    wrong = sum(own["ids"] != ids for own, ids in zip(ours, found, strict=True))
    plain = [theirs(t, add_special_tokens=False)["input_ids"] for t in texts]
    wrong_texts = sum(own != ids for own, ids in zip(program.records(tokenizer, texts), plain, strict=True))
    written = [theirs.apply_chat_template(t, tokenize=False) for t in talks]
    prompts = [theirs.apply_chat_template(t[:-1], tokenize=False, add_generation_prompt=True) for t in talks]
    wrong_prompts = sum(not whole.startswith(prompt) for whole, prompt in zip(written, prompts, strict=True))
    by_export = map(json.loads, program.run(path, "--tokenizer", out, "--template", "checkpoint", "--json").splitlines())
    named = map(json.loads, program.run(path, "--tokenizer", tokenizer, "--template", name, "--json").splitlines())
    wrong_answers = sum(own != other for own, other in zip(by_export, named, strict=True))
    ends = GenerationConfig.from_pretrained(out).eos_token_id
    wrong_ends = theirs.convert_tokens_to_ids(ENDS[name]) != (ends[0] if isinstance(ends, list) else ends)
    print(f"{name}, {kind}, exported: of {len(talks)} conversations {wrong} differ, {wrong_answers} by the export's template "
          f"and {wrong_prompts} prompts, of "
          f"{len(texts)} texts {wrong_texts}; ends {ends}{' are WRONG' if wrong_ends else ''}", flush=True)
    return wrong + wrong_answers + wrong_texts + wrong_prompts + wrong_ends


def compare_roles(program, tokenizer, talks, begin=""):
    table = ", ".join(f"{role} = {json.dumps(marks)}" for role, marks in ROLES.items())
    theirs = AutoTokenizer.from_pretrained(exported(program, tokenizer, f"{{ {table} }}", talks))

    def written(talk):
        return begin + "".join(m["content"].join(ROLES[m["role"]]) for m in talk)

    wrong = sum(theirs.apply_chat_template(t, tokenize=False) != written(t) for t in talks)
    print(f"by roles, exported: {len(talks)} conversations{' that begin with ' * bool(begin)}{begin}, {wrong} differences", flush=True)
    return wrong


def compare_begun(program, made, talks, texts):
    """A tokenizer that puts a token before each text, and templates that do not write it."""
    begin, begun = "<|endoftext|>", Tokenizer.from_str(made.to_str())
    begun.post_processor = processors.TemplateProcessing(single=f"{begin} $A", special_tokens=[(begin, begun.token_to_id(begin))])
    folder = bare(program, begun)
    return (compare_export("chatml", "bytes with a begin", program, folder, talks, texts) +
            compare_roles(program, folder, talks, begin))


def bare(program, made):
    """The tokenizer's file without any settings next to it."""
    folder = program.file("-bare")
    folder.mkdir()
    made.save(str(folder / ("tokenizer.model" if isinstance(made, Pieces) else "tokenizer.json")))
    return folder


def compare_exports(name, program, tokenizers, talks, texts):
    folders = {kind: bare(program, made) for kind, made in tokenizers.items()}
    wrong = sum(compare_export(name, kind, program, folder, talks, texts) for kind, folder in folders.items())
    if name != "chatml":
        return wrong
    return wrong + compare_roles(program, folders["bytes"], talks) + compare_begun(program, tokenizers["bytes"], talks, texts)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hydra")
    arguments.add_argument("--conversations", type=int, default=2_000)
    arguments.add_argument("--text", type=int, default=0, metavar="CHARACTERS", help="of the tree's text are learnt; 0: all")
    options = arguments.parse_args()
    text = (own_text()[:options.text] if options.text else own_text()).splitlines(keepends=True)
    bytes_bpe, model = learnt(text)
    data = pathlib.Path(os.environ.get("HYDRA_TEST_DATA") or TREE.parent / "shared" / "data")
    lines, strings = [line for line in text if line.strip()], random_strings(500)
    texts = text_of(data, TREE).split("\n")[:2_000] + strings
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        program = Program(options.hydra, place)
        for number, (name, (_, special, _)) in enumerate(TEMPLATES.items()):
            talks = conversations(options.conversations, lines, strings, number)
            tokenizers = tokenizers_for(name, bytes_bpe, model, special)
            for kind, made in tokenizers.items():
                wrong += compare(name, kind, program, place / f"{name}-{kind}", made, talks)
            if name == "mistral":
                tokenizers["tokenizer.model"] = model
            wrong += compare_exports(name, program, tokenizers, talks[:300], texts)
        wrong += compare_stored(program, bytes_bpe, talks)
    print(f"{wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
