"""CSV of spreadsheets: byte order mark, CRLF, CR alone, UTF-16, Latin-1

Reports: huggingface/datasets#8241, AndreaBozzo/dataprof#497 (marks), and line ends of old spreadsheets.
Right: 5 records with a mark and CRLF; with CR alone 5 records, or a refusal that names the line ends; of a CR inside a
field a refusal, or 3 records; UTF-16 and Latin-1 are refused by name.
Passes: numbers of records (steps of one epoch with batches of one), or exit status 2 with the file and what is wrong. A
file with one label and LF is refused without a word about line ends.
"""
import pathlib

import transformers

from outputs import data, reported, says

WORKLOAD = """
[data.d]
kind = "csv"
text = "text"
target = "label"
train = "marked.csv"
validation = "marked.csv"
tokenizer = { file = "tok" }

[[model]]
name = "m"
chain = { family = "bert", layers = 1, width = 8, heads = 2, context = 16, vocabulary = 7, head = "classification" }
data = "d"
batch_size = 1
epochs = 1
optimizer = { kind = "sgd", learning_rate = 0.1 }
"""
ROWS = ["text,label", '"the cat",a', '"a dog",b', '"two\nlines",a', '"say ""no""",b', '"caf\u00e9; rain",a', ""]
FILES = {"marked": b"\xef\xbb\xbf" + "\r\n".join(ROWS).encode(), "mac": "\r".join(ROWS).encode(),
         "stray": b"text,label\nthe cat\ra dog,a\nsea\rb\nrain,b\n", "utf16": "\n".join(ROWS).encode("utf-16"),
         "latin": "\n".join(ROWS).encode("latin-1"), "one": b"text,label\nthe cat,a\na dog,a\n"}
LINE_ENDS = r"line.?(ends?|ending|break|feed)|carriage|\bCR\b|\\r\b|newline"
RECORDS = {"marked": 5, "mac": 5, "stray": 3, "utf16": 5}
REFUSED = {"mac": [LINE_ENDS], "stray": [r"stray\.csv"], "utf16": [r"utf16\.csv", "utf-?(8|16)"],
           "latin": [r"latin\.csv", "utf-?8|latin", "0xe9|byte"]}


def part(ran, name):
    records = len(reported(f"run-{name}"))
    right = [f"{RECORDS[name]} records"] if name in RECORDS else []
    right += ["a refusal that says what is wrong"] if name in REFUSED else []
    return (records > 0 and records == RECORDS.get(name) or name in REFUSED and ran.refused(*REFUSED[name]),
            f"{name}: " + (f"{records} records" if ran.status == 0 else ran.brief()), " or ".join(right))


def case(hydra):
    pathlib.Path("vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat"]))
    transformers.BertTokenizer(vocab="vocab.txt").save_pretrained("tok")
    for name, content in FILES.items():
        pathlib.Path(f"{name}.csv").write_bytes(content)
        ran = hydra.train(f"run-{name}", *data(f"{name}.csv"))
        if name != "one":
            yield part(ran, name)
        else:
            yield (ran.refused(r"one\.csv", "label") and not says(ran.text, LINE_ENDS), "one label: " + ran.brief(),
                   "a refusal without a word about line ends")
