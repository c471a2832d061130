"""Runs the calls of graph.json with PyTorch: what torch.export's graph computes, with gradients, one operation at a time."""
import contextlib
import dataclasses
import functools
import math

import torch

from .graph import sizes_in, values_in
from .scalar_types import TYPES
from .sizes import evaluated


class PlainDropout(torch.autograd.Function):
    """Stands for Hydra's dropout where nothing may be drawn: a contiguous copy, and one of the gradient, as that makes them."""

    @staticmethod
    def forward(_, value):
        return value.clone(memory_format=torch.contiguous_format)

    @staticmethod
    def backward(_, upstream):
        return upstream.clone(memory_format=torch.contiguous_format)


def argument(given, values, batch, device):
    """The Python value of an argument of graph.json."""
    if given is None:
        return None
    if isinstance(given, list):
        return [argument(part, values, batch, device) for part in given]
    (kind, what), = given.items()
    if kind == "v":
        return values[what]
    if kind == "e":
        return evaluated(what, batch, values)
    readers = {"f": float, "dt": TYPES.get, "dev": lambda _: device, "lay": lambda _: torch.strided,
               "mf": lambda name: getattr(torch, name)}
    return readers[kind](what) if kind in readers else what


@functools.lru_cache(maxsize=None)
def operation(op, overload):
    """The overload, and for each argument the name by which it must be given, if it must."""
    namespace, name = op.split("::")
    found = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
    return found, [a.name if a.kwarg_only else None for a in found._schema.arguments]


def run_operation(call, given):
    found, names = operation(call["op"], call["overload"])
    return found(*[value for value, name in zip(given, names) if name is None],
                 **{name: value for value, name in zip(given, names) if name is not None})


def run_batch_norm(call, given, training, statistics):
    """On copies of the statistics; those after the call are put into `statistics`, by value."""
    means, variances = (None if t is None else t.detach().clone() for t in given[3:5])
    result = torch.ops.aten.batch_norm.default(*given[:3], means, variances, training or means is None, *given[5:7], True)
    if statistics is not None and means is not None and training:
        statistics[call["args"][3]["v"]], statistics[call["args"][4]["v"]] = means, variances
    return result


def run_attention(given, training, draw):
    """PyTorch's, but for steps in which dropout is drawn: then written out (FORMAT.md, "hydra::attention")."""
    query, key, value, mask, p, is_causal, scale, enable_gqa, site = given
    if draw is None or not training:
        return torch.ops.aten.scaled_dot_product_attention.default(query, key, value, mask, 0.0, is_causal, scale=scale,
                                                                   enable_gqa=enable_gqa)
    if enable_gqa:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    scores = query.matmul(key.transpose(-2, -1)).mul(scale if scale is not None else 1 / math.sqrt(query.shape[-1]))
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf) if mask.dtype == torch.bool else scores + mask
    return draw(scores.softmax(-1), p, site).matmul(value)


def run_dropout(given, training, draw):
    if not training:
        return given[0]
    return PlainDropout.apply(given[0]) if draw is None else draw(*given)


def run_one(call, given, options):
    if call["op"] == "hydra::dropout":
        return run_dropout(given, options.training, options.draw)
    if call["op"] == "hydra::attention":
        return run_attention(given, options.training, options.draw)
    if call["op"] == "hydra::batch_norm":
        return run_batch_norm(call, given, options.training, options.statistics)
    return run_operation(call, given)


@dataclasses.dataclass
class Options:
    """draw(value, p, site) is dropout; without it nothing is dropped, and dropout copies. statistics gets the statistics of
    batch norms after the calls, by value. seen is called with each name and value that is made."""
    training: bool = True
    draw: object = None
    statistics: dict | None = None
    seen: object = None


def last_reads(calls, kept):
    """For each call the values that nothing reads after it."""
    last = {}
    for i, call in enumerate(calls):
        for name in list(values_in(call["args"])) + sizes_in(call["args"]) + [n for n in call["out"] if n]:
            last[name] = i
    ends = [[] for _ in calls]
    for name, i in last.items():
        if name not in kept:
            ends[i].append(name)
    return ends


def run_calls(calls, values, kept, batch, **options):
    """Runs `calls` (of graph.json) on `values`, by name, for a number of samples, and returns the values named in `kept`."""
    values, options = dict(values), Options(**options)
    device = next((v.device for v in values.values()), torch.device("cpu"))
    for call, ends in zip(calls, last_reads(calls, set(kept))):
        given = [argument(a, values, batch, device) for a in call["args"]]
        with contextlib.nullcontext() if call.get("grad", True) else torch.no_grad():
            made = run_one(call, given, options)
        del given
        for name, value in zip(call["out"], made if isinstance(made, (list, tuple)) else [made]):
            if name is not None:
                values[name] = value
                if options.seen is not None:
                    options.seen(name, value)
        del made
        for name in ends:
            values.pop(name, None)
    return [values[name] for name in kept]
