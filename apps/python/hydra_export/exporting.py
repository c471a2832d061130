"""An export from beginning to end."""
import json
import os
import pathlib
import shutil

import torch

from .check import check
from .cuts import Cuts
from .dependencies import Dependencies
from .document import Writer
from .hub_weights import HubWeights, fill
from .layers import Layers
from .layouts import observe
from .read_program import Reader
from .refused import Refused
from .report import report_lines
from .request import arguments_of, repeated, samples_of
from .trace import trace
from .weights_file import stored_tensors, write_weights

SERIES = "2.11."  # of LibTorch that Hydra is built with
COPIES = 6        # of all parameters: module, file, and gradients and values of the two runs that are compared


def available_memory():
    """Bytes; without limit where the system does not say."""
    try:
        lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("inf")
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")), float("inf"))


def parameter_bytes(module):
    return sum(p.numel() * p.element_size() for p in module.parameters())


class Exporter:
    """Writes a folder for a request. `say` gets lines for the user."""

    def __init__(self, request, say):
        self.request, self.say = request, say
        self.named = arguments_of(request)
        self.samples = max(2, samples_of(self.named))
        self.fits = COPIES * parameter_bytes(request.module) <= available_memory()
        self.weights = None

    def inputs(self, samples):
        return repeated(self.named, samples)

    def tensors(self, samples):
        return {name: value for name, value in self.inputs(samples).items() if isinstance(value, torch.Tensor)}

    def read(self):
        """The graph of the module."""
        request = self.request
        self.reader = Reader(trace(request, self.inputs(self.samples)), request.module, list(self.named))
        self.graph = self.reader.read()
        scalar = not self.graph.values[self.graph.output].shape
        if request.loss and not scalar:
            raise Refused(f"loss = {request.loss!r}, but forward() returns a tensor of the shape "
                          f"{self.graph.values[self.graph.output].shape}: return a scalar, or leave the loss to Hydra")
        self.loss = request.loss or ("mean" if scalar else None)

    def module_tensors(self):
        """graph.Stored of the module's parameters and buffers, each once."""
        found = [*self.reader.parameters.values(), *self.reader.buffers.values()]
        return list({s.name: s for s in found}.values())

    def take_weights(self, folder):
        """From a folder; into the module, if that fits."""
        self.weights = HubWeights(folder)
        averages = {s.name for name, s in self.graph.stored.items() if self.graph.values[name].kind == "average"}
        wanted = [s for s in self.module_tensors() if isinstance(s.tensor, torch.nn.Parameter) or s.name in averages]
        self.weights.match(wanted, [s for s in self.module_tensors() if s not in wanted])
        if self.weights.unused():
            self.say(f"{folder}: not used: {', '.join(self.weights.unused())}")
        if self.fits:
            fill(self.module_tensors(), self.weights)

    def divide(self):
        """The object of graph.json."""
        dependencies = Dependencies(self.graph)
        self.batches = observe(self.graph, dependencies.alive, self.tensors, self.samples, self.fits)
        layers = Layers(self.graph, dependencies, Cuts(self.graph, dependencies)).layers
        self.document = Writer(self.graph, layers).document(self.loss)

    def load(self, name):
        if self.weights is not None and not self.fits and self.weights.has(name):
            return self.weights.load(name)
        return self.stored[name]

    def write(self, folder):
        self.stored, names = stored_tensors(self.module_tensors(), self.graph.stored.values())
        self.document["weights"] = write_weights(folder / "model.safetensors", self.stored, self.load)
        self.document["names"] = names
        self.write_document(folder)

    def write_document(self, folder):
        text = json.dumps(self.document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        (folder / "graph.json").write_text(text + "\n", encoding="utf-8")

    def check(self, folder):
        """Compares the folder with the module, and notes for which numbers of samples it has."""
        if not self.fits:
            self.say("not checked: the module and its gradients do not fit into the memory of this machine")
            return
        self.document["checked"], notes = check(self.request, folder, self.inputs, self.batches)
        self.write_document(folder)
        said = ", ".join(str(batch) for batch in self.document["checked"])
        self.say(f"checked: outputs, gradients and statistics are the module's bit for bit, for {said} samples")
        for note in notes:
            self.say(note)

    def notes(self):
        used = {p["name"] for layer in self.document["layers"] for p in layer["parameters"]}
        unused = [name for name, p in self.reader.parameters.items() if name == p.name and name not in used]
        if unused:
            yield f"not trained, because forward() does not use it: {', '.join(unused)}"
        cut_off = [name for name, p in self.reader.parameters.items()
                   if name == p.name and name in used and p.tensor.requires_grad and f"p:{name}" not in self.graph.reached]
        if cut_off:
            yield f"not trained, because no gradient reaches it: {', '.join(cut_off)}"
        if not self.request.module.training:
            yield ("the module is in evaluation mode: no dropout but what forward() draws always, fixed statistics; call "
                   "module.train() in the factory to change that")


def require_torch():
    if not torch.__version__.startswith(SERIES):
        raise Refused(f"this is torch {torch.__version__}, and Hydra runs with LibTorch {SERIES}x, whose operations may "
                      f"differ: python3 -m pip install torch=={SERIES}0")


def on_cpu(module):
    if any(p.is_meta for p in module.parameters()):
        raise Refused("the parameters are on the device meta: make the module on the CPU; with --weights their memory is not "
                      "touched before the weights are read")
    if any(t.device.type != "cpu" for t in [*module.parameters(), *module.buffers()]):
        module.to("cpu")


def export(request, folder, *, weights=None, checked=True, say=print):
    """Writes graph.json and model.safetensors into a folder, which must not exist and appears when it is complete. `weights` is
    the folder of a Hugging Face model, whose values replace the module's. Returns the object of graph.json. Throws Refused."""
    require_torch()
    folder = pathlib.Path(folder)
    if folder.exists():
        raise Refused(f"{folder} exists already")
    on_cpu(request.module)
    exporter = Exporter(request, say)
    exporter.read()
    if weights is not None:
        exporter.take_weights(weights)
    exporter.divide()
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        exporter.write(partial)
        for line in [*report_lines(exporter.document, exporter.samples), *exporter.notes()]:
            say(line)
        if checked:
            exporter.check(partial)
        os.replace(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return exporter.document
