"""An answer that is tokenised on its own gets the blank of a text's begin (Llama 2, Mistral, TinyLlama)

Reports: NVIDIA-NeMo/Speech#14547, axolotl-ai-cloud/axolotl#214, huggingface/transformers#31513: prompt and answer are
tokenised apart, a SentencePiece-like normalizer puts a blank before each, so that "2+2=" and "4" become "2+2= 4".
Right: the tokens of tokenizer(prompt + answer); here the prompt's tokens are a prefix of them, so there is no doubt
which tokens are the answer's.
Passes: the loss of `hydra evaluate`, and of the first step of the training, is that of these tokens.
"""
from inputs import MODEL, RECORDS, answer, loss_of, mean, piece_bpe, save_tokenizer, tiny, write_jsonl
from outputs import loss_is, near, reported, show

WORKLOAD = RECORDS + 'prompt = "question"\nanswer = "answer"\n' + MODEL.replace("size = 2", "size = 3")
QA = [("Q: 7+9=", "16"), ("Q: 8-3=", "5"), ("Q: 40+2=", "42")]


def case(hydra):
    t = piece_bpe()
    model = tiny("Llama", "model", vocab_size=t.get_vocab_size(), bos_token_id=1, eos_token_id=2)
    save_tokenizer(t, "model", bos_token="<s>", eos_token="</s>", unk_token="<unk>", add_bos_token=False)
    write_jsonl("data.jsonl", [{"question": q, "answer": a} for q, a in QA])
    joint = []
    for q, a in QA:
        whole, prompt = t.encode(q + a).ids, t.encode(q).ids
        assert whole[:len(prompt)] == prompt
        joint.append(loss_of(model, *answer(prompt, whole[len(prompt):] + [2])))
    yield loss_is(hydra.evaluate(), mean(joint))
    hydra.train()
    first = reported("run")[:1]
    yield first and near(first[0], mean(joint)), f"trained {first}", show(mean(joint))
