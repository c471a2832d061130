"""gz files of several members, and cut ones

Reports: of the kind of NVIDIA-NeMo/Automodel#3143 (records lost in silence).
Right: 8 records of a file of two members (cat a.gz b.gz); a file that is cut is refused; with rubbish behind it 8
records or a refusal.
Passes: numbers of records (steps of one epoch with batches of one), or exit status 2 with the file.
"""
import gzip
import json
import pathlib

from inputs import MODEL, RECORDS, TEXTS, llama_of_words
from outputs import data, reported

WORKLOAD = RECORDS + MODEL.replace("size = 2", "size = 1").replace("steps", "epochs").replace("32", "64")


def case(hydra):
    llama_of_words()
    rows = [(json.dumps({"text": s}) + "\n").encode() for s in TEXTS[:8]]
    whole = gzip.compress(b"".join(rows))
    files = {"two": gzip.compress(b"".join(rows[:3])) + gzip.compress(b"".join(rows[3:])), "cut": whole[:len(whole) * 2 // 3],
             "noise": whole + b"garbage"}
    for name, content in files.items():
        pathlib.Path(f"{name}.jsonl.gz").write_bytes(content)
    two, cut, noise = [hydra.train(f"run-{name}", *data(f"{name}.jsonl.gz")) for name in files]
    records = {name: len(reported(f"run-{name}")) for name in files}
    yield two.status == 0 and records["two"] == 8, f"two members: {records['two']} records", "8"
    yield cut.refused(r"cut\.jsonl"), "cut: " + cut.brief(), "a refusal that names the file"
    yield (noise.refused(r"noise\.jsonl") or records["noise"] == 8, "rubbish behind it: " + noise.brief(),
           "8 records, or a refusal that names the file")
