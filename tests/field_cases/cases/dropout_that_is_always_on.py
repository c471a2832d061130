"""Dropout with training=True written into forward()

Reports: none known; Monte Carlo dropout is a usual way to get uncertainties.
Right: evaluations drop, too, or the exporter says that Hydra's will not.
Passes: the losses of two evaluations are not that without dropout; or a line of the exporter says that this dropout is
always on, or that evaluations are without, and none does for a module whose dropout obeys eval().
"""
import pathlib
import runpy

import torch
from safetensors.torch import save_file

from outputs import hydra_export, near, says, show

WORKLOAD = """
[data.d]
kind = "tensors"
train = "data.safetensors"
validation = "data.safetensors"

[[model]]
name = "m"
chain = { from = "net" }
data = "d"
batch_size = 4
steps = 1
optimizer = { kind = "sgd", learning_rate = 0.1 }
"""
NET = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 64), nn.Linear(64, 3)

    def forward(self, input):
        return self.b(nn.functional.dropout(torch.relu(self.a(input)), 0.5, training=True))

def build():
    torch.manual_seed(0)
    return Net().eval(), {"input": torch.randn(4, 8)}
"""


def loss_without_dropout(inputs, labels):
    model = runpy.run_path("net.py")["build"]()[0]
    with torch.no_grad():
        return float(torch.nn.functional.cross_entropy(model.b(torch.relu(model.a(inputs))), labels))


def says_so(text):
    return any(says(line, "dropout", r"always|training ?= ?True|evaluation|eval\b") for line in text.splitlines()
               if not says(line, "no dropout"))


def case(hydra):
    pathlib.Path("net.py").write_text(NET)
    pathlib.Path("plain.py").write_text(NET.replace("training=True", "training=self.training"))
    torch.manual_seed(1)
    inputs, labels = torch.randn(16, 8), torch.randint(0, 3, (16,))
    save_file({"input": inputs, "target": labels}, "data.safetensors")
    quiet = loss_without_dropout(inputs, labels)
    exporter = hydra_export("net.py:build", "net")
    plain = hydra_export("plain.py:build", "plain")
    evaluations = hydra.evaluate(), hydra.evaluate("run.seed=2")
    drops = all(r.value() is not None and not near(r.value(), quiet, 1e-3) for r in evaluations)
    told = says_so(exporter.text) and plain.status == 0 and not says_so(plain.text)
    yield (drops or told, evaluations[0].loss() if exporter.status == 0 else exporter.brief(),
           f"not {show(quiet)}, which is without dropout, or the exporter says that evaluations are")
