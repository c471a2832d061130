#!/usr/bin/env python3
"""Does apps/python/compare_data.py find what differs?

    compare_data_finds.py HYDRA [CASE ...]

For each kind of data that it compares: nothing is found in what `hydra data` says, and something in what a program says that
changes one token, mark, label or pixel of that. Exits with 77 where transformers is not installed.
"""
import contextlib
import io
import pathlib
import subprocess
import sys
from unittest import mock

from checks import in_a_folder, program_and_cases, require, run_checks

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "field_cases"), str(TESTS.parent / "apps/python")]
try:
    import inputs
    import compare_data
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

RUN = '[[device]]\nkind = "cpu"\nmemory = "64MiB"\n'
LIAR = """#!{python}
import json, pathlib, subprocess, sys
kept = pathlib.Path("said.json")
if not kept.exists():
    kept.write_bytes(subprocess.run([{hydra!r}, *sys.argv[1:]], stdout=subprocess.PIPE, check=True).stdout)
shown = json.loads(kept.read_text())
sample = shown[0]["samples"][1]
tokens = sample.get("tokens")
{change}
print(json.dumps(shown))
"""
TURNS = [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "a dog ran", "weight": 0},
         {"role": "user", "content": [{"type": "text", "text": "no"}]}, {"role": "assistant", "content": "the red house"}]
QWEN = ("<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if m.role == 'assistant' %}{% generation %}"
        "{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\n' }}"
        "{% endfor %}")


# -- inputs: each writes files into the working directory, and returns a workload -------------------------------------------


def plain_records():
    inputs.llama_of_words()
    inputs.write_texts("data.jsonl", inputs.TEXTS[:2] + ["a dog", "no"])  # the first two are longer than the context
    return inputs.RECORDS + inputs.MODEL


def answers():
    inputs.llama_of_words()
    inputs.write_jsonl("data.jsonl", [{"question": "the cat", "answer": a} for a in (" sat", " ran to the sea")])
    return inputs.RECORDS + 'prompt = "question"\nanswer = "answer"\n' + inputs.MODEL


def answers_to_fields():
    inputs.llama_of_words()
    inputs.write_jsonl("data.jsonl", [{"q": "the cat", "hint": h, "a": a} for h, a in ((" no", " sat"), (None, " ran"))])
    return inputs.RECORDS + 'prompt = "{q}{hint?} ."\nanswer = "{a} ."\n' + inputs.MODEL


def alpaca():
    inputs.llama_of_words(max_position_embeddings=512)
    inputs.write_jsonl("data.jsonl", [{"instruction": "the cat", "input": i, "output": " sat"} for i in ("a dog", "")])
    return inputs.RECORDS.replace('"jsonl"', '"alpaca"') + inputs.MODEL.replace("32", "512")


def completions():
    inputs.llama_of_words()
    inputs.write_json("data.jsonl", [{"prompt": "the cat", "completion": c} for c in (" sat", " ran")])
    return inputs.RECORDS.replace('"jsonl"', '"prompt-completion"') + inputs.MODEL


def new_tokens():
    workload = answers().replace('"model",', '"model", tokens = ["<x>"],')
    inputs.write_jsonl("data.jsonl", [{"question": "the <x> cat", "answer": a} for a in (" <x> sat", " ran <x>")])
    return workload


def conversations(template='"chatml"', talks=(TURNS[2:], TURNS), **settings):
    t = inputs.chat_bpe()
    inputs.tiny("Llama", "model", vocab_size=t.get_vocab_size(), max_position_embeddings=128)
    inputs.save_tokenizer(t, "model", eos_token="<|im_end|>", **settings)
    inputs.write_jsonl("talks.jsonl", [{"messages": talk} for talk in talks])
    return f'\n[data.d]\nkind = "chat"\ntemplate = {template}\ntrain = "talks.jsonl"\n' + inputs.MODEL.replace("32", "128")


def conversations_by_roles():
    return conversations('{ user = ["<|im_start|>", " "], assistant = ["<|im_end|>", " . "] }')


def windows():
    inputs.llama_of_words()
    pathlib.Path("text.txt").write_text(" ".join(inputs.TEXTS[:4]))
    return inputs.BYTES.replace('tokenizer = "bytes"\n', "") + inputs.MODEL


def classes_of_a_checkpoint():
    inputs.bert_of_words(id2label={0: "no", 1: "yes"}, label2id={"no": 0, "yes": 1})
    inputs.write_jsonl("data.jsonl", [{"text": "the cat", "label": "yes"}, {"text": "a dog", "label": "no"}])
    return inputs.RECORDS + 'label = "label"\n' + inputs.MODEL


def new_classes():
    inputs.bert_of_words()
    pathlib.Path("data.csv").write_bytes(b"\xef\xbb\xbftext,label\r\nthe cat,yes\r\na dog,no\r\n")
    return '\n[data.d]\nkind = "csv"\ntext = "text"\ntarget = "label"\ntrain = "data.csv"\n' + inputs.MODEL.replace(
        '"model",', '"model", head = "classification",')


def pictures():
    inputs.vit_of_two_classes()
    for number, (name, place) in enumerate([("a", "a"), ("b", "b/inner")]):
        pathlib.Path("pictures", place).mkdir(parents=True)
        gradient = Image.linear_gradient("L").resize((40, 24))
        pathlib.Path("pictures", name, "notes.txt").write_text("no picture")
        (gradient if number else Image.merge("RGB", (gradient,) * 3)).save(f"pictures/{place}/0.png")
    return '\n[data.d]\nkind = "images"\ntrain = "pictures"\n' + inputs.MODEL.replace(", context = 32", "")


def pictures_of_a_checkpoint():
    workload = pictures()
    inputs.write_json("model/preprocessor_config.json", {
        "image_processor_type": "ViTImageProcessor", "do_normalize": True, "do_rescale": True, "do_resize": True,
        "rescale_factor": 1 / 255, "image_mean": [0.5] * 3, "image_std": [0.25] * 3, "resample": 2,
        "size": {"height": 32, "width": 32}})
    return workload


def pictures_with_own_numbers():
    numbers = 'mean = [0.1, 0.2, 0.3]\ndeviation = [0.5, 0.5, 0.5]\nlabels = ["b", "a"]\n'
    return pictures().replace('"pictures"\n', f'"pictures"\n{numbers}', 1)


# -- what a program may say instead, and what is found ---------------------------------------------------------------------

TOKENS = {'tokens[2]["id"] += 1': "sample 1: token 2 is ", 'del tokens[2:]': "sample 1: 2 tokens, in transformers "}
MARKS = {'t = tokens[-1]; t["taught"] = not t["taught"]': "sample 1: loss of token "}
PIXELS = {'sample["numbers"][77] += 0.03': "sample 1 (0.png): number 77 is ",
          'del sample["numbers"][-1]': "in transformers 3072 numbers"}
LABEL = {'sample["label"] = 1 - sample["label"]': "sample 1: "}
CASES = {
    "jsonl": (plain_records, TOKENS | {'shown[0]["samples"].append(sample)': "sample 1: the files have no record for it"}),
    "answers": (answers, TOKENS | MARKS),
    "answers to fields": (answers_to_fields, TOKENS | MARKS),
    "alpaca": (alpaca, TOKENS | MARKS),
    "completions": (completions, TOKENS | MARKS),
    "new tokens": (new_tokens, TOKENS | MARKS),
    "chatml": (conversations, TOKENS | MARKS),
    "roles": (conversations_by_roles, TOKENS | MARKS),
    "checkpoint's template": (lambda: conversations('"qwen"', [TURNS[2:]] * 2, chat_template=QWEN), TOKENS | MARKS),
    "text": (windows, TOKENS),
    "head": (classes_of_a_checkpoint, TOKENS | LABEL),
    "csv": (new_classes, TOKENS | {'sample["label_name"] = "yes"': 'the label is "yes", in the record "no"'}),
    "pictures": (pictures_of_a_checkpoint, PIXELS | LABEL),
    "numbers of the data": (pictures_with_own_numbers, PIXELS),
}


def said_by_comparison(program, *options, workload="w.toml"):
    """Exit status and output of compare_data.py, in this process."""
    out = io.StringIO()
    with mock.patch("sys.argv", ["compare_data.py", workload, "--hydra", program, *options]), \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            compare_data.main()
        except SystemExit as e:
            return int(e.code), out.getvalue().strip()
    return 0, out.getvalue().strip()


def liar(hydra, change, folder):
    """A program that says what Hydra says, which is asked once, after a change."""
    program = folder / "liar"
    program.write_text(LIAR.format(python=sys.executable, hydra=hydra, change=change))
    program.chmod(0o755)
    return str(program)


def check(hydra, name, folder):
    make, changes = CASES[name]
    with contextlib.chdir(folder):
        pathlib.Path("w.toml").write_text(RUN + make())
        status, said = said_by_comparison(liar(hydra, "pass", folder))
        require(status == 0 and " samples are those of transformers" in said, f"unchanged: {status}: {said}")
        for change, expected in changes.items():
            status, found = said_by_comparison(liar(hydra, change, folder))
            require(status == 1 and "DIFFERS" in found and expected in found, f"{change}: {status}: {found}")
    return f"{said}; {len(changes)} changes are found"


def check_settings(hydra, folder):
    """--set changes what is compared, and what Hydra refuses is not an agreement."""
    with contextlib.chdir(folder):
        pathlib.Path("w.toml").write_text(RUN + plain_records())
        inputs.write_texts("other.jsonl", ["no", "a dog"])
        status, said = said_by_comparison(hydra, "--set", "data.d.train=other.jsonl", "--set", "model.context=16")
        require(status == 2 and "hydra data: " in said, f"a key that there is not: {status}: {said}")
        status, said = said_by_comparison(hydra, "--set", "data.d.train=other.jsonl", "--set", "model.m.chain.context=16")
        require(status == 0 and "2 samples are those" in said, f"{status}: {said}")
        pathlib.Path("w.toml").write_text(RUN + plain_records().replace('"m"', '"m-{learning_rate}"')
                                          + "\n[model.grid]\nlearning_rate = [1e-1, 1e-2]\n")
        status, said = said_by_comparison(hydra)
        require(status == 0 and "4 samples are those" in said, f"grid: {status}: {said}")
    return said


def check_other_template(hydra, folder):
    """A named template that writes less than the checkpoint's own."""
    with contextlib.chdir(folder):
        pathlib.Path("w.toml").write_text(RUN + conversations('"chatml"', [TURNS[2:]] * 2, chat_template=QWEN))
        status, said = said_by_comparison(hydra)
    require(status == 1 and "DIFFERS: sample 0: token " in said, f"{status}: {said}")
    return said


def check_sharegpt(hydra, folder):
    """The keys and names of ShareGPT mean what those of messages mean."""
    names = {"user": "human", "assistant": "gpt"}
    with contextlib.chdir(folder):
        pathlib.Path("w.toml").write_text(RUN + conversations())
        talk = [{"from": names[m["role"]], "value": m["content"]} for m in TURNS[2:]]
        talk[0]["value"] = "no"
        inputs.write_jsonl("talks.jsonl", [{"conversations": talk}] * 2)
        status, said = said_by_comparison(hydra)
    require(status == 0, f"{status}: {said}")
    return said


def check_missing(hydra, folder):
    """What is missing is said in a sentence, and is not an agreement."""
    with contextlib.chdir(folder):
        pathlib.Path("w.toml").write_text(RUN + plain_records())
        command = [sys.executable, "-S", compare_data.__file__, "w.toml"]  # without packages
        bare = subprocess.run(command, capture_output=True, text=True, check=False)
        lacks_tokenizers = mock.Mock(side_effect=ModuleNotFoundError("No module named 'tokenizers'"))
        with mock.patch("compare_data.transformers.AutoTokenizer.from_pretrained", lacks_tokenizers):
            lacking = said_by_comparison(hydra)
        outcomes = {"pip install transformers": (bare.returncode, bare.stderr.strip()),
                    "named 'tokenizers'); install ": lacking,
                    "none/hydra cannot be run (": said_by_comparison("none/hydra")}
        pathlib.Path("bytes.toml").write_text(RUN + plain_records().replace("[data.d]", '[data.d]\ntokenizer = "bytes"'))
        outcomes["nothing could be compared"] = said_by_comparison(hydra, workload="bytes.toml")
        outcomes["none.toml: "] = said_by_comparison(hydra, workload="none.toml")
    for expected, (status, said) in outcomes.items():
        require(status == 2 and expected in said and "Traceback" not in said, f"{expected}: {status}: {said}")
    return f"{len(outcomes)} are said"


def main():
    hydra, chosen = program_and_cases(__doc__, "HYDRA")
    inputs.torch.set_num_threads(1)
    checks = {name: in_a_folder(check, hydra, name) for name in CASES}
    checks["other template"] = in_a_folder(check_other_template, hydra)
    checks["ShareGPT"] = in_a_folder(check_sharegpt, hydra)
    checks |= {"settings": in_a_folder(check_settings, hydra), "missing": in_a_folder(check_missing, hydra)}
    sys.exit(run_checks({name: checks[name] for name in chosen or checks}))


if __name__ == "__main__":
    main()
