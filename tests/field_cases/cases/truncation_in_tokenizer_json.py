""""truncation" and "padding" that were saved in tokenizer.json

Reports: openvinotoolkit/openvino_tokenizers#654, deepjavalibrary/djl#2741, huggingface/transformers#5444: a tokenizer
that was saved with truncation on cuts every text.
Right: AutoTokenizer's ids: all of the text.
Passes: `hydra tokenize --json` gives them.
"""
import pathlib

import transformers

from inputs import TEXTS, byte_bpe, save_tokenizer


def case(hydra):
    t = byte_bpe()
    t.enable_truncation(max_length=4)
    t.enable_padding(length=12, pad_id=0, pad_token="<|endoftext|>")
    save_tokenizer(t, "tok", eos_token="<|endoftext|>", add_bos_token=False)
    pathlib.Path("text.txt").write_text(TEXTS[0])
    right = transformers.AutoTokenizer.from_pretrained("tok")(TEXTS[0], add_special_tokens=False).input_ids
    ran = hydra("tokenize text.txt --tokenizer tok --json")
    yield ran.ids() == right, f"{len(ran.ids())} ids" if ran.ids() else ran.brief(), f"{len(right)} ids"
