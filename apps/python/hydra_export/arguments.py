"""Arguments of operations as written in graph.json: FORMAT.md, "Arguments"."""
import math

import torch

from .refused import Refused, place_of
from .scalar_types import NAMES
from .sizes import size_of

MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")  # by c10::MemoryFormat
FLOATS = ("float", "Optional[float]", "List[float]", "Optional[List[float]]")


class Encoder:
    """`made` has, for each node of the torch.fx graph, the name of its value, or the names of its list of values."""

    def __init__(self, batch, made):
        self.batch, self.made = batch, made

    def encoded(self, given, argument, node):
        """`given` is a node or a Python value, `argument` the schema's. Throws Refused for what a file cannot say."""
        if given is None:
            return None
        if isinstance(given, torch.fx.Node):
            return self.of_node(given, argument, node)
        if isinstance(given, (list, tuple)):
            return [self.encoded(part, argument, node) for part in given]
        if isinstance(given, torch.SymInt):
            return {"e": size_of(given, self.batch)}
        return self.of_constant(given, argument, node)

    def of_node(self, given, argument, node):
        made = self.made.get(given)
        if isinstance(made, str):
            return {"v": made}
        if isinstance(made, list):
            return [{"v": name} for name in made]
        number = given.meta.get("val")
        if isinstance(number, (int, torch.SymInt)) and not isinstance(number, bool):
            return {"e": size_of(number, self.batch)}
        raise Refused(f"{place_of(node)}: {node.target} is given a number that is computed from sizes ({argument.name} = "
                      f"{number}): only integers are; compute it with a tensor")

    def of_constant(self, given, argument, node):
        if isinstance(given, bool):
            return {"b": given}
        if isinstance(given, int) and "MemoryFormat" in str(argument.real_type):  # a schema's default
            return {"mf": MEMORY_FORMATS[given]}
        if isinstance(given, int):
            return {"f": float(given)} if str(argument.type) in FLOATS else {"i": given}
        if isinstance(given, float):
            return {"f": given if math.isfinite(given) else repr(given)}
        if isinstance(given, str):
            return {"s": given}
        if isinstance(given, torch.dtype) and given in NAMES:
            return {"dt": NAMES[given]}
        if isinstance(given, torch.device):
            return {"dev": True}
        if given is torch.strided:
            return {"lay": "strided"}
        if isinstance(given, torch.memory_format):
            return {"mf": str(given).split(".")[1]}
        raise Refused(f"{place_of(node)}: {node.target} is given {argument.name} = {given!r}, which a file cannot say: use "
                      "real numbers and dense tensors")
