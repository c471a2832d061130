"""A module as a list of calls of operations, in the order of its forward()."""
import dataclasses

import torch

from .sizes import sources


@dataclasses.dataclass
class Value:
    """What a call makes, or the module is given. Shape and strides are sizes (sizes.py); strides are those that torch.export
    predicts until layouts.py has seen real ones."""
    kind: str  # "input", "parameter", "constant", "average" (statistics of a batch norm) or "call"
    shape: list
    strides: list
    type: str
    gradient: list | None = None  # strides of the gradient; None: there is none
    dense: bool = True  # its layout and its gradient's are dense, and the same for all numbers of samples


@dataclasses.dataclass
class Call:
    """An operation; `arguments` are as in graph.json (arguments.py), all of the schema's and in its order."""
    op: str
    overload: str
    arguments: list
    out: list  # names of values; None where nobody reads a result
    is_list: bool = False  # the operation returns one list of tensors
    grad: bool = True  # False: in a region of torch.no_grad()
    place: str = ""  # for messages
    path: str = ""  # of the module
    writes: list = dataclasses.field(default_factory=list)  # values whose storage it changes

    def reads(self):
        """Names of values among its arguments, and of those whose sizes it needs."""
        return list(values_in(self.arguments)) + sizes_in(self.arguments)

    def document(self):
        """As written in graph.json."""
        made = {"op": self.op, "overload": self.overload, "args": self.arguments, "out": self.out}
        return made | ({"list": True} if self.is_list else {}) | ({} if self.grad else {"grad": False})


@dataclasses.dataclass
class Stored:
    """A tensor of the module under its first name; `names` are all its names in the module's state_dict()."""
    name: str
    tensor: torch.Tensor
    names: list


class Graph:
    """values: by name; those of parameters start with "p:", those of constants with "c:". storage: for each value the one
    whose memory it may share. stored: for each value of a parameter, constant or average its tensor. reached: those that have a
    gradient, when the graph has been observed."""

    def __init__(self):
        self.calls, self.values, self.inputs, self.output = [], {}, [], None
        self.stored, self.storage, self.reached = {}, {}, set()

    def add(self, name, value):
        if name in self.values:
            raise AssertionError(f"two values are named {name}")
        self.values[name] = value
        self.storage[name] = name

    def share(self, name, other):
        """`name` may be a view of `other`."""
        self.storage[self.root(name)] = self.root(other)

    def root(self, name):
        while self.storage[name] != name:
            name = self.storage[name]
        return name

    def is_trained(self, name):
        return self.values[name].kind == "parameter" and name in self.reached


def values_in(argument):
    """Names of the values in an argument of a call, in order."""
    if isinstance(argument, list):
        for part in argument:
            yield from values_in(part)
    elif isinstance(argument, dict) and "v" in argument:
        yield argument["v"]


def sizes_in(argument):
    """Names of the values whose sizes an argument of a call needs."""
    if isinstance(argument, list):
        return [name for part in argument for name in sizes_in(part)]
    return sources(argument["e"]) if isinstance(argument, dict) and "e" in argument else []
