"""The begin-of-text token is missing in records of kind = "jsonl"

Reports: unslothai/notebooks#251 (open), h2oai/h2o-llmstudio#636 (open), hiyouga/LlamaFactory#151, huggingface/trl#1709:
Gemma and Llama are fine-tuned without the <bos> that their tokenizer puts before every text; losses collapse upwards.
Right: a record begins as tokenizer(prompt) begins. This tokenizer.json has a TemplateProcessing with the begin-of-text
token, as those of Llama 2, 3 and Gemma.
Passes: the losses of `hydra evaluate`, and of the first step of the training, are those with the token.
"""
from inputs import MODEL, answer, begins_with, byte_bpe, loss_of, mean, save_tokenizer, tiny, write_jsonl, write_texts
from outputs import loss_is, near, reported, show

WORKLOAD = """
[data.qa]
kind = "jsonl"
train = "qa.jsonl"
validation = "qa.jsonl"
prompt = "question"
answer = "answer"

[data.plain]
kind = "jsonl"
train = "plain.jsonl"
validation = "plain.jsonl"
""" + "".join(MODEL.replace('"m"', f'"{n}"').replace('"d"', f'"{n}"').replace("size = 2", "size = 3") for n in ("qa", "plain"))
QA = [("which number is larger seven or nine?", " nine"), ("four plus two equals?", " six yes"), ("is rain red?", " no")]


def case(hydra):
    t = begins_with(byte_bpe(("<|begin_of_text|>", "<|end_of_text|>")), "<|begin_of_text|>")
    model = tiny("Llama", "model", vocab_size=t.get_vocab_size(), bos_token_id=0, eos_token_id=1)
    save_tokenizer(t, "model", bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>")
    write_jsonl("qa.jsonl", [{"question": q, "answer": a} for q, a in QA])
    write_texts("plain.jsonl", [q + a for q, a in QA])

    def ids(text):
        return t.encode(text, add_special_tokens=False).ids

    right = {"qa": mean([loss_of(model, *answer([0] + ids(q), ids(a) + [1])) for q, a in QA]),
             "plain": mean([loss_of(model, [0] + ids(q + a) + [1]) for q, a in QA])}
    evaluation, _ = hydra.evaluate(), hydra.train()
    for name, loss in right.items():
        yield loss_is(evaluation, loss, name)
        first = reported("run", name=name)
        yield len(first) == 1 and near(first[0], loss), f"{name} trained {first}", show(loss)
