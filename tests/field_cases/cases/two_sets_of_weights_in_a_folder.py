"""model.safetensors beside the parts of an earlier save

Reports: a smaller model saved into the folder of one in parts; transformers prefers model.safetensors.
Right: what transformers reads (model.safetensors), or a refusal that names both.
Passes: the loss of `hydra evaluate`; or exit status 2 with both names.
"""
from safetensors.torch import load_file, save_file

from inputs import BYTES, MODEL, byte_windows, causal_model, loss_of_windows, tiny, write_json
from outputs import near, show

WORKLOAD = BYTES + MODEL


def case(hydra):
    tiny("Llama", "model", seed=1, vocab_size=256)
    tiny("Llama", "old", seed=2, vocab_size=256)
    weights = load_file("old/model.safetensors")
    names, half = sorted(weights), len(weights) // 2
    parts = {"model-00001-of-00002.safetensors": names[:half], "model-00002-of-00002.safetensors": names[half:]}
    for file, part in parts.items():
        save_file({n: weights[n] for n in part}, f"model/{file}", {"format": "pt"})
    write_json("model/model.safetensors.index.json",
               {"metadata": {}, "weight_map": {n: file for file, part in parts.items() for n in part}})
    right = loss_of_windows(causal_model("model"), byte_windows())
    ran = hydra.evaluate()
    yield (near(ran.value(), right) or ran.refused(r"model\.safetensors\b(?!\.index)", r"index\.json|of-00002"), ran.loss(),
           f"{show(right)}, or a refusal that names both")
