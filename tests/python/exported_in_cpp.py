#!/usr/bin/env python3
"""Runs the models of zoo/ in C++, by graph_probe, and compares them with the PyTorch modules, bit for bit.

    exported_in_cpp.py GRAPH_PROBE [CASE ...]

Batches of 1, 4 and 7 samples: the output and every gradient, as a whole and cut before every layer, always recomputed from what
crosses the cut; statistics of batch norms to 1e-6 of the largest. Of models that drop elements cut is compared with whole.
Exits with 77 where a package is not installed.
"""
import os
import subprocess
import sys

from checks import in_a_folder, program_and_cases, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch_of_build  # pylint: disable=unused-import
    import torch
    from exported_models import in_order, inputs_for, sites, takes
    from safetensors.torch import load_file, save_file
    import zoo
    from hydra_export import Refused, export
    from hydra_export.check import compare_gradients, difference, gradient_for
    from hydra_export.eager import eager_step
    from hydra_export.program import Program
    from hydra_export.request import as_request
    from hydra_export.step import Step, step
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

BATCHES = (1, 4, 7)


def expected_of(request, program, samples):
    """What PyTorch computes; of a model with dropout only the shape of the output counts."""
    inputs = inputs_for(request, samples)
    if sites(program):
        return step(program, in_order(program, inputs), gradient_for, [])
    return eager_step(request, inputs, gradient_for)


def write_inputs(path, request, program, samples, output):
    named = {part["name"]: value.contiguous() for part, value in
             zip(program.graph["inputs"], in_order(program, inputs_for(request, samples)))}
    save_file({**named, "upstream": gradient_for(output).contiguous()}, path)


def found_in(folder):
    """A Step of what graph_probe has written."""
    all_ = load_file(folder / "results.safetensors")

    def named(kind):
        return {name.removeprefix(kind): t for name, t in all_.items() if name.startswith(kind)}

    return Step(all_["output"], named("gradient."), named("statistic."))


def compare_statistics(found, expected):
    for name, statistic in found.items():
        should = expected[name].double()
        error = (statistic.double() - should).abs().max().item()
        require(error <= 1e-6 * max(1.0, should.abs().max().item()), f"the statistics {name} differ by {error:.1e}")


def compare(probe, request, program, folder, work):
    """How many batches were compared."""
    sizes = [n for n in BATCHES if takes(request, n)]
    cuts = ",".join(map(str, program.every_cut())) or "none"
    expected, jobs = {}, []
    for n in sizes:
        expected[n] = expected_of(request, program, n)
        write_inputs(work / f"in-{n}", request, program, n, expected[n].output)
        jobs += [work / f"in-{n}", work / f"whole-{n}", "none", work / f"in-{n}", work / f"cut-{n}", cuts]
    run = subprocess.run([probe, folder, *jobs], capture_output=True, text=True, timeout=300, check=False)
    require(run.returncode == 0, run.stderr.strip())
    for n in sizes:
        whole, cut = found_in(work / f"whole-{n}"), found_in(work / f"cut-{n}")
        for found, should, how in ((whole, whole if sites(program) else expected[n], "as a whole"),
                                   (cut, whole if sites(program) else expected[n], "cut before every layer")):
            wrong = difference(found.output, should.output) or compare_gradients(program, found.gradients, should.gradients)
            require(wrong is None, f"{n} samples, {how}: {wrong}")
            compare_statistics(found.statistics, should.statistics)
    return len(sizes)


def run_case(probe, name, work):
    torch.manual_seed(0)
    request = as_request(zoo.CASES[name]())
    export(request, work / "model", checked=False, say=lambda line: None)
    program = Program(work / "model")
    batches = compare(probe, request, program, work / "model", work)
    drawn = f", cut as whole: {len(sites(program))} sites of dropout" if sites(program) else ""
    return f"{batches} batches equal{drawn}"


def main():
    probe, cases = program_and_cases(__doc__, "GRAPH_PROBE")
    torch.set_num_threads(1)
    sys.exit(run_checks({name: in_a_folder(run_case, probe, name) for name in cases or zoo.CASES}, also=(Refused,),
                        share=1 if cases else 4))


if __name__ == "__main__":
    main()
