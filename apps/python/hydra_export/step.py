"""A step of training forward and backward, a shard at a time, as Hydra does it: only what crosses the cuts is kept."""
import dataclasses

import torch

from .boundary import packed, views
from .program import owner


@dataclasses.dataclass
class Step:
    """What a step finds. gradients: by the parameter's name. statistics: of batch norms after it, by the statistic's name."""
    output: torch.Tensor
    gradients: dict
    statistics: dict


class Shards:
    """A Program cut before the layers `cuts`, with inputs in the order of graph.json."""

    def __init__(self, program, inputs, cuts):
        self.program, self.inputs, self.batch = program, inputs, inputs[0].shape[0]
        self.shards = [program.layers[a:b] for a, b in zip([0, *cuts], [*cuts, len(program.layers)])]
        self.boundaries = []  # boundary k is what comes into shard k + 1
        self.found = Step(None, {}, {})

    def opened(self, index):
        """The inputs of a shard as leaves."""
        if index == 0:
            return self.inputs
        parts = self.shards[index][0]["inputs"]
        return [value.clone(memory_format=torch.preserve_format).requires_grad_(part["gradient"] is not None)
                for part, value in zip(parts, views(parts, self.boundaries[index - 1], self.batch))]

    def forward(self):
        """Keeps the boundaries; returns the output."""
        for index, shard in enumerate(self.shards):
            with torch.enable_grad():  # the kernels that are chosen depend on it
                values, _ = self.program.run_layers(shard, self.leaves(shard), self.opened(index), self.batch)
            self.boundaries.append(packed(shard[-1]["outputs"], [v.detach() for v in values], self.batch))
        return values[0].detach()

    def leaves(self, shard):
        return [self.program.leaves(layer) for layer in shard]

    def backward(self, index, upstream):
        """Runs a shard again, then backward from the gradients of its outputs; returns those of its inputs."""
        shard, opened = self.shards[index], self.opened(index)
        leaves = self.leaves(shard)
        results, statistics = self.program.run_layers(shard, leaves, opened, self.batch)
        self.found.statistics.update(statistics)
        pairs = [(r, g) for r, g in zip(results, upstream) if g is not None and r.requires_grad]
        if pairs:
            torch.autograd.backward([r for r, _ in pairs], [g for _, g in pairs])
        for layer, own in reversed(list(zip(shard, leaves))):  # as PyTorch's engine adds: from the last use to the first
            self.add_gradients(layer, own)
        parts = shard[0]["inputs"]
        return views(parts, packed(parts, [v.grad for v in opened], self.batch, "gradient"), self.batch, "gradient")

    def add_gradients(self, layer, leaves):
        for parameter in layer["parameters"]:
            gradient, sums = leaves[parameter["value"]].grad, self.found.gradients
            if gradient is not None:
                name = owner(parameter)
                sums[name] = sums[name] + gradient if name in sums else gradient


def step(program, inputs, upstream, cuts):
    """A Step; upstream(output) gives the gradient of the output."""
    shards = Shards(program, inputs, cuts)
    shards.found.output = shards.forward()
    gradients = [upstream(shards.found.output)]
    for index in reversed(range(len(shards.shards))):
        gradients = shards.backward(index, gradients)
    return shards.found
