"""longrope: original_max_position_embeddings inside rope_parameters

Reports: lablup/mlxcel#1358, trymirai/lalamo#326, ggml-org/llama.cpp#24875: the wrong one of two lists of factors is
used.
Right: short_factor for 16 tokens, long_factor for 32, with the magnitude of 64 / 16: losses of transformers.
Passes: four losses of `hydra evaluate --json`.
"""
import pathlib

import torch

from inputs import BYTES, MODEL, TEXTS, causal_model, copied, mean, tiny, write_json
from outputs import loss_is, read_json

WORKLOAD = BYTES + "".join(MODEL.replace('"m"', f'"c{n}"').replace("32", str(n)) for n in (16, 32))
ROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 16,
        "short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 4.0, 8.0, 16.0]}


def right_loss(folder, data, size):
    """The inputs of a sample are `size` tokens: their number decides which factors are used."""
    model, parts = causal_model(folder), []
    for i in range(0, len(data) - size, size):
        window = torch.tensor(list(data[i:i + size + 1]))
        with torch.no_grad():
            logits = model(input_ids=window[None, :-1]).logits[0].double()
        parts.append((float(torch.nn.functional.cross_entropy(logits, window[1:], reduction="sum")), size))
    return mean(parts)


def case(hydra):
    tiny("Phi3", "model", vocab_size=256, max_position_embeddings=64, original_max_position_embeddings=16, rope_parameters=ROPE)
    config = read_json(copied("model", "inside") + "/config.json")
    config.pop("original_max_position_embeddings", None)  # stands in rope_parameters, too
    write_json("inside/config.json", config)
    data = " ".join(TEXTS[:4]).encode()
    pathlib.Path("text.txt").write_bytes(data)
    for folder in ("model", "inside"):
        ran = hydra.evaluate(f"model.chain.from={folder}")
        for size in (16, 32):
            yield loss_is(ran, right_loss(folder, data, size), f"c{size}", 1e-5)
