"""Messages of the assistant that are not to be learnt

Reports: axolotl-ai-cloud/axolotl#1703, #1702, openai/openai-cookbook#1074: OpenAI's and Mistral's fine-tuning files
mark bad answers by "weight": 0 (axolotl: "train": false); a tool that does not know the key teaches them.
Right: no loss on these messages, or a refusal that names the key with its line.
Passes: the number of tokens with a loss in `hydra tokenize --json`; or exit status 2 with the key and the line. Of both
keys.
"""
from inputs import chat_bpe, save_tokenizer, write_jsonl


def part(hydra, key, mark, right):
    write_jsonl(f"{key}s.jsonl", [{"messages": [
        {"role": "user", "content": "the cat"}, {"role": "assistant", "content": "a dog ran", key: mark},
        {"role": "user", "content": "no"}, {"role": "assistant", "content": "the red house"}]}])
    ran = hydra(f"tokenize {key}s.jsonl --tokenizer tok --template chatml --json")
    learnt = sum((ran.json() or {}).get("loss", []))
    return (learnt == right or ran.refused(rf"\b{key}\b(?!\.jsonl)", rf"{key}s\.jsonl.*\b1\b"),
            f"{key}: {learnt} tokens learnt" if ran.status == 0 else ran.brief(),
            f'{right}, or a refusal that names "{key}" and the line')


def case(hydra):
    t = chat_bpe()
    save_tokenizer(t, "tok", eos_token="<|im_end|>")
    right = len(t.encode("the red house<|im_end|>").ids)
    yield part(hydra, "weight", 0, right)
    yield part(hydra, "train", False, right)
