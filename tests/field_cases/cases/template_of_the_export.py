"""Two templates in an exported folder

Reports: of the kind of NVIDIA-NeMo/Automodel#3143: what was trained and what is served differ.
Right: apply_chat_template of the exported folder writes what the training wrote (chatml), although the checkpoint's
tokenizer_config.json has a template of its own, and the end of a turn ends a text.
Passes: both, by transformers.
"""
import transformers

from inputs import MODEL, chat_bpe, save_tokenizer, tiny, write_jsonl
from outputs import attempt, read_json

WORKLOAD = """
[data.d]
kind = "chat"
template = "chatml"
train = "talks.jsonl"
""" + MODEL.replace("size = 2", "size = 1")
TALK = [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "a dog"}]


def served():
    """What transformers writes for a question, and the tokens that end a text."""
    t = transformers.AutoTokenizer.from_pretrained("exported")
    ends = read_json("exported/generation_config.json")["eos_token_id"]
    return (t.apply_chat_template(TALK[:1], tokenize=False, add_generation_prompt=True),
            t.convert_ids_to_tokens(ends if isinstance(ends, list) else [ends]))


def case(hydra):
    t = chat_bpe()
    tiny("Llama", "model", vocab_size=t.get_vocab_size())
    save_tokenizer(t, "model", eos_token="<|endoftext|>",
                   chat_template="{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}")
    write_jsonl("talks.jsonl", [{"messages": TALK}] * 4)
    hydra.train()
    hydra.export()
    got, right = attempt(served), "<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\n"
    yield (isinstance(got, tuple) and got[0] == right and "<|im_end|>" in got[1], repr(got),
           f"{right!r}, and <|im_end|> ends a text")
