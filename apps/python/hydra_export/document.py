"""graph.json: FORMAT.md says what each field means."""
import hashlib
import json
import os

import torch

FORMAT, VERSION = "hydra-graph", 1


def part(graph, name):
    """A value that crosses a boundary."""
    value = graph.values[name]
    return {"name": name, "type": value.type, "shape": value.shape, "strides": value.strides, "gradient": value.gradient}


def input_part(graph, name):
    return part(graph, name) | {"gradient": None}


class Writer:
    """Makes the object of graph.json of a graph and its layers. owners: the layer in which a parameter is first used."""

    def __init__(self, graph, layers):
        self.graph, self.layers, self.owners = graph, layers, set()

    def document(self, loss):
        graph = self.graph
        layers = [self.layer(n, layer) for n, layer in enumerate(self.layers)]
        return {"format": FORMAT, "version": VERSION, "torch": torch.__version__, "precision": self.precision(), "loss": loss,
                "weights": None, "checked": [],
                "inputs": [input_part(graph, name) for name in graph.inputs], "output": part(graph, graph.output),
                "layers": layers}

    def precision(self):
        return next(self.graph.values[name].type for name in self.graph.stored if self.graph.values[name].kind == "parameter")

    def layer(self, index, layer):
        calls = [self.graph.calls[i] for i in layer.calls]
        reads = list(dict.fromkeys(name for call in calls for name in call.reads()))
        made = {"name": self.layer_name(calls), "signature": "",
                "inputs": [part(self.graph, name) for name in layer.inputs],
                "outputs": [part(self.graph, name) for name in layer.outputs],
                "parameters": [self.parameter(index, name, calls) for name in reads
                               if self.graph.values[name].kind in ("parameter", "average")],
                "constants": [self.stored(name) for name in reads if self.graph.values[name].kind == "constant"],
                "calls": [call.document() for call in calls]}
        return made | {"signature": signature(made)}

    def layer_name(self, calls):
        """What the paths of its modules with matrices, or else with parameters, have in common; the first path if nothing."""
        def paths(dimensions):
            return [call.path.split(".") for call in calls if call.path and
                    any(self.graph.values[name].kind == "parameter" and len(self.graph.values[name].shape) >= dimensions
                        for name in call.reads())]
        found = paths(2) or paths(0)
        return ".".join(os.path.commonprefix(found) or (found[0] if found else []))

    def stored(self, name):
        value = self.graph.values[name]
        return {"value": name, "name": name[2:], "type": value.type, "shape": value.shape, "strides": value.strides}

    def parameter(self, index, name, calls):
        made = self.stored(name) | {"trained": self.graph.is_trained(name)}
        if self.graph.values[name].kind == "average":
            norm = next(call for call in calls if {"v": name} in call.arguments and call.op == "hydra::batch_norm")
            return made | {"averaging": norm.arguments[5]["f"]}
        if name in self.owners:
            return made | {"name": f"{name[2:]}@{index}", "tied_to": name[2:]}
        self.owners.add(name)
        return made


def signature(layer):
    """16 hexadecimal digits, equal for layers that compute the same of values of the same shapes: names are numbered in the
    order in which they appear, and so are the sites of dropout."""
    numbers = {}

    def number(name):
        return numbers.setdefault(name, len(numbers))

    def renamed(argument):
        if isinstance(argument, list) and argument[:1] == ["size"]:
            return ["size", number(argument[1]), argument[2]]
        if isinstance(argument, list):
            return [renamed(part) for part in argument]
        if isinstance(argument, dict):
            return {key: number(part) if key == "v" else renamed(part) for key, part in argument.items()}
        return argument

    def unsited(call):
        return call["args"][:-1] if call["op"] in ("hydra::dropout", "hydra::attention") else call["args"]

    def parts(listed, name):
        return [[number(p[name]), p["type"], renamed(p["shape"]), renamed(p["strides"]), renamed(p.get("gradient")),
                 p.get("trained"), p.get("averaging")] for p in listed]

    content = [parts(layer["inputs"], "name"), parts(layer["parameters"], "value"), parts(layer["constants"], "value")]
    content += [[call["op"], call["overload"], renamed(unsited(call)), [o and number(o) for o in call["out"]],
                 call.get("grad", True)] for call in layer["calls"]]
    content += [parts(layer["outputs"], "name")]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
