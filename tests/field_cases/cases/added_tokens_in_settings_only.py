"""Tokens that only tokenizer_config.json adds

Reports: huggingface/tokenizers#1422, huggingface/tokenizers#1444 (Yi), huggingface/transformers#26991: added tokens
stand in added_tokens_decoder (or additional_special_tokens) of tokenizer_config.json, but not in tokenizer.json;
programs that read tokenizer.json alone split them into letters.
Right: ids of AutoTokenizer, and texts that end with the named eos_token; or a refusal that names the tokens.
Passes: ids of `hydra tokenize` and loss of `hydra evaluate`; or exit status 2 with the tokens or the key in the
message. A folder whose added tokens stand in both files is read.
"""
import pathlib

import transformers

from inputs import MODEL, RECORDS, byte_bpe, loss_of, mean, save_tokenizer, tiny, write_texts
from outputs import near

WORKLOAD = RECORDS + MODEL
TEXT = "<|im_start|>the cat<|im_end|> sat <|tool|>on a mat"


def token(text):
    return {"content": text, "special": True, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def case(hydra):
    t = byte_bpe()
    size = t.get_vocab_size()
    model = tiny("Llama", "model", vocab_size=size + 3)
    save_tokenizer(t, "model", eos_token="<|im_end|>", additional_special_tokens=["<|tool|>"], add_bos_token=False,
                   added_tokens_decoder={str(size): token("<|im_start|>"), str(size + 1): token("<|im_end|>")})
    save_tokenizer(t, "same", eos_token="<|endoftext|>", added_tokens_decoder={"0": token("<|endoftext|>")})
    pathlib.Path("text.txt").write_text(TEXT)
    texts = ["the cat sat", "a dog"]
    write_texts("data.jsonl", texts)
    reader = transformers.AutoTokenizer.from_pretrained("model")
    right = reader(TEXT, add_special_tokens=False).input_ids
    loss = mean([loss_of(model, t.encode(s).ids + [size + 1]) for s in texts])
    assert reader.eos_token_id == size + 1

    words = r"im_start|im_end|<\|tool\|>|added_tokens_decoder|additional_special_tokens"
    ran = hydra("tokenize text.txt --tokenizer model --json")
    yield (ran.ids() == right or ran.refused(words), f"{len(ran.ids())} ids" if ran.ids() else ran.brief(),
           f"{len(right)} ids, or a refusal that names the tokens")
    ran = hydra.evaluate()
    yield near(ran.value(), loss) or ran.refused(words), ran.loss(), f"{loss:.4f}: <|im_end|> ends a text"
    ran = hydra("tokenize text.txt --tokenizer same --json")
    yield ran.ids() == t.encode(TEXT).ids, "tokens of both files: " + ("read" if ran.ids() else ran.brief()), "read"
