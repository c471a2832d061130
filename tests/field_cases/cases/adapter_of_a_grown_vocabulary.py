"""New tokens: an adapter with grown embeddings

Reports: huggingface/peft#2290, #1367, EleutherAI/lm-evaluation-harness#1828, huggingface/sentence-transformers#3052:
chat tokens are added, embeddings resized, and adapter and base no longer fit.
Right: the embeddings of 2 new tokens stand in the adapter's folder, and so does the tokenizer: they are used; or a
refusal that names the tokens or the sizes.
Passes: peft's loss with the adapter's tokenizer; or exit status 2 with the tokens or the sizes.
"""
import torch
import transformers

from inputs import MODEL, answer, causal_model, change_json, llama_of_words, loss_of, mean, write_jsonl
from outputs import near, show

WORKLOAD = """
[data.d]
kind = "chat"
template = "chatml"
train = "talks.jsonl"
validation = "talks.jsonl"
""" + MODEL.replace('"model"', '"base"') + 'adapter = { from = "adapter" }\n'
TALK = [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "a dog"}]


def make_adapter(words):
    import peft  # pylint: disable=import-outside-toplevel
    base = causal_model("base")
    base.resize_token_embeddings(len(words), mean_resizing=False)
    model = peft.get_peft_model(base, peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM"))
    torch.manual_seed(3)
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad:
                p.add_(torch.randn_like(p) * 0.1)
    model.eval().save_pretrained("adapter", save_embedding_layers=True)
    words.save_pretrained("adapter")
    change_json("adapter/adapter_config.json", base_model_name_or_path="base")
    return model


def right_loss(model, ids):
    """What the assistant writes has a loss, with the end of its turn."""
    prompt = ids("<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\n")
    return mean([loss_of(model, *answer(prompt, ids("a dog<|im_end|>")))])


def case(hydra):
    t, _ = llama_of_words("base")
    grown = transformers.AutoTokenizer.from_pretrained("base")
    grown.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    model = make_adapter(grown)
    write_jsonl("talks.jsonl", [{"messages": TALK}] * 2)
    of_adapter = right_loss(model, lambda s: grown(s, add_special_tokens=False).input_ids)
    of_base = right_loss(model, lambda s: t.encode(s).ids)
    ran, words = hydra.evaluate(), r"im_start|im_end|\b32[012]\b|embed_tokens"
    yield (near(ran.value(), of_adapter) or near(ran.value(), of_base) or ran.refused(words), ran.loss(),
           "peft's loss, or a refusal that names the tokens or the sizes")
    ran = hydra.evaluate("data.d.tokenizer.file=adapter")
    yield (near(ran.value(), of_adapter) or ran.refused(r"\b32[012]\b", r"vocabulary|embed|token"), ran.loss(),
           f"{show(of_adapter)}, or a refusal that names the sizes")
