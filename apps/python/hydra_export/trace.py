"""torch.export of a module with a free batch size, never decomposed, and what its errors mean for the module's author."""
import contextlib
import dataclasses
import io
import logging
import os
import warnings

import torch
from torch.export.graph_signature import InputKind

from .eager_ways import as_eager
from .refused import Refused, frames_of, line_of_error, line_of_stack
from .results import returning

EXPERTS = 'transformers\' mixtures of experts: experts_implementation="batched_mm"'
VALUES = f"the model branches on values that depend on data: use torch.where, or compute both branches ({EXPERTS})"


@dataclasses.dataclass
class Traced:
    """program: the torch.export.ExportedProgram. batch: the name of the symbol of its batch size."""
    program: object
    batch: str


def at(line):
    return f"{line}: " if line else ""


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def cause(error, kind):
    """The exception of a class of this name that led to the error, itself included; None if there is none."""
    while error is not None:
        if kind in [c.__name__ for c in type(error).__mro__]:
            return error
        error = error.__cause__ or error.__context__
    return None


def is_of_batch_norm(error):
    return any(file.endswith(os.path.join("nn", "modules", "batchnorm.py")) for file, _ in frames_of(error))


def explain(error):
    """What an exception of torch.export means."""
    if is_of_batch_norm(error):
        return Refused(f"{at(line_of_error(error))}a batch norm whose momentum is None: its statistics are a cumulative "
                       "average; give it a number, as 0.1")
    guard = cause(error, "GuardOnDataDependentSymNode")
    if guard is not None:
        return Refused(f"{at(line_of_error(guard) or line_of_error(error))}{VALUES}")
    if "Constraints violated" in str(error) or cause(error, "ConstraintViolationError") is not None:
        reasons = [line.strip(" -") for line in str(error).splitlines() if line.strip().startswith("- ")]
        reason = (reasons or [first_line(error)])[0].split(". ")[0]
        return Refused(f"{at(line_of_stack(str(error)))}the model is tied to a number of samples ({reason}): take sizes from "
                       "x.shape[0], and neither compare them nor make them an int")
    if "data-dependent" in str(error) or "data dependent" in str(error):
        return Refused(f"{at(line_of_error(error))}{VALUES}")
    return Refused(f"{at(line_of_error(error))}torch.export cannot follow the model: {type(error).__name__}: "
                   f"{first_line(error)}. Write this part as tensor operations without side effects ({EXPERTS})")


def dynamic_shapes(named):
    """A free first dimension for each tensor, in the structure that torch.export asks for."""
    batch = torch.export.Dim("B", min=1)
    return {name: {0: batch} if isinstance(value, torch.Tensor) else None for name, value in named.items()}


def batch_symbol(program):
    """The name of the symbol of the batch size. Throws Refused if the model works for the example's number alone."""
    user = {s.arg.name for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT}
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in user and isinstance(node.meta.get("val"), torch.Tensor):
            size = node.meta["val"].shape[0]
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                return str(size.node.expr)
    raise Refused("the model works for one number of samples alone: take sizes from x.shape[0], and give an example of two "
                  "or more samples")


def quiet_export(module, named, shapes):
    """torch.export without what it prints of a model that it cannot follow."""
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            return torch.export.export(module, (), named, dynamic_shapes=shapes, strict=False)
    finally:
        logging.disable(logging.NOTSET)


def trace(request, named):
    """Traced of a request's module for these inputs, two samples or more. Throws Refused."""
    shapes = dynamic_shapes(named)
    with as_eager(), returning(request.module, request.output, named):
        try:
            program = quiet_export(request.module, named, shapes)
        except Refused as refused:
            line = line_of_error(refused)
            raise Refused(f"{at(line)}{refused}") from None
        except Exception as error:  # torch.export lets through whatever the module or its own parts throw
            raise explain(error) from error
    return Traced(program, batch_symbol(program))
