"""NaN in a field that is not used

Reports: ICRAR/ijson#139, microsoft/promptflow#4202, apify/apify-client-python#87. Python's json.dumps writes NaN for
missing numbers.
Right: three records; or a refusal that names line 2 and says that NaN, which Python's json.dumps and pandas write, is
no JSON, and what to do.
Passes: the loss of `hydra evaluate`; or exit status 2 with the line, the word NaN and a way out. Of a record that is
cut off the message does not say NaN.
"""
import pathlib

from inputs import MODEL, RECORDS, llama_of_words, loss_of_texts
from outputs import data, near, says, show

WORKLOAD = RECORDS + MODEL
WAY_OUT = r"python|pandas|dumps|null|infinity|remove|replace|convert|drop|write|leave"


def case(hydra):
    words, model = llama_of_words()
    pathlib.Path("data.jsonl").write_text('{"text": "the cat sat", "score": 0.5}\n{"text": "a dog ran", "score": NaN}\n'
                                          '{"text": "no rain", "score": 123456789012345678901234567890}\n')
    pathlib.Path("cut.jsonl").write_text('{"text": "the cat sat", "score": 0.5}\n{"text": "a dog ran", "score": 0.\n')
    right = loss_of_texts(model, words, ["the cat sat", "a dog ran", "no rain"])
    ran, cut = hydra.evaluate(), hydra.evaluate(*data("cut.jsonl"))
    yield (near(ran.value(), right) or ran.refused(r"data\.jsonl.*\b2\b", r"\bNaN\b", WAY_OUT), ran.loss(),
           f"{show(right)}, or a refusal that names line 2, NaN, and a way out")
    yield (cut.refused(r"cut\.jsonl.*\b2\b") and not says(cut.text, r"\bNaN\b"), "a record that is cut: " + cut.brief(),
           "a refusal without the word NaN")
