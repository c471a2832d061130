"""Half of a surrogate pair (text cut in the middle of an emoji), and NUL

Reports: huggingface/transformers#8886, openai/tiktoken#82, daaain/claude-code-log#144.
Right: a refusal that names line 2 and the half pair (transformers fails, too). NUL alone is a letter like any other.
Passes: exit status 2 with the line and the word surrogate or half; without that line, the file is read.
"""
import pathlib

from inputs import MODEL, RECORDS, llama_of_words
from outputs import data

WORKLOAD = RECORDS + MODEL
LINES = ['{"text": "the cat sat"}\n', '{"text": "a dog \\ud83d ran"}\n', '{"text": "nul \\u0000 inside"}\n']


def case(hydra):
    llama_of_words()
    pathlib.Path("data.jsonl").write_text("".join(LINES))
    pathlib.Path("nul.jsonl").write_text(LINES[0] + LINES[2])
    half, nul = hydra.evaluate(), hydra.evaluate(*data("nul.jsonl"))
    yield half.refused(r"data\.jsonl.*\b2\b", r"surrogate|half"), half.brief(), "a refusal that names line 2 and the half pair"
    yield nul.value() is not None, f"NUL: {nul.brief()}", "read"
