"""Other shapes of conversations

Reports: axolotl-ai-cloud/axolotl#1654, #2286, NVIDIA-NeMo/Automodel#3143. `content` is a list of parts;
prompt/completion of TRL; alpaca's instruction/input/output.
Right: parts of type text are joined (transformers and OpenAI files have them); the other files are refused with a way
out.
Passes: the list of parts is joined, or the message says to join or write it as a text; null and the role tool are
refused by line; TRL's prompt/completion, alpaca's instruction/output and prompt/chosen/rejected are read, or the
message names the keys that are there, and how to read or write them.
"""
from inputs import chat_bpe, save_tokenizer, write_jsonl

WAY_OUT = r"=|rename|convert|write|turn|not supported|instead|\bas\b"


def said(role, content):
    return {"role": role, "content": content}


def ids_of(hydra, name, record):
    write_jsonl(f"{name}.jsonl", [record])
    return hydra(f"tokenize {name}.jsonl --tokenizer tok --template chatml --json")


def part(ran, keys, read=False):
    told = ran.refused(*[rf"\b{k}\b" for k in keys], WAY_OUT)
    return read or told, f"{'/'.join(keys)}: " + ran.brief(), "read, or a refusal that names these keys and a way out"


def case(hydra):
    t = chat_bpe()
    save_tokenizer(t, "tok", eos_token="<|im_end|>")
    right = t.encode("<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\na dog<|im_end|>\n").ids
    cat, dog = said("user", "the cat"), said("assistant", "a dog")

    parts = [said(m["role"], [{"type": "text", "text": m["content"]}]) for m in (cat, dog)]
    ran = ids_of(hydra, "parts", {"messages": parts})
    joined = ran.ids() == right
    yield (joined or ran.refused("content", r"join|write|\bput\b|string|plain text|one text|instead"),
           "list of parts: " + ("joined" if joined else ran.brief()), "joined, or a refusal that says how to write it")
    ran = ids_of(hydra, "null", {"messages": [cat, said("assistant", None)]})
    yield ran.refused("content", r"\b1\b"), "null: " + ran.brief(), "a refusal that names the line"
    ran = ids_of(hydra, "tools", {"messages": [cat, dog, said("tool", "5")]})
    yield (ran.refused("tool", r"\b1\b") or len(ran.ids() or []) > len(right), "tool: " + ran.brief(),
           "its turn, or a refusal that names it")
    ran = ids_of(hydra, "trl", {"prompt": [cat], "completion": [dog]})
    yield part(ran, ("prompt", "completion"), ran.ids() == right)
    ran = ids_of(hydra, "instruct", {"instruction": "say", "input": "the cat", "output": "a dog"})
    yield part(ran, ("instruction", "output"), (ran.ids() or [])[-6:] == right[-6:])
    yield part(ids_of(hydra, "prefs", {"prompt": "the cat", "chosen": "a dog", "rejected": "rain"}), ("chosen", "rejected"))
