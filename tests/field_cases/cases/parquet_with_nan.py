"""Parquet with NaN, by Hydra's own converter

Reports: as of nan_in_a_field_nobody_reads.
Right: what apps/python/parquet_to_jsonl.py writes can be read: 3 records; or the converter refuses, with a way out.
Passes: the loss of `hydra evaluate`; or the converter ends with an error that names the file and an option.
"""
import sys

from inputs import MODEL, RECORDS, llama_of_words, loss_of_texts
from outputs import TREE, near, run, says, show

WORKLOAD = RECORDS + MODEL
TEXTS = ["the cat sat", "a dog ran", "no rain"]


def case(hydra):
    import pyarrow.parquet  # pylint: disable=import-outside-toplevel
    table = pyarrow.table({"text": TEXTS, "score": [0.5, float("nan"), None], "label": [1, 0, 1]})
    pyarrow.parquet.write_table(table, "data.parquet")
    words, model = llama_of_words()
    right = loss_of_texts(model, words, TEXTS)
    convert = run(sys.executable, str(TREE / "apps/python/parquet_to_jsonl.py"), "data.parquet", "--output", "data.jsonl")
    if convert.status:
        yield (says(convert.text, r"data\.parquet", r"--\w+", "JSON|nan|float|score") and not says(convert.text, "Traceback"),
               convert.brief(), "the converted file is read, or the converter refuses with an option as a way out")
        return
    ran = hydra.evaluate()
    yield near(ran.value(), right), ran.loss(), show(right)
