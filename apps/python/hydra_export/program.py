"""An exported folder, read again and run in Python."""
import json
import pathlib

import torch
from safetensors import safe_open

from .run_calls import run_calls


def restrided(tensor, strides):
    """A copy with other strides, in memory of its own: some kernels round otherwise where memory is not aligned."""
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def owner(parameter):
    return parameter.get("tied_to", parameter["name"])


class Program:
    """graph: the object of graph.json. tensors: those of model.safetensors by name, with the strides that graph.json says.
    draw: dropout, see run_calls(); nothing is dropped without it."""

    def __init__(self, folder, draw=None):
        folder = pathlib.Path(folder)
        self.graph = json.loads((folder / "graph.json").read_text())
        self.layers, self.draw = self.graph["layers"], draw
        with safe_open(folder / "model.safetensors", "pt") as file:
            self.tensors = {name: file.get_tensor(name) for name in file.keys()}
        for layer in self.layers:
            for stored in layer["parameters"] + layer["constants"]:
                if "tied_to" not in stored:
                    self.tensors[stored["name"]] = restrided(self.tensors[stored["name"]], stored["strides"])

    def trained(self):
        """The tensors of the trained parameters by name."""
        return {p["name"]: self.tensors[p["name"]] for layer in self.layers for p in layer["parameters"]
                if p["trained"] and "tied_to" not in p}

    def leaves(self, layer):
        """A layer's parameters and constants by value, the trained ones as leaves of their own."""
        made = {p["value"]: self.tensors[owner(p)].detach().requires_grad_(p["trained"]) for p in layer["parameters"]}
        return made | {c["value"]: self.tensors[c["name"]] for c in layer["constants"]}

    def run_layers(self, layers, leaves, values, batch, training=True):
        """The outputs of the last of `layers`, which follow each other, and the statistics of their batch norms by name."""
        statistics = {}
        for layer, own in zip(layers, leaves):
            found = {}
            values = run_calls(layer["calls"], dict(zip((p["name"] for p in layer["inputs"]), values)) | own,
                               [p["name"] for p in layer["outputs"]], batch, training=training, statistics=found,
                               draw=self.draw)
            statistics |= {p["name"]: found[p["value"]] for p in layer["parameters"] if p["value"] in found}
        return values, statistics

    def every_cut(self):
        return list(range(1, len(self.layers)))

    def evaluate(self, inputs):
        """The output for inputs in the order of graph.json, without dropout and with the kept statistics."""
        leaves = [self.leaves(layer) for layer in self.layers]
        return self.run_layers(self.layers, leaves, inputs, inputs[0].shape[0], False)[0][0]
