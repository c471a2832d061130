"""Checkpoints that are quantised already (...-bnb-4bit, ...-FP8, ...-GPTQ)

Reports: unslothai/unsloth#377 (base: ...-bnb-4bit), huggingface/transformers#34847, #44983.
Right: a refusal that says that the checkpoint is quantised already (quant_method), and that the one in 16 bits is
needed, with base = "nf4".
Passes: exit status 2 with the word quantised and the method, for three of them (or, for FP8, the right loss). Of a
checkpoint whose sizes are wrong the message does not say quantised.
"""
import torch

from inputs import MODEL, RECORDS, change_json, change_weights, copied, llama_of_words, loss_of_texts, write_texts
from outputs import near, says

WORKLOAD = RECORDS + MODEL
CONFIGS = {"bnb": {"quant_method": "bitsandbytes", "load_in_4bit": True},
           "fp8": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "gptq": {"quant_method": "gptq", "bits": 4}}
METHODS = {"bnb": r"bitsandbytes|\b4.?bits?\b|nf4", "fp8": r"fp8(?!/)|float8|\b8.?bits?\b|F8_E4M3",
           "gptq": r"gptq(?!/)|\b4.?bits?\b|quant_method"}


def quantised(name, key, v):
    """Tensors that stand in place of a matrix, as each method names them."""
    if name == "bnb":
        return {key: torch.zeros(v.numel() // 2, 1, dtype=torch.uint8), key + ".absmax": torch.ones(v.numel() // 64 + 1),
                key + ".quant_map": torch.zeros(16),
                key + ".quant_state.bitsandbytes__nf4": torch.zeros(90, dtype=torch.uint8)}
    if name == "fp8":
        return {key: v.to(torch.float8_e4m3fn), key + "_scale_inv": torch.ones(1, 1)}
    return {key.replace("weight", "qweight"): torch.zeros(v.shape[1] // 8, v.shape[0], dtype=torch.int32),
            key.replace("weight", "scales"): torch.ones(1, v.shape[0])}


def change(name, weights):
    made = {}
    for key, v in weights.items():
        made |= quantised(name, key, v) if "proj" in key else {key: v}
    return made


def rounded(model):
    """What is right for fp8, whose scales are 1."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "proj" in name:
                p.copy_(p.to(torch.float8_e4m3fn).float())
    return model


def case(hydra):
    words, model = llama_of_words()
    write_texts("data.jsonl", ["the cat"] * 4)
    right_of_fp8 = loss_of_texts(rounded(model), words, ["the cat"])
    for name, config in CONFIGS.items():
        change_weights(copied("model", name), lambda w, n=name: change(n, w))
        change_json(f"{name}/config.json", quantization_config=config)
        ran = hydra.evaluate(f"model.chain.from={name}")
        yield (ran.refused(r"quanti[sz]", METHODS[name]) or name == "fp8" and near(ran.value(), right_of_fp8),
               f"{name}: {ran.loss()}", "a refusal that says how it is quantised")
    change_json(copied("model", "other") + "/config.json", intermediate_size=64)
    other = hydra.evaluate("model.chain.from=other")
    yield (other.status == 2 and not says(other.text, r"quanti[sz]"), "of another width: " + other.brief(),
           "a refusal without a word about quantisation")
