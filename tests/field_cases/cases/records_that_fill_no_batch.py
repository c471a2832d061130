"""A last batch that is not full

Reports: fastai/fastai#2416, muzairkhattak/PromptSRC#22 (open: 2 of 10 samples are never seen), RasmussenLab/vamb#425.
drop_last leaves records out without a word; on small data sets much is never seen in an epoch.
Right: with epochs = 1, 10 records and a batch of 4, either 3 steps (the last of 2 records), or something says that 2 of
10 records are left out in each epoch.
Passes: 3 steps; or a line, or a column of a table, of `plan` or `train` says it with the number, and nothing does for 8
records.
"""
from inputs import MODEL, RECORDS, TEXTS, llama_of_words, write_texts
from outputs import LEFT_OUT, counted, data, reported

WORKLOAD = RECORDS + MODEL.replace("steps", "epochs").replace("size = 2", "size = 4").replace("32", "64")


def case(hydra):
    llama_of_words()
    write_texts("data.jsonl", TEXTS[:10])
    write_texts("eight.jsonl", TEXTS[:8])
    plan, train = hydra.plan(), hydra.train()
    eight = hydra.plan(*data("eight.jsonl")), hydra.train("run-eight", *data("eight.jsonl"))
    steps, told = len(reported("run")), counted((plan, train), eight, "(2|two|8 of 10)", LEFT_OUT, "record|sample|part")
    yield (steps == 3 or told and steps == 2 or train.refused(r"\b10\b", r"\b4\b", "record|sample"),
           f"{steps} steps" + (", with a note" if told else "") if train.status == 0 else train.brief(),
           "3 steps, or something says that 2 of 10 records are left out in each epoch, for these data alone")
    yield len(reported("run-eight")) == 2, f"of 8 records {len(reported('run-eight'))}", "2"
