"""BatchNorm with momentum=None in an exported module

Reports: pytorch/pytorch#40074 (ONNX export: momentum 1.0 instead), #31498.
Right: the mean over all batches so far (the learning rate is next to 0), or a refusal.
Passes: the exporter refuses with the word momentum; or these statistics are in the export after a training.
"""
import pathlib
import runpy

import torch
from safetensors.torch import load_file, save_file

from outputs import attempt, hydra_export, near, says

WORKLOAD = """
[data.d]
kind = "tensors"
train = "data.safetensors"
shuffle = false

[[model]]
name = "m"
chain = { from = "net" }
data = "d"
batch_size = 4
steps = 4
optimizer = { kind = "sgd", learning_rate = 1e-12 }
"""
NET = """import torch
from torch import nn

def build():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6, momentum=None), nn.ReLU(), nn.Linear(6, 3))
    return m.train(), {"input": torch.randn(4, 8)}
"""


def right_statistics(inputs):
    model, _ = runpy.run_path("norms.py")["build"]()
    for batch in inputs.split(4):
        model(batch)
    return model[1].running_mean.tolist()


def case(hydra):
    pathlib.Path("norms.py").write_text(NET)
    exporter = hydra_export("norms.py:build", "net")
    if exporter.status:
        yield (says(exporter.text, "momentum") and not says(exporter.text, "Traceback"), "refused: " + exporter.brief(),
               "a refusal that names momentum")
        return
    torch.manual_seed(1)
    inputs = torch.randn(16, 8) * 2 + 1
    save_file({"input": inputs, "target": torch.randint(0, 3, (16,))}, "data.safetensors")
    hydra.train()
    hydra.export(to="trained")
    got = attempt(lambda: load_file("trained/model.safetensors")["1.running_mean"].tolist())
    right = right_statistics(inputs)
    yield isinstance(got, list) and all(near(g, r, 1e-3) for g, r in zip(got, right)), str(got), str(right)
