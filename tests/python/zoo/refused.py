"""Models that cannot be exported. CASES: by name, a function that makes the request, and what the message must say. Where a
line is to blame it ends with a comment "here: NAME", and the message must name it."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from hydra_export import Export

from .data import reals, tokens


class Body(nn.Module):
    """Two linear maps, and what a case does between them."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return self.two(self.between(self.one(x)))


class BranchOnValues(Body):
    def between(self, y):
        if y.sum() > 0:  # here: branch on values
            return y
        return -y


class EmptyExperts(Body):
    def between(self, y):
        rows = torch.nonzero(y[:, 0] > 0).squeeze(-1)
        if rows.numel() == 0:  # here: branch on a number of rows
            return y
        return y.index_add(0, rows, y[rows])


class Item(Body):
    def between(self, y):
        return y * y.max().item()  # here: a number out of a tensor


class Noise(Body):
    def between(self, y):
        return y + torch.randn_like(y)  # here: noise


class StochasticDepth(Body):
    def between(self, y):
        kept = y.new_empty(y.shape[0], 1).bernoulli_(0.9)  # here: stochastic depth
        return y * kept


class ChannelDropout(Body):
    def between(self, y):
        return F.dropout1d(y.unsqueeze(-1), 0.1).squeeze(-1)  # here: dropout of channels


class DropoutInPlace(Body):
    def between(self, y):
        return F.dropout(y, 0.1, inplace=True)  # here: dropout in place


class RecurrentDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.LSTM(8, 8, 2, dropout=0.1, batch_first=True)

    def forward(self, x):
        return self.body(x)[0]  # here: recurrent dropout


class WritesBuffer(Body):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(8))

    def between(self, y):
        self.seen.add_(y.detach().mean(0))  # here: a buffer that changes
        return y + self.seen


class WritesInput(Body):
    def forward(self, x):
        x.mul_(2)  # here: an input that changes
        return self.two(self.one(x))


class Autocast(Body):
    def between(self, y):
        with torch.autocast("cpu", torch.bfloat16):
            z = y @ y.t()  # here: autocast
        return z.float() @ y


class Conditional(Body):
    def between(self, y):
        return torch.cond(y.sum() > 0, torch.sin, torch.cos, (y,))  # here: cond


class Complex(Body):
    def between(self, y):
        return torch.fft.fft(y).abs()  # here: complex numbers


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return 2 * x

    @staticmethod
    def backward(_, upstream):
        return 3 * upstream


class OwnFunction(Body):
    def between(self, y):
        return Doubled.apply(y)  # here: autograd function


class Reentrant(Body):
    def between(self, y):
        return checkpoint(self.two, y, use_reentrant=True)  # here: reentrant checkpoint


class CumulativeNorm(Body):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8, momentum=None)

    def between(self, y):
        return self.norm(y)  # here: cumulative batch norm


class NormTwice(Body):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def between(self, y):
        y = self.norm(y)
        return self.norm(y)  # here: batch norm twice


class FixedBatch(Body):
    def between(self, y):
        return y.view(4, 8) + torch.zeros(4, 8)


class Several(Body):
    def forward(self, x):
        y = self.one(x)
        return {"hidden": y, "logits": self.two(y)}


class ReturnsNoReal(Body):
    def forward(self, x):
        return self.two(self.one(x)).argmax(-1)


class Closure(nn.Module):
    """Its parameter is reached by a function that it knows nothing of."""

    def __init__(self):
        super().__init__()
        self.one = nn.Linear(8, 8)
        weight = self.one.weight
        self.map = [lambda x: x @ weight]

    def forward(self, x):
        return self.one(x) + self.map[0](x)


class Averaged(nn.Module):
    """A loss that is neither the mean nor the sum over the samples."""

    def __init__(self):
        super().__init__()
        self.one = nn.Linear(8, 8)

    def forward(self, x):
        return self.one(x).square().sum() / 3


class TrainedOtherwise(Body):
    """Adds something while it trains that is not there in evaluation."""

    def between(self, y):
        return y + 1 if self.training else y


class HookOnGradient(Body):
    """Changes the gradient by a hook, which is Python."""

    def between(self, y):
        if y.requires_grad:
            y.register_hook(lambda gradient: 2 * gradient)
        return F.gelu(y)


class ScaleOfBatch(Body):
    def between(self, y):
        return y * (1.0 / y.shape[0])  # here: a real number of sizes


def frozen():
    return plain(Body().requires_grad_(False))


def plain(module):
    module.between = F.gelu
    return module, reals(8)


def mixed_types():
    module = plain(Body())[0]
    module.two.to(torch.bfloat16)
    return module, reals(8)


def doubled_memory():
    module = plain(Body())[0]
    module.two.weight.data = module.one.weight.data
    return module, reals(8)


def of(module, *shape):
    return lambda: (module(), reals(*(shape or (8,))))


class Squeezed(nn.Module):
    """One number for each sample, and for one sample none of its dimensions."""

    def __init__(self):
        super().__init__()
        self.one = nn.Linear(8, 1)

    def forward(self, x):
        return self.one(x).squeeze()


class TwoRows(Body):
    def between(self, y):
        return y.view(-1, 4).repeat(1, 2)


CASES = {
    "squeeze": (of(Squeezed), "1 dimensions, and for 1 samples 0", "name the dimension of squeeze()"),
    "two rows of a sample": (of(TwoRows), "is not that of the samples", "return [samples, ...]"),
    "examples of another type": (lambda: (plain(Body())[0].to(torch.bfloat16), reals(8)), "fails on 4 samples", "dtype"),
    "branch on values": (of(BranchOnValues), "branches on values", "torch.where"),
    "branch on a number of rows": (of(EmptyExperts), "branches on values", 'experts_implementation="batched_mm"'),
    "a number out of a tensor": (of(Item), "a number is taken out of a tensor", "keep it as a tensor"),
    "noise": (of(Noise), "draws random numbers", "give its numbers as an input"),
    "stochastic depth": (of(StochasticDepth), "draws random numbers", "take it out"),
    "dropout of channels": (of(ChannelDropout), "draws random numbers", "take it out"),
    "dropout in place": (of(DropoutInPlace), "dropout in place", "use inplace=False"),
    "recurrent dropout": (of(RecurrentDropout, 6, 8), "dropout of its own", "put nn.Dropout between"),
    "a buffer that changes": (of(WritesBuffer), 'changes the buffer "seen"', "compute a new tensor"),
    "an input that changes": (of(WritesInput), 'changes the input "x"', "compute a new tensor"),
    "autocast": (of(Autocast), "autocast region", "module.to(torch.bfloat16)"),
    "cond": (of(Conditional), "control flow inside of the graph", "use torch.where"),
    "complex numbers": (of(Complex), "complex64", "write complex numbers as pairs"),
    "autograd function": (of(OwnFunction), "Doubled is a torch.autograd.Function", "operations that PyTorch differentiates"),
    "reentrant checkpoint": (of(Reentrant), "hides what it runs", "use use_reentrant=False"),
    "cumulative batch norm": (of(CumulativeNorm), "momentum is None", "give it a number"),
    "batch norm twice": (of(NormTwice), "applied twice", "one for each application"),
    "a real number of sizes": (of(ScaleOfBatch), "computed from sizes", "compute it with a tensor"),
    "a fixed number of samples": (of(FixedBatch), "tied to a number of samples", "take sizes from x.shape[0]"),
    "several results": (of(Several), "'hidden', 'logits'", "output=..."),
    "a result that is not there": (lambda: Export(Several(), reals(8), output="loss"), "no 'loss'", "'hidden', 'logits'"),
    "ids as a result": (of(ReturnsNoReal), "one tensor of real numbers", ""),
    "a parameter by a closure": (of(Closure), '"one.weight" is used as a constant', "reach it through self"),
    "a loss over something else": (of(Averaged), "not the mean over the samples", 'loss="mean" or "sum"'),
    "a prediction that is called a loss": (lambda: Export(*plain(Body()), loss="mean"), "a tensor of the shape", "scalar"),
    "another evaluation": (of(TrainedOtherwise), "in evaluation", "--no-check"),
    "a hook on a gradient": (of(HookOnGradient), 'the gradient of "one.', "--no-check"),
    "parameters of two types": (mixed_types, '"one.weight" is f32, "two.weight" is bf16', ".to(torch.float32)"),
    "f64": (lambda: (plain(Body())[0].double(), reals(8).double()), "Hydra trains in f32 or bf16", ".to(torch.float32)"),
    "two parameters in one memory": (doubled_memory, '"one.weight" and "two.weight" share memory', "same torch.nn.Parameter"),
    "nothing to train": (frozen, "nothing is trained", "requires_grad"),
    "an unknown input": (lambda: (plain(Body())[0], {"ids": tokens(8)}), "do not fit Body.forward(x)", ""),
    "inputs of different numbers": (lambda: (nn.Bilinear(8, 8, 8), (reals(8), reals(8)[:3])), "input1: 4, input2: 3", "buffer"),
    "a module alone": (lambda: plain(Body())[0], "a module alone", "--inputs"),
    "no module": (lambda: 3, "returns int", "return (module, inputs)"),
}
