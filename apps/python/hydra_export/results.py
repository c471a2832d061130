"""Which result of forward() is trained on, where there are several."""
import contextlib
import dataclasses
import functools
import inspect

import torch

from .refused import Refused


def named_results(result):
    """The tensors that forward() has returned, by field, key or index."""
    if isinstance(result, torch.Tensor):
        return {None: result}
    if isinstance(result, dict):  # transformers' outputs, too
        pairs = result.items()
    elif dataclasses.is_dataclass(result):
        pairs = ((f.name, getattr(result, f.name)) for f in dataclasses.fields(result))
    elif hasattr(result, "_fields"):
        pairs = zip(result._fields, result)
    elif isinstance(result, (tuple, list)):
        pairs = enumerate(result)
    else:
        raise Refused(f"forward() returns {type(result).__name__}: return a tensor")
    return {name: value for name, value in pairs if value is not None}


def chosen_result(result, output):
    """The tensor that is trained on."""
    named = named_results(result)
    names = ", ".join(repr(n) for n in named)
    if output is None and len(named) != 1:
        raise Refused(f"forward() returns several results ({names}): say which one is trained on with "
                      "hydra_export.Export(module, inputs, output=...), or return it alone")
    if output is not None and output not in named:
        raise Refused(f"forward() returns no {output!r}, but {names}")
    value = next(iter(named.values())) if output is None else named[output]
    if not isinstance(value, torch.Tensor):
        raise Refused(f"the result that is trained on is a {type(value).__name__}: return a tensor")
    return value


@contextlib.contextmanager
def returning(module, output, names):
    """Within it, the module's forward() takes the arguments `names`, also those that its own has no names for, and returns the
    result that is trained on alone."""
    forward = module.forward

    @functools.wraps(forward)
    def chosen(*arguments, **named):
        return chosen_result(forward(*arguments, **named), output)

    chosen.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    before = module.__dict__.get("forward")
    module.forward = chosen
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before
