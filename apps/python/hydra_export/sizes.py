"""Sizes that depend on the batch: an integer, "B", [operation, size...] or ["size", value, dimension]. FORMAT.md, "Sizes"."""
import functools
import math

import sympy
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod, PythonMod

from .refused import Refused

OPERATIONS = {"+": sum, "*": math.prod, "//": lambda a: a[0] // a[1], "%": lambda a: a[0] % a[1], "max": max, "min": min}
WRITTEN = ((sympy.Add, "+"), (sympy.Mul, "*"), (FloorDiv, "//"), (Mod, "%"), (PythonMod, "%"), (Max, "max"), (Min, "min"))


def size_of(size, batch):
    """An int or torch.SymInt as written in graph.json; `batch` is the name of the symbol of the batch size. The size of a
    value whose shape depends on data is ["size", SYMBOL], which with_readers() completes. Throws Refused for other
    functions than those of OPERATIONS."""
    return int(size) if not hasattr(size, "node") else written(size.node.expr, batch)


def written(expression, batch):
    if expression.is_Integer:
        return int(expression)
    if expression.is_Symbol:
        return "B" if str(expression) == batch else ["size", str(expression)]
    if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        return ["*"] + [written(expression.base, batch)] * int(expression.exp)
    for kind, name in WRITTEN:
        if isinstance(expression, kind):
            return functools.reduce(lambda left, right: [name, left, right], [written(a, batch) for a in expression.args])
    raise Refused(f"a size is computed as {expression}: only sums, products, quotients, remainders, minima and maxima of the "
                  "batch size are known")


def with_readers(size, readers):
    """["size", SYMBOL] becomes ["size", value, dimension]; `readers` names for each symbol where it can be read."""
    if not isinstance(size, list):
        return size
    if size[0] == "size":
        if size[1] not in readers:
            raise Refused(f"the size {size[1]} depends on data and is not a dimension of a value")
        return ["size", *readers[size[1]]]
    return [size[0]] + [with_readers(part, readers) for part in size[1:]]


def evaluated(size, batch, values=None):
    """The integer for a batch size. A size that depends on data is read off `values`; without them it counts as 1."""
    if not isinstance(size, list):
        return batch if size == "B" else size
    if size[0] == "size":
        return values[size[1]].shape[size[2]] if values is not None else 1
    return OPERATIONS[size[0]]([evaluated(part, batch, values) for part in size[1:]])


def sources(size):
    """The values that a size is read off."""
    if not isinstance(size, list):
        return []
    return [size[1]] if size[0] == "size" else [name for part in size[1:] for name in sources(part)]


def product(sizes):
    """The sizes multiplied, as a size."""
    known = math.prod(size for size in sizes if isinstance(size, int))
    others = [size for size in sizes if not isinstance(size, int)]
    terms = ([known] if known != 1 or not others else []) + others
    return functools.reduce(lambda left, right: ["*", left, right], terms)
