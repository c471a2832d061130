"""How values and their gradients lie in memory, which decides bits: observed while the graph runs, for several numbers of
samples. torch.export's own flags and strides are of little use: it says of nothing that it requires a gradient."""
import contextlib
import weakref

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .refused import Refused
from .run_calls import run_calls
from .sizes import evaluated, product
from .stored_tensors import is_dense


class Seen:
    """A value in one run: its strides and its gradient's; None where there is none."""

    def __init__(self, tensor):
        self.shape, self.strides, self.gradient = tuple(tensor.shape), tensor.stride(), None
        self.tensor = weakref.ref(tensor)


class Watcher:
    """Sees values when they are made, and again when their storage has been changed: then they may require a gradient that
    they did not before."""

    def __init__(self, graph):
        self.graph, self.seen, self.by_root = graph, {}, {}
        self.writes = {name: call.writes for call in graph.calls if call.writes for name in call.out if name}

    def look(self, name, tensor):
        if not isinstance(tensor, torch.Tensor):
            return
        self.see(name, tensor)
        self.by_root.setdefault(self.graph.root(name), []).append(name)
        for written in self.writes.get(name, []):
            for other in self.by_root.get(self.graph.root(written), []):
                if self.seen[other].tensor() is not None:
                    self.see(other, self.seen[other].tensor())

    def see(self, name, tensor):
        seen = self.seen[name] = Seen(tensor)
        if tensor.requires_grad:
            tensor.register_hook(lambda gradient: setattr(seen, "gradient", gradient.stride()))


def watch(graph, calls, inputs, stored, batch):
    """Seen of each value in a run forward and backward."""
    watcher = Watcher(graph)
    result, = run_calls(calls, inputs | stored, [graph.output], batch, seen=watcher.look)
    if not result.requires_grad:
        raise Refused("nothing is trained: no parameter that requires a gradient leads to what forward() returns; set "
                      "requires_grad, and do not compute it under torch.no_grad()")
    result.backward(torch.ones_like(result))
    graph.reached.update(name for name, tensor in stored.items() if tensor.grad is not None)
    return watcher.seen


def order_of(shape, strides):
    """Dimensions from the outermost in memory to the innermost, those of one element left out."""
    return [d for d in sorted(range(len(shape)), key=lambda d: -strides[d]) if shape[d] != 1]


def strides_in_order(shape, strides):
    """Sizes of the strides of a dense value whose dimensions lie in memory in the order of the given strides."""
    order = sorted(range(len(shape)), key=lambda d: -strides[d])
    return [product(shape[e] for e in order[order.index(d) + 1:]) for d in range(len(shape))]


def contiguous(shape):
    """Sizes of the strides of a contiguous value."""
    return strides_in_order(shape, range(len(shape), 0, -1))


class Layouts:
    """Writes into the values of a graph what is seen of them in runs of `batches` samples, the first two above 1."""

    def __init__(self, graph, runs, batches, exact):
        self.graph, self.runs, self.batches, self.exact = graph, runs, batches, exact

    def write(self):
        self.write_seen()
        output = self.graph.values[self.graph.output]
        if not output.dense:  # a view of what is computed, which Hydra copies
            output.strides = output.gradient = contiguous(output.shape)

    def write_seen(self):
        for name, seen in self.runs[0].items():
            value, others = self.graph.values[name], [run[name] for run in self.runs]
            value.strides, dense = self.settled(value, value.strides, [(s.shape, s.strides) for s in others])
            value.dense = dense
            if seen.gradient is None or any(s.gradient is None for s in others):
                value.dense = value.dense and all(s.gradient is None for s in others)
                continue
            value.gradient, dense = self.settled(value, value.strides, [(s.shape, s.gradient) for s in others])
            value.dense = value.dense and dense
            if not self.exact:
                value.dense = value.dense and all(is_contiguous(s.shape, s.strides) and is_contiguous(s.shape, s.gradient)
                                                  for s in others)

    def settled(self, value, expected, found):
        """Strides as sizes, and whether they are dense and right in all runs: as expected, or in the first run's order."""
        shape, strides = found[0]
        for sizes in (expected, strides_in_order(value.shape, strides)):
            if all(is_dense(*f) and self.agrees(sizes, f, batch) for f, batch in zip(found, self.batches)):
                return sizes, True
        return expected, False

    @staticmethod
    def agrees(sizes, found, batch):
        shape, strides = found
        return all(size == 1 or evaluated(s, batch) == stride for s, size, stride in zip(sizes, shape, strides))


def is_contiguous(shape, strides):
    return order_of(shape, strides) == [d for d, size in enumerate(shape) if size != 1] and is_dense(shape, strides)


@contextlib.contextmanager
def fakes():
    """Tensors without memory in place of the stored ones, and a mode in which to run."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)

    def fake(tensor):
        return mode.from_tensor(tensor.detach()).requires_grad_(tensor.requires_grad)

    with mode:
        yield fake


def check_output(graph, runs, batches):
    """What Hydra needs of a prediction."""
    shape = graph.values[graph.output].shape
    for run, batch in zip(runs, batches):
        if len(run[graph.output].shape) != len(shape):
            raise Refused(f"forward() returns {len(shape)} dimensions, and for {batch} samples {len(run[graph.output].shape)}: "
                          "name the dimension of squeeze()")
    if shape and shape[0] != "B":
        raise Refused("the first dimension of what forward() returns is not that of the samples: return [samples, ...], or the "
                      "loss as one number")


def observe(graph, alive, make_inputs, samples, fits):
    """Sets strides, gradient and dense of the values of a graph. make_inputs(samples) gives the inputs by name.

    Without memory for real tensors (not `fits`) they are faked, and only what is contiguous counts as dense: fakes predict the
    layout of some gradients wrongly. Returns the numbers of samples that were looked at.
    """
    calls = [call.document() for i, call in enumerate(graph.calls) if i in alive]
    runs, batches = [], []
    for batch in (samples, samples + 1, 1):
        try:
            runs.append(watch_once(graph, calls, make_inputs(batch), batch, fits))
            batches.append(batch)
        except (ValueError, ZeroDivisionError):
            if batch != 1:  # a batch norm of one value refuses it in PyTorch, too
                raise
        except (RuntimeError, IndexError) as error:
            raise Refused(f"the module fails on {batch} samples like its examples: {str(error).splitlines()[0]}") from error
    check_output(graph, runs, batches)
    Layouts(graph, runs, batches, fits).write()
    return batches


def watch_once(graph, calls, inputs, batch, fits):
    def leaf(tensor):
        return tensor.detach().requires_grad_(tensor.requires_grad)

    if fits:
        return watch(graph, calls, inputs, {name: leaf(s.tensor) for name, s in graph.stored.items()}, batch)
    with fakes() as fake:
        return watch(graph, calls, {name: fake(t) for name, t in inputs.items()},
                     {name: fake(s.tensor) for name, s in graph.stored.items()}, batch)
