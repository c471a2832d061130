"""More tokens than rows of the embedding

Reports: huggingface/transformers#10449 (a device-side assertion is all that users see), huggingface/peft#1932.
Right: a file without the new token may be trained on; one with it is refused, naming the token; both may be refused
with the numbers.
Passes: the loss, or exit status 2 with the sizes, for the first; exit status 2 with the sizes or the token for the
second.
"""
from inputs import MODEL, RECORDS, llama_of_words, loss_of_texts, write_texts
from outputs import data, near, show

WORKLOAD = RECORDS + MODEL


def case(hydra):
    t, model = llama_of_words()
    t.add_special_tokens(["<|new|>"])  # the embedding is not resized
    t.save("model/tokenizer.json")
    write_texts("data.jsonl", ["the cat sat", "a dog ran"])
    write_texts("new.jsonl", ["the <|new|> sat", "a dog ran"])
    right, words = loss_of_texts(model, t, ["the cat sat", "a dog ran"]), (r"\b32[01]\b|<\|new\|>", "token")
    ran = hydra.evaluate()
    yield near(ran.value(), right) or ran.refused(*words), ran.loss(), f"{show(right)}, or a refusal that names the sizes"
    ran = hydra.evaluate(*data("new.jsonl"))
    yield ran.refused(*words), ran.brief(), "a refusal that names the token or the sizes"
