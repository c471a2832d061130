#!/usr/bin/env python3
"""Exports the models of zoo/ with apps/python/hydra_export, and compares each with the PyTorch module, bit for bit.

    exported_models.py [CASE ...]

Batches of 1, 4 and 7 samples: the output, every gradient and the statistics of batch norms, as a whole, cut before every layer,
and (4 samples) cut before each layer alone; always recomputed from what crosses the cut. Then 20 steps of AdamW: losses,
parameters and statistics. Where dropout is drawn PyTorch's numbers are others: cut is compared with whole. Numbers that are
equal may differ in the sign of a zero. Exits with 77 where a package is not installed.
"""
import argparse
import os
import pathlib
import sys
import time

from checks import in_a_folder, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps" / "python"))
try:
    import torch_of_build  # pylint: disable=unused-import
    import torch
    import transformers
    import zoo
    from hydra_export import Refused, export
    from hydra_export.boundary import bytes_in
    from hydra_export.check import compare_steps, difference, gradient_for
    from hydra_export.eager import as_exported, eager_step
    from hydra_export.program import Program
    from hydra_export.request import arguments_of, as_request, repeated
    from hydra_export.results import chosen_result
    from hydra_export.step import step
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

BATCHES, STEPS, RATE = (1, 4, 7), 20, 1e-3
WRITTEN_OUT = 1e-4  # relative: attention that is written out, to draw its dropout, and PyTorch's in one kernel


# What some models become: layers, their signatures, and the most bytes of one sample that cross a cut.
BECOME = {"gpt2": (9, 6, 1152), "gpt2-dropout": (9, 6, 1152), "resnet": (11, 10, 2048), "carried-as-made": (5, 3, 68),
          "shared": (6, 3, 768), "filled": (3, 3, 24), "mask-in-place": (5, 2, 768), "encoder": (14, 6, 2304),
          "unet": (13, 11, 12288)}


def require_equal(what, found, expected):
    wrong = difference(found, expected)
    require(wrong is None, f"{what}: {wrong}")


def inputs_for(request, samples):
    return repeated(arguments_of(request), samples)


def in_order(program, inputs):
    return [inputs[part["name"]] for part in program.graph["inputs"]]


def takes(request, samples):
    """Whether the module itself takes so many: a batch norm of one value does not."""
    try:
        eager_step(request, inputs_for(request, samples), gradient_for)
    except ValueError:
        require(samples == 1, f"the module does not take {samples} samples")
        return False
    return True


def cuts_to_compare(program, samples):
    """Whole, cut before every layer, and, with 4 samples, before each alone."""
    every = program.every_cut()
    return [[], every] + ([[cut] for cut in every] if samples == 4 else [])


def compare_batches(request, program):
    """How many batches were compared."""
    sizes = [n for n in BATCHES if takes(request, n)]
    for samples in sizes:
        inputs = inputs_for(request, samples)
        expected = eager_step(request, inputs, gradient_for)
        for cuts in cuts_to_compare(program, samples):
            wrong = compare_steps(program, step(program, in_order(program, inputs), gradient_for, cuts), expected)
            require(wrong is None, f"{samples} samples, cut before {cuts}: {wrong}")
    return f"{len(sizes)} batches"


# -- dropout -------------------------------------------------------------------------------------------------------------


class KeyedDropout(torch.autograd.Function):
    """A mask that is a function of the site alone, as Hydra's is of the site and the step."""

    @staticmethod
    def forward(context, value, p, site):
        context.of = p, site
        generator = torch.Generator().manual_seed(1000 + site)
        kept = torch.rand(value.shape, generator=generator) >= p
        context.save_for_backward(kept)
        return (value * kept / (1 - p)).to(value.dtype).contiguous()

    @staticmethod
    def backward(context, upstream):
        kept, = context.saved_tensors
        return (upstream * kept / (1 - context.of[0])).to(upstream.dtype).contiguous(), None, None


def sites(program):
    """The sites of dropout in the order of the layers, one for each application."""
    return [call["args"][-1]["i"] for layer in program.layers for call in layer["calls"]
            if call["op"] in ("hydra::dropout", "hydra::attention")]


def compare_dropout(folder, program, request):
    """Whether the cuts decide what is dropped; the empty text for a model without dropout."""
    drawn = sites(program)
    if not drawn:
        return ""
    require(sorted(drawn) == list(range(len(drawn))), f"sites of dropout: {drawn}")
    keyed = Program(folder, KeyedDropout.apply)
    inputs = in_order(program, inputs_for(request, 4))
    whole = step(keyed, inputs, gradient_for, [])
    require(difference(whole.output, step(program, inputs, gradient_for, []).output) is not None, "nothing is dropped")
    for cuts in cuts_to_compare(program, 4)[1:]:
        wrong = compare_steps(keyed, step(keyed, inputs, gradient_for, cuts), whole)
        require(wrong is None, f"dropout, cut before {cuts}: {wrong}")
    compare_written_out(folder, inputs, step(program, inputs, gradient_for, []))
    return f", {len(drawn)} sites of dropout"


def compare_written_out(folder, inputs, expected):
    """Attention with dropout that drops nothing is PyTorch's attention."""
    found = step(Program(folder, lambda value, p, site: value * 1), inputs, gradient_for, [])
    largest = max(g.double().abs().max().item() for g in expected.gradients.values())
    for name, gradient in {"output": expected.output, **expected.gradients}.items():
        mine = found.output if name == "output" else found.gradients[name]
        error = (mine.double() - gradient.double()).abs().max().item()
        # The bias of keys has no influence: its gradient is what rounding leaves of sums of others.
        scale = max(1e-2 * largest, gradient.double().abs().max().item())
        require(error <= WRITTEN_OUT * scale, f"attention written out, {name}: differs by {error:.1e} of {scale:.1e}")


# -- training ------------------------------------------------------------------------------------------------------------


def loss_of(output):
    return output if output.dim() == 0 else (output - gradient_for(output)).square().mean()


def batch_in_step(inputs, index):
    """Other samples in each step; images stay, whose dimensions may lie in another order."""
    return {name: v.roll(index, 0) if isinstance(v, torch.Tensor) and v.dim() < 4 else v for name, v in inputs.items()}


def train_eager(request, inputs):
    module, losses = request.module, []
    optimizer = torch.optim.AdamW(module.parameters(), lr=RATE, foreach=False)
    with as_exported():
        for index in range(STEPS):
            optimizer.zero_grad()
            loss = loss_of(chosen_result(module(**batch_in_step(inputs, index)), request.output))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def train_exported(program, inputs):
    parameters, losses = program.trained(), []
    optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, foreach=False)

    def upstream(output):
        output = output.detach().requires_grad_()
        loss = loss_of(output)
        losses.append(loss.item())
        return torch.autograd.grad(loss, output)[0]

    for index in range(STEPS):
        made = step(program, in_order(program, batch_in_step(inputs, index)), upstream, program.every_cut())
        for name, parameter in parameters.items():
            parameter.grad = made.gradients.get(name)
        optimizer.step()
        for name, statistic in made.statistics.items():
            program.tensors[name].copy_(statistic)
    return losses


def compare_training(request, program):
    """Trains both; neither is as before after it."""
    inputs = inputs_for(request, 4)
    expected, found = train_eager(request, inputs), train_exported(program, inputs)
    require(found == expected, f"losses of {STEPS} steps: {found}, and of the module {expected}")
    require(len(set(expected)) > STEPS // 2, f"nothing is learned: {expected}")
    state = dict(request.module.state_dict(keep_vars=True))
    for layer in program.layers:
        for p in layer["parameters"]:
            if "tied_to" not in p:
                require_equal(f"{p['name']} after {STEPS} steps", program.tensors[p["name"]], state[p["name"]].detach())
    return f", {STEPS} steps"


def become(document):
    """Layers, their signatures, and the most bytes of one sample that cross a cut."""
    layers = document["layers"]
    crossing = [sum(bytes_in(part, 1) for part in layer["outputs"]) for layer in layers[:-1]]
    return len(layers), len({layer["signature"] for layer in layers}), max(crossing, default=0)


def compare(name, work):
    """What was compared."""
    folder = work / name
    torch.manual_seed(0)
    request = as_request(zoo.CASES[name]())
    start = time.monotonic()
    document = export(request, folder, checked=False, say=lambda line: None)
    seconds = time.monotonic() - start
    program = Program(folder)
    said = compare_batches(request, program) + compare_dropout(folder, program, request)
    said += compare_training(request, program)
    layers, kinds, crossing = become(document)
    require(BECOME.get(name) in (None, (layers, kinds, crossing)), f"became {layers, kinds, crossing}, not {BECOME.get(name)}")
    calls = sum(len(layer["calls"]) for layer in document["layers"])
    return f"{layers:2} layers ({kinds}), {calls:3} calls, {crossing:5} bytes, exported in {seconds:.1f} s; equal: {said}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(zoo.CASES)}")
    options = arguments.parse_args()
    unknown = sorted(set(options.cases) - set(zoo.CASES))
    if unknown:
        arguments.error(f"no such case: {', '.join(unknown)}")
    torch.set_num_threads(1)
    chosen = options.cases or zoo.CASES
    sys.exit(run_checks({name: in_a_folder(compare, name) for name in chosen}, also=(Refused,), share=1 if options.cases else 3))


if __name__ == "__main__":
    main()
