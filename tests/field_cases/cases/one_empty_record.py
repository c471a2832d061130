"""Empty texts in a large file

Reports: none known; axolotl leaves such rows out with a count.
Right: empty records are left out with a count, or refused with their line and a way out.
Passes: exit status 2 with the line and a way out; or the loss of the other records, and a line that says how many were
left out, which a file without empty records does not get. An empty answer may be learnt, too: then its end has a loss.
"""
from inputs import MODEL, RECORDS, answer, llama_of_words, loss_of, loss_of_texts, mean, write_jsonl, write_texts
from outputs import LEFT_OUT, counted, data, loss_is, near, show

WORKLOAD = RECORDS + MODEL
WAY_OUT = r"leave|left out|remov|delet|drop|skip|filter|fill|\bset\b|\bkey\b|\bjq\b|grep"
QA = [("the cat", ""), ("", "a dog")]


def told(ran, whole):
    return counted((ran,), (whole,), "([123]|one|two|three)", LEFT_OUT, r"empty|blank|no text|without (a )?text|no answer")


def case(hydra):
    words, model = llama_of_words()
    texts = ["the cat sat", "a dog ran"]
    write_texts("data.jsonl", [texts[0], "", texts[1], "  ", None])
    write_texts("whole.jsonl", texts)
    write_jsonl("qa.jsonl", [{"question": q, "answer": a} for q, a in QA])
    right, with_blank = loss_of_texts(model, words, texts), loss_of_texts(model, words, [*texts, "  "])
    qa = [loss_of(model, *answer(words.encode(q).ids, words.encode(a).ids + [0])) for q, a in QA]

    whole, ran = hydra.evaluate(*data("whole.jsonl")), hydra.evaluate()
    yield loss_is(whole, right)
    yield (told(ran, whole) and (near(ran.value(), right) or near(ran.value(), with_blank)) or
           ran.refused(r"data\.jsonl.*\b[245]\b", WAY_OUT), ran.loss(),
           f"{show(right)} and a count of what is left out, or a refusal that names a line and a way out")
    ran = hydra.evaluate(*data("qa.jsonl"), "data.d.prompt=question", "data.d.answer=answer")
    yield (near(ran.value(), mean(qa)) or told(ran, whole) and any(near(ran.value(), mean([one])) for one in qa) or
           ran.refused(r"qa\.jsonl.*\b[12]\b", WAY_OUT), ran.loss(),
           f"{show(mean(qa))}, or a count of what is left out, or a refusal that names a line and a way out")
