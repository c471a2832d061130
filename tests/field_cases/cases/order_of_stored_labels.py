"""Labels of a checkpoint's head in another order than the data's

Reports: huggingface/transformers#14230 (NER tags in another order: accuracy defunct out of the box), #10555, #3093.
Right: the data's labels are found in the checkpoint's label2id: accuracy 1. Or a refusal that asks for `labels =
["positive", "negative"]`. After training, the exported id2label fits what was trained. (The checkpoint's id2label is
{0: positive, 1: negative}; sorted, the labels of the data are 0: negative, 1: positive. The head is kept.)
Passes: loss and accuracy of `hydra evaluate`, and after a training the exported model, in transformers, gives at least
90 % of the texts their label; or exit status 2 with `labels` and both names in the message, and that key gives the
right loss.
"""
import json

import torch
import transformers

from inputs import MODEL, RECORDS, WORDS, bert_of_words, write_jsonl
from outputs import attempt, loss_is, near, show

WORKLOAD = RECORDS + 'label = "label"\n' + MODEL.replace("size = 2", "size = 4").replace("steps = 1", "steps = 6")


def label_of(model, words, text):
    with torch.no_grad():
        return model.config.id2label[int(model(**words(text, return_tensors="pt")).logits.argmax())]


def right_loss(model, words, labelled):
    with torch.no_grad():
        logits = torch.cat([model(**words(s, return_tensors="pt")).logits for s, _ in labelled])
    return float(torch.nn.functional.cross_entropy(logits, torch.tensor([model.config.label2id[name] for _, name in labelled])))


def agreement(labelled):
    """Of the exported model with the labels."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained("exported").eval()
    words = transformers.AutoTokenizer.from_pretrained("exported")
    return sum(label_of(model, words, s) == name for s, name in labelled) / len(labelled)


def case(hydra):
    words, model = bert_of_words(id2label={0: "positive", 1: "negative"}, label2id={"positive": 0, "negative": 1}, spread=0.5)
    texts = [" ".join(WORDS[i:i + 6]) for i in range(24)]
    labelled = [(s, label_of(model, words, s)) for s in texts]
    assert len({name for _, name in labelled}) == 2, "choose another seed"
    write_jsonl("data.jsonl", [{"text": s, "label": name} for s, name in labelled])
    right = right_loss(model, words, labelled)

    evaluation, named = hydra.evaluate(), hydra.evaluate("data.d.labels=" + json.dumps(["positive", "negative"]))
    good, got, _ = loss_is(named, right, tolerance=1e-3)
    yield good, f"with labels = [...] {got}", show(right)
    if evaluation.refused("labels", "positive", "negative"):
        return
    accuracy = evaluation.value(key="accuracy")
    yield (near(evaluation.value(), right, 1e-3) and accuracy == 1, f"{evaluation.loss()}, accuracy {accuracy}",
           f"{show(right)}, 1.0, or a refusal that names labels = and both labels")
    hydra.train()
    hydra.export()
    share = attempt(lambda: agreement(labelled))
    yield isinstance(share, float) and share >= 0.9, f"the export agrees with {show(share)} of the labels", "all"
