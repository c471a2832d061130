"""Labels that are true and false, or 0.0 and 1.0

Reports: huggingface/datasets#8241 (types inferred from the first records); pandas writes 0.0 for integers beside gaps.
Right: true and false, and 0.0 and 1.0, are two classes; or a refusal that says how to convert.
Passes: the exported model has two classes; or exit status 2 with the line, the value, and how to write it. Lists as
labels stay refused.
"""
import pathlib

from inputs import MODEL, RECORDS, WORDS, bert_of_words, write_jsonl
from outputs import data, read_json

WORKLOAD = RECORDS + 'label = "label"\n' + MODEL.replace('"model",', '"model", head = "classification",')
HOW = r"\b(convert|write|quote|replace|turn|map|use|set|give|make|add)\b"


def classes_of(folder):
    file = pathlib.Path(folder, "config.json")
    return list(read_json(file)["id2label"].values()) if file.exists() else []


def train_on(hydra, name, label):
    write_jsonl(f"{name}.jsonl", [{"text": " ".join(WORDS[i:i + 5]), "label": label(i)} for i in range(8)])
    return hydra.train(f"run-{name}", *data(f"{name}.jsonl"))


def two_classes(hydra, name, label, value):
    ran = train_on(hydra, name, label)
    hydra.export(f"run-{name}", name)
    classes = classes_of(name)
    hint = ran.refused(rf"{name}\.jsonl.*\b1\b", r"\blabel\b", value, HOW)
    return (len(classes) == 2 or hint, f"{name}: {classes or ran.brief()}",
            "two classes, or a refusal that says how to write them")


def case(hydra):
    bert_of_words(num_labels=2)
    lists = train_on(hydra, "list", lambda i: [i % 2])
    yield lists.refused(r"list\.jsonl.*\b1\b", "label"), "lists: " + lists.brief(), "refused"
    yield two_classes(hydra, "bool", lambda i: i % 2 == 0, "true")
    yield two_classes(hydra, "real", lambda i: float(i % 2), r"0\.0")
