"""Does the exported folder compute what the module does, bit for bit? The files are read again and run layer by layer."""
import torch

from .eager import eager_evaluation, eager_step
from .program import Program
from .refused import Refused
from .step import step

NEAR = 1e-4  # relative: what kernels may differ by that PyTorch chooses in evaluation, see check_evaluation()
WAY_OUT = "Hydra would train another model than PyTorch; --no-check writes it all the same"


def bits_of(tensor):
    return tensor.detach().contiguous().flatten().view(torch.uint8)


def difference(found, expected):
    """None if the tensors are equal bit for bit, or but for signs of zeros; else how they differ."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{list(found.shape)} {found.dtype} for {list(expected.shape)} {expected.dtype}"
    if found.numel() == 0 or torch.equal(bits_of(found), bits_of(expected)) or torch.equal(found, expected):
        return None
    error = (found.double() - expected.double()).abs()
    return (f"{int((error != 0).sum())} of {found.numel()} numbers differ, by at most {error.max().item():.1e} where the "
            f"largest is {expected.double().abs().max().item():.1e}")


def gradient_for(output):
    """A gradient of an output, always the same, that lies in memory as it does: 1 for a loss."""
    if output.dim() == 0:
        return torch.ones_like(output)
    return torch.empty_like(output).copy_(torch.randn(output.shape, generator=torch.Generator().manual_seed(1)))


def compare_gradients(program, found, expected):
    """The first gradient that differs, from the last layer on; None if none does."""
    for index, layer in reversed(list(enumerate(program.layers))):
        for parameter in layer["parameters"]:
            if not parameter["trained"] or "tied_to" in parameter:
                continue
            name = parameter["name"]
            mine = found.get(name, torch.zeros_like(program.tensors[name]))
            wrong = difference(mine, expected.get(name, torch.zeros_like(mine)))
            if wrong:
                return f'the gradient of "{name}" (layer {index}, {layer["name"]}): {wrong}'
    left_out = sorted(set(expected) - set(program.trained()))
    return f'the gradient of "{left_out[0]}", which the graph does not use' if left_out else None


def compare_steps(program, found, expected):
    """What differs first; None if nothing does."""
    wrong = difference(found.output, expected.output)
    if wrong:
        return f"the output: {wrong}"
    wrong = compare_gradients(program, found.gradients, expected.gradients)
    if wrong:
        return wrong
    for name, statistic in found.statistics.items():
        wrong = difference(statistic, expected.statistics[name])
        if wrong:
            return f'the statistics "{name}": {wrong}'
    return None


def check_batch(request, program, inputs):
    """Whether the module can take these inputs. Throws Refused if the folder computes something else with them."""
    tensors = [inputs[part["name"]] for part in program.graph["inputs"]]
    samples = tensors[0].shape[0]
    try:
        expected = eager_step(request, inputs, gradient_for)
    except ValueError:
        if samples > 1:
            raise
        return False  # a batch norm of one value
    for cuts, how in (([], "as a whole"), (program.every_cut(), "layer by layer")):
        wrong = compare_steps(program, step(program, tensors, gradient_for, cuts), expected)
        if wrong:
            raise Refused(f"the exported graph is not the module: with {samples} samples, {how}, {wrong}. "
                          f"{WAY_OUT}")
    return True


def check_evaluation(request, program, inputs):
    """In evaluation Hydra runs the same graph without dropout, with the kept statistics. Yields what the user should know where
    that is not the module in eval() bit for bit: nn.TransformerEncoder, for one, takes other kernels then."""
    tensors = [inputs[part["name"]] for part in program.graph["inputs"]]
    (expected, drops), found = eager_evaluation(request, inputs), program.evaluate(tensors).detach()
    wrong = difference(found, expected)
    if wrong and not (found.shape == expected.shape and torch.allclose(found.double(), expected.double(), NEAR,
                                                                       NEAR * expected.double().abs().max().item())):
        raise Refused(f"in evaluation, module.eval(), the module computes something else than while it trains: {wrong}. Hydra "
                      "would judge another model than PyTorch; --no-check writes it all the same")
    if wrong:
        yield "in evaluation PyTorch uses other kernels, which round otherwise"
    if drops:
        yield "dropout that forward() draws always, in eval() too, is drawn in Hydra's training, but not in its evaluations"


def parts_of(inputs):
    """Two halves of the samples."""
    halves = {name: v.chunk(2) if isinstance(v, torch.Tensor) else (v, v) for name, v in inputs.items()}
    return [{name: half[i] for name, half in halves.items()} for i in range(2)]


def check_parts(request, inputs, loss):
    """Yields what the user should know of a loss that is not the mean, or sum, over those of a batch's parts, such as the mean
    over all tokens that count. In eval(): batch norms make every loss depend on the parts while they train."""
    whole, *parts = (eager_evaluation(request, i)[0].double() for i in (inputs, *parts_of(inputs)))
    together = sum(parts) / 2 if loss == "mean" else sum(parts)
    if not torch.allclose(whole, together, 1e-4):
        yield (f"the loss of a batch, {whole.item():.6g}, is not the {loss} over its halves, {together.item():.6g}: with "
               "micro_batches, replicas or waves above 1 Hydra's steps are not those of the whole batch")


def check_loss(request, inputs, twice, loss):
    """A loss that the module computes must be what it is said to be: the same for each sample twice, or double."""
    once, again = (eager_step(request, i, torch.ones_like).output.double() for i in (inputs, twice))
    expected = once if loss == "mean" else 2 * once
    if not torch.allclose(again, expected, 1e-3):
        raise Refused(f"the module's loss is {once.item():.6g}, and {again.item():.6g} with each sample twice: that is not the "
                      f'{loss} over the samples; say hydra_export.Export(..., loss="mean" or "sum"), and divide by nothing '
                      "that grows with the batch")


def check(request, folder, make_inputs, batches):
    """Throws Refused if the folder does not compute what the module does. Returns for which of `batches`, numbers of samples,
    it does, and what the user should know."""
    program = Program(folder)
    checked = [batch for batch in batches if check_batch(request, program, make_inputs(batch))]
    first = make_inputs(batches[0])
    if program.graph["loss"]:
        twice = {name: torch.cat([v, v]) if isinstance(v, torch.Tensor) else v for name, v in first.items()}
        check_loss(request, first, twice, program.graph["loss"])
    notes = [*check_evaluation(request, program, first)]
    if program.graph["loss"]:
        notes += check_parts(request, make_inputs(batches[0] // 2 * 2), program.graph["loss"])
    return checked, notes
