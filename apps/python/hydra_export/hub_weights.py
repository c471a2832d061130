"""Weights from the folder of a Hugging Face model, by name, without reading more than one tensor at a time."""
import json
import pathlib

import torch
from safetensors import safe_open

from .refused import Refused

SHOWN = 8  # names in a message


class HubWeights:
    """The tensors of a folder's safetensors files, by the names of a module: equal up to a prefix that one of them has."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.files = self.find_files()
        self.names = {}  # of the module's tensors, in the folder

    def find_files(self):
        """For each tensor its file."""
        index = self.folder / "model.safetensors.index.json"
        if index.is_file():
            return {name: self.folder / file for name, file in json.loads(index.read_text())["weight_map"].items()}
        found = {}
        for file in sorted(self.folder.glob("*.safetensors")):
            with safe_open(file, "pt") as opened:
                found |= dict.fromkeys(opened.keys(), file)
        if not found:
            raise Refused(f"{self.folder}: there are no *.safetensors; save the model with save_pretrained() of a current "
                          "transformers")
        return found

    def match(self, wanted, optional):
        """Finds the tensors `wanted` and `optional` (graph.Stored, all names of each are tried). Throws Refused with the names
        that are missing, and for other shapes."""
        rename = min(self.renamings(wanted), key=lambda r: len(self.missing(wanted, r)))
        missing = self.missing(wanted, rename)
        if missing:
            more = f", and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
            raise Refused(f"{self.folder} has no weights for {len(missing)} of {len(wanted)} tensors: "
                          f"{', '.join(missing[:SHOWN])}{more}. It has {', '.join(sorted(self.files)[:SHOWN])}, ...; if the "
                          "library renames or merges tensors when it loads them, load them in the factory "
                          "(from_pretrained) and leave --weights out")
        for stored in [*wanted, *optional]:
            found = self.found(stored, rename)
            if found is not None:
                self.check_shape(stored, found)
                self.names[stored.name] = found

    def renamings(self, wanted):
        """Functions from a module's name to a folder's: the same, without a prefix of the module, or with one of the folder."""
        inside = sorted({name[:i + 1] for s in wanted for name in s.names for i, c in enumerate(name) if c == "."})
        outside = sorted({name[:i + 1] for name in self.files for i, c in enumerate(name) if c == "."})
        yield lambda name: name
        for prefix in inside:
            if name_count(wanted, prefix):
                yield lambda name, p=prefix: name.removeprefix(p)
        for prefix in outside:
            if any(prefix + wanted[0].names[0] == name for name in self.files):
                yield lambda name, p=prefix: p + name

    def found(self, stored, rename):
        return next((rename(name) for name in stored.names if rename(name) in self.files), None)

    def missing(self, wanted, rename):
        return [stored.name for stored in wanted if self.found(stored, rename) is None]

    def check_shape(self, stored, found):
        with safe_open(self.files[found], "pt") as opened:
            shape = opened.get_slice(found).get_shape()
        if list(shape) != list(stored.tensor.shape):
            raise Refused(f'{self.folder}: "{found}" has the shape {list(shape)}, and "{stored.name}" of the module '
                          f"{list(stored.tensor.shape)}: the factory and the folder are of different models")

    def has(self, name):
        return name in self.names

    def load(self, name):
        """The values of a tensor of the module."""
        found = self.names[name]
        with safe_open(self.files[found], "pt") as opened:
            return opened.get_tensor(found)

    def unused(self):
        """Names in the folder that the module has no tensor for."""
        return sorted(set(self.files) - set(self.names.values()))


def name_count(wanted, prefix):
    """Whether more than half of the tensors have the prefix: else it cannot be a wrapper's."""
    return 2 * sum(any(name.startswith(prefix) for name in stored.names) for stored in wanted) > len(wanted)


@torch.no_grad()
def fill(stored_tensors, weights):
    """Copies the values of a folder into the tensors of a module."""
    for stored in stored_tensors:
        if weights.has(stored.name):
            stored.tensor.copy_(weights.load(stored.name))
