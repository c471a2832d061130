"""What is exported: a module, examples of what forward() gets, and which of its results is trained on."""
import dataclasses
import inspect

import torch

from .refused import Refused


@dataclasses.dataclass
class Export:
    """What a factory returns; (module, inputs) is short for Export(module, inputs).

    inputs: what forward() gets, by its argument's name: tensors of some samples, [samples, ...], each with the same number
    of samples; other values (numbers, flags, None) are fixed. Or a tensor, or a tuple of them, in the order of the arguments.

    output: the name or the index of the result that is trained on, where forward() returns several.

    loss: None if that result is a prediction, to which Hydra applies the loss of the workload. "mean" or "sum" if it is the
    loss itself, a scalar: over the samples of a batch, the mean or the sum. A scalar is taken as "mean" unless said.
    """
    module: torch.nn.Module
    inputs: object
    output: object = None
    loss: str | None = None


def as_request(made):
    """An Export of what a factory has returned. Throws Refused if it is something else."""
    if isinstance(made, (tuple, list)) and len(made) == 2:
        made = Export(*made)
    if isinstance(made, torch.nn.Module):
        raise Refused("the factory returns a module alone: return (module, inputs) with tensors of some samples, or say "
                      "what they look like with --inputs")
    if not isinstance(made, Export) or not isinstance(made.module, torch.nn.Module):
        raise Refused(f"the factory returns {type(made).__name__}: return (module, inputs) or hydra_export.Export")
    if made.loss not in (None, "mean", "sum"):
        raise Refused(f'loss = {made.loss!r}: None for a prediction, "mean" or "sum" for a loss that the module computes')
    return made


def arguments_of(request):
    """The inputs by the names of forward()'s arguments and in their order, tensors and others."""
    signature = inspect.signature(request.module.forward)
    given = request.inputs
    if isinstance(given, torch.Tensor):
        given = (given,)
    try:
        bound = signature.bind(**given) if isinstance(given, dict) else signature.bind(*given)
    except TypeError as e:
        raise Refused(f"the inputs do not fit {type(request.module).__name__}.forward{signature}: {e}") from None
    named = {}
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind == inspect.Parameter.VAR_POSITIONAL:
            raise Refused(f"forward() takes *{name}: give its arguments names, so that data can be assigned to them")
        named |= value if kind == inspect.Parameter.VAR_KEYWORD else {name: value}
    return named


def samples_of(named):
    """The number of samples in the example. Throws Refused if the tensors disagree or are none."""
    tensors = {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}
    if not tensors:
        raise Refused("there is no tensor among the inputs")
    for name, value in tensors.items():
        if value.dim() == 0 or value.shape[0] == 0:
            raise Refused(f'input "{name}" has the shape {list(value.shape)}: the first dimension is that of the samples; '
                          "register a tensor that all samples share as a buffer")
        if not value.is_floating_point() and value.is_complex():
            raise Refused(f'input "{name}" is complex: pass its real and imaginary part as a real tensor')
    counts = {name: value.shape[0] for name, value in tensors.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name}: {count}" for name, count in counts.items())
        raise Refused(f"the inputs have different numbers of samples ({said}): the first dimension is that of the samples; "
                      "register a tensor that all samples share as a buffer")
    return next(iter(counts.values()))


def repeated(named, samples):
    """The inputs with another number of samples: those of the example again and again."""
    def one(value):
        if not isinstance(value, torch.Tensor):
            return value
        rows = torch.arange(samples, device=value.device) % value.shape[0]
        order = sorted(range(value.dim()), key=lambda d: -value.stride(d))
        again = value.detach().permute(order)  # so that the dimensions keep their order in memory
        again = again.index_select(order.index(0), rows).contiguous()
        return again.permute([order.index(d) for d in range(value.dim())])
    return {name: one(value) for name, value in named.items()}
