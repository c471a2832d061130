"""Empty, cut, zeroed and huge files

Reports: huggingface/datasets has one of each kind; infiniflow/ragflow#19179 (no records, no error) is typical.
Right: each is refused with its name and what is wrong; the record of 20 MB is read (first window), in seconds.
Passes: exit status 2 with the file for six files, 0 for the long one.
"""
import json
import pathlib

from inputs import MODEL, RECORDS, llama_of_words
from outputs import data

WORKLOAD = RECORDS + MODEL.replace("size = 2", "size = 1")
FILES = {"empty": b"", "blank": b"\n\r\n \n", "cut": b'{"text": "the cat sat"}\n{"text": "a dog',
         "nul": b'{"text": "the cat"}\n' + b"\0" * 512 + b"\n",  # after a power cut
         "array": b'[{"text": "the cat"}, {"text": "a d',  # a whole one is read
         "utf16": '{"text": "the cat"}\n'.encode("utf-16")}


def case(hydra):
    llama_of_words()
    for name, content in FILES.items():
        pathlib.Path(f"{name}.jsonl").write_bytes(content)
        ran = hydra.plan(*data(f"{name}.jsonl"))
        yield ran.refused(rf"{name}\.jsonl"), f"{name}: {ran.brief()}", f"a refusal that names {name}.jsonl"
    with open("long.jsonl", "w", encoding="utf-8") as file:
        file.write(json.dumps({"text": "the cat sat on a mat " * 1_000_000}) + "\n" + json.dumps({"text": "a dog"}) + "\n")
    long = hydra.plan(*data("long.jsonl"))
    yield long.status == 0, f"a line of 20 MB: {long.brief()}", "read"
