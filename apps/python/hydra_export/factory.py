"""The factory that the command line names, and what is said of its inputs there."""
import difflib
import importlib
import importlib.util
import json
import pathlib
import re
import sys

import torch

from .refused import Refused
from .request import Export, as_request
from .scalar_types import REAL, TYPES

INPUT = re.compile(r"(?P<name>\w+)=(?P<type>\w+)\[(?P<shape>[\d,]*)\](?:<(?P<bound>\d+))?")
SAMPLES = 4


def imported(name):
    """A module by its dotted name or the path of its file."""
    if name.endswith(".py"):
        path = pathlib.Path(name)
        if not path.is_file():
            raise Refused(f"{name}: no such file")
        sys.path.insert(0, str(path.resolve().parent))
        return importlib.import_module(path.stem)
    if importlib.util.find_spec(name.split(".")[0]) is None:
        raise Refused(f'there is no Python module "{name}" in this folder or among the installed ones')
    return importlib.import_module(name)


def find_factory(text):
    """The function of MODULE:FACTORY."""
    name, colon, function = text.rpartition(":")
    if not colon:
        raise Refused(f'"{text}": say MODULE:FACTORY, as my_model:build')
    module = imported(name)
    if not callable(getattr(module, function, None)):
        near = difflib.get_close_matches(function, dir(module), 1)
        raise Refused(f'{name} has no function "{function}"' + (f'; did you mean "{near[0]}"?' if near else ""))
    return getattr(module, function)


def named_value(text):
    """KEY=VALUE; the value is JSON, or else a text."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise Refused(f'"{text}": say KEY=VALUE')
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def example(text):
    """NAME=TYPE[SIZE,...]<BOUND: the name and some samples. Real numbers are normal; integers are below the bound, or 1
    without one; bool is True."""
    found = INPUT.fullmatch(text)
    if found is None or found["type"] not in TYPES:
        raise Refused(f'"{text}": say NAME=TYPE[SIZE,...] with the sizes of one sample, as pixels=f32[3,224,224], '
                      f"ids=i64[128]<50257; types are {', '.join(TYPES)}")
    shape = [SAMPLES, *(int(size) for size in found["shape"].split(",") if size)]
    generator = torch.Generator().manual_seed(1)
    if found["type"] in REAL:
        return found["name"], torch.randn(shape, generator=generator).to(TYPES[found["type"]])
    if found["bound"]:
        return found["name"], torch.randint(int(found["bound"]), shape, generator=generator).to(TYPES[found["type"]])
    return found["name"], torch.ones(shape, dtype=TYPES[found["type"]])


def request_of(factory, arguments, inputs):
    """The Export that the factory makes; `inputs` from the command line replace its own."""
    made = factory(**dict(named_value(text) for text in arguments))
    if not inputs:
        return as_request(made)
    named = dict(example(text) for text in inputs)
    if isinstance(made, torch.nn.Module):
        return Export(made, named)
    request = as_request(made)
    request.inputs = named
    return request
