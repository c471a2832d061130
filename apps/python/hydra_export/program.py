"""An exported folder, read again and run in Python: what the check compares with the module, and a reader's example."""
import dataclasses
import json
import pathlib

import torch
from safetensors import safe_open

from .boundary import packed, views
from .run_calls import run_calls


@dataclasses.dataclass
class Step:
    """What a step forward and backward finds. gradients: by the parameter's name. statistics: by the statistic's name."""
    output: torch.Tensor
    gradients: dict
    statistics: dict


def restrided(tensor, strides):
    """The same values with other strides."""
    if list(tensor.stride()) == strides:
        return tensor
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def owner(parameter):
    return parameter.get("tied_to", parameter["name"])


class Program:
    """graph: the object of graph.json. tensors: those of model.safetensors by name, with the strides that graph.json says."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.graph = json.loads((folder / "graph.json").read_text())
        self.layers = self.graph["layers"]
        with safe_open(folder / "model.safetensors", "pt") as file:
            self.tensors = {name: file.get_tensor(name) for name in file.keys()}
        for layer in self.layers:
            for stored in layer["parameters"] + layer["constants"]:
                self.tensors[owner(stored)] = restrided(self.tensors[owner(stored)], stored["strides"])

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
                               [p["name"] for p in layer["outputs"]], batch, training=training, statistics=found)
            statistics |= {p["name"]: found[p["value"]] for p in layer["parameters"] if p["value"] in found}
        return values, statistics

    def shards(self, cuts):
        """Layers between cuts; a cut k is before layer k."""
        return [self.layers[a:b] for a, b in zip([0, *cuts], [*cuts, len(self.layers)])]

    def every_cut(self):
        return list(range(1, len(self.layers)))

    def batch_of(self, inputs):
        return inputs[0].shape[0]

    def evaluate(self, inputs):
        """The output for inputs in the order of graph.json, without dropout and with the kept statistics."""
        leaves = [self.leaves(layer) for layer in self.layers]
        return self.run_layers(self.layers, leaves, inputs, self.batch_of(inputs), False)[0][0]

    def step(self, inputs, upstream, cuts):
        """Forward, keeping only what crosses the cuts; then, from the last shard, forward again and backward.
        upstream(output) gives the gradient of the output."""
        batch, shards, boundaries, values = self.batch_of(inputs), self.shards(cuts), [], inputs
        for shard in shards:
            opened = self.opened(shard, boundaries, inputs, batch)
            with torch.enable_grad():  # the kernels that are chosen depend on it
                values, _ = self.run_layers(shard, [self.leaves(layer) for layer in shard], opened, batch)
            values = [v.detach() for v in values]
            boundaries.append(packed(shard[-1]["outputs"], values, batch))
        output = values[0]
        gradients, statistics = {}, {}
        gradient = packed(shards[-1][-1]["outputs"], [upstream(output)], batch, "gradient")
        while shards:
            boundaries.pop()
            gradient = self.backward(shards.pop(), boundaries, inputs, gradient, (gradients, statistics))
        return Step(output, gradients, statistics)

    def opened(self, shard, boundaries, inputs, batch):
        """The inputs of a shard as leaves."""
        if not boundaries:
            return inputs
        parts = shard[0]["inputs"]
        return [v.clone(memory_format=torch.preserve_format).requires_grad_(p["gradient"] is not None)
                for p, v in zip(parts, views(parts, boundaries[-1], batch))]

    def backward(self, shard, boundaries, inputs, upstream, found):
        """Runs a shard again and backward. Adds to `found`, gradients and statistics; returns the gradient of its input."""
        batch, opened = self.batch_of(inputs), self.opened(shard, boundaries, inputs, self.batch_of(inputs))
        leaves = [self.leaves(layer) for layer in shard]
        results, statistics = self.run_layers(shard, leaves, opened, batch)
        found[1].update(statistics)
        pairs = [(r, g) for r, g in zip(results, views(shard[-1]["outputs"], upstream, batch, "gradient"))
                 if g is not None and r.requires_grad]
        if pairs:
            torch.autograd.backward([r for r, _ in pairs], [g for _, g in pairs])
        for layer, own in reversed(list(zip(shard, leaves))):  # as PyTorch's engine adds: from the last use to the first
            add_gradients(layer, own, found[0])
        if not boundaries:
            return None
        return packed(shard[0]["inputs"], [v.grad for v in opened], batch, "gradient")


def add_gradients(layer, leaves, gradients):
    for parameter in layer["parameters"]:
        gradient = leaves[parameter["value"]].grad
        if gradient is not None:
            before = gradients.get(owner(parameter))
            gradients[owner(parameter)] = gradient if before is None else before + gradient
