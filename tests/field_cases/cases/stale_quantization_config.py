"""quantization_config that a merge has left in config.json

Reports: huggingface/transformers#34847, huggingface/peft#2105: a 4-bit model is dequantised or merged and saved in
full, and its config.json still says bitsandbytes.
Right: the export, whose weights are fp32, has no quantization_config; transformers loads the values that were trained.
Or the checkpoint is refused.
Passes: the exported config.json lacks the key, and transformers reads the tensors of the file; or exit status 2 with
quantization_config in the message.
"""
import pathlib

from safetensors.torch import load_file

from inputs import MODEL, TEXTS, causal_model, change_json, llama_of_words
from outputs import attempt, read_json

WORKLOAD = """
[data.d]
kind = "text"
train = "text.txt"
validation = "text.txt"
""" + MODEL


def difference():
    """Between the exported weights and what transformers makes of them."""
    stored, loaded = load_file("exported/model.safetensors"), causal_model("exported").state_dict()
    return max(float((loaded[k].float() - v.float()).abs().max()) for k, v in stored.items())


def case(hydra):
    llama_of_words()
    change_json("model/config.json", quantization_config={
        "quant_method": "bitsandbytes", "load_in_4bit": True, "_load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_compute_dtype": "float32", "llm_int8_skip_modules": None, "bnb_4bit_use_double_quant": False})
    pathlib.Path("text.txt").write_text(" ".join(TEXTS[:6]))
    train = hydra.train()
    if train.refused("quantization_config"):
        yield True, "refused: " + train.brief(), ""
        return
    hydra.export()
    config = attempt(lambda: read_json("exported/config.json"))
    yield (isinstance(config, dict) and "quantization_config" not in config, f"keys of the export {list(config)}",
           "no quantization_config, since the weights are fp32")
    worst = attempt(difference)
    yield worst == 0, f"transformers reads the export, off by {worst}", "those of the file"
