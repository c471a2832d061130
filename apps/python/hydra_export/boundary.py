"""A boundary: what crosses a cut, as one flat buffer. FORMAT.md, "Boundaries"."""
import math

import torch

from .scalar_types import BYTES, TYPES
from .sizes import evaluated

ALIGNMENT = 256  # bytes


def numbers(sizes, batch):
    return [evaluated(size, batch) for size in sizes]


def bytes_in(part, batch):
    return BYTES[part["type"]] * math.prod(numbers(part["shape"], batch))


def padded(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def bytes_of_boundary(parts, batch):
    return sum(padded(bytes_in(part, batch)) for part in parts)


def views(parts, flat, batch, strides="strides"):
    """The values of a flat byte buffer, not copied; with strides="gradient" those of gradients, None where there is none."""
    found, offset = [], 0
    for part in parts:
        size = bytes_in(part, batch)
        view = None
        if part[strides] is not None:
            view = flat.narrow(0, offset, size).view(TYPES[part["type"]])
            view = view.as_strided(numbers(part["shape"], batch), numbers(part[strides], batch))
        found.append(view)
        offset += padded(size)
    return found


def packed(parts, values, batch, strides="strides"):
    """A flat byte buffer of the values; those that are None are zeros."""
    flat = torch.zeros(bytes_of_boundary(parts, batch), dtype=torch.uint8)
    for place, value in zip(views(parts, flat, batch, strides), values):
        if value is not None and place is not None:
            place.copy_(value)
    return flat
