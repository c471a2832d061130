#!/usr/bin/env python3
"""What apps/python/hydra_export refuses: each message says which line of the user's is to blame, and what to do instead.

    export_refusals.py [CASE ...]

The models are in zoo/refused.py. Then the command line, in processes forked from one that has torch, and some as users start
it. Exits with 77 where a package is not installed.
"""
import importlib.util
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Failed, in_a_folder, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
HERE = pathlib.Path(__file__).resolve().parent
APPS = HERE.parents[1] / "apps" / "python"
sys.path.insert(0, str(APPS))
try:
    import torch_of_build  # pylint: disable=unused-import
    import torch
    from hydra_export import Refused, __main__ as exporter, export
    from hydra_export.boundary import packed, views
    from hydra_export.request import as_request, repeated
    from safetensors.torch import load_file, save_file
    from zoo import refused
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

os.environ["PYTHONPATH"] = os.pathsep.join([str(APPS), str(HERE), os.environ.get("PYTHONPATH", "")])  # of the server, too
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["torch_of_build", "torch._dynamo", "hydra_export.__main__", "hydra_export.exporting",
                               "zoo.refused"])
SOURCE = pathlib.Path(refused.__file__)
LINES = {line.split("# here: ")[1].strip(): number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
         if "# here: " in line}


def message_of(make, folder):
    torch.manual_seed(0)
    try:
        export(as_request(make()), folder, say=lambda line: None)
    except Refused as e:
        return str(e)
    raise Failed("was exported")


def compare_message(name, work):
    if name == "cond" and importlib.util.find_spec("functorch") is None:
        return "left out: this Python's torch has no functorch, which torch.cond needs"
    make, *parts = refused.CASES[name]
    message = message_of(make, work / "out")
    for part in parts:
        require(part in message, f'the message does not say "{part}": {message}')
    if name in LINES:
        require(f"{SOURCE.name}:{LINES[name]}" in message, f"the message does not name line {LINES[name]}: {message}")
    require(not list(work.iterdir()), f"leaves {[p.name for p in work.iterdir()]}")
    return message


# -- the command line ------------------------------------------------------------------------------------------------------

FACTORY = """
import torch
from torch import nn

def build(width=8):
    maps = nn.Linear(4, width), nn.Linear(width, width), nn.Linear(width, 2)
    return nn.Sequential(maps[0], nn.GELU(), maps[1], nn.GELU(), maps[2]), torch.ones(2, 4)

def bare():
    return build()[0]

class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(4, 4) for _ in range(6))

    def forward(self, first, second, third, fourth, fifth, last):
        x = first
        for part, y in zip(self.maps, (first, second, third, fourth, fifth, last)):
            x = part(x) * y
        return x

def several():
    return Several(), tuple(torch.ones(2, 4) for _ in range(6))

class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = build()[0]

    def forward(self, x):
        return self.model(x)

def wrapped():
    return Wrapped(), torch.ones(2, 4)
"""


def started(work, *options, factory="my_model:build", first=""):
    """Exit status, and what was printed, of `python -m hydra_export` in a folder with my_model.py, after statements `first`."""
    (work / "my_model.py").write_text(FACTORY)
    program = f"{first}import torch_of_build, runpy; runpy.run_module('hydra_export', run_name='__main__', alter_sys=True)"
    path = os.pathsep.join([str(APPS), str(HERE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program, factory, *options], cwd=work, text=True, capture_output=True,
                          env=os.environ | {"PYTHONPATH": path}, check=False)
    return done.returncode, done.stdout + done.stderr


def run_exporter(work, said, arguments):
    """In a process of its own."""
    os.chdir(work)
    with said.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.path.insert(0, "")
    sys.argv = ["hydra_export", *arguments]
    sys.exit(exporter.main())


def forked(work, *options, factory="my_model:build"):
    """As started, by a process that is forked from one that has torch already."""
    (work / "my_model.py").write_text(FACTORY)
    with tempfile.TemporaryDirectory() as folder:
        said = pathlib.Path(folder) / "said"
        process = FORKS.Process(target=run_exporter, args=(work, said, (factory, *options)))
        process.start()
        process.join()
        return process.exitcode, said.read_text()


def graph_of(work, name="out"):
    return json.loads((work / name / "graph.json").read_text())


def writes_a_folder(work):
    status, said = started(work, "--out", "out")
    require(status == 0 and "checked: outputs" in said and "written to out" in said, said)
    require(graph_of(work)["checked"] == [2, 3, 1], str(graph_of(work)["checked"]))
    require(sorted(p.name for p in (work / "out").iterdir()) == ["graph.json", "model.safetensors"], "other files")


def takes_arguments(work):
    status, said = forked(work, "--out", "out", "--args", "width=16", "--no-check")
    require(status == 0 and "checked" not in said, said)
    shapes = [p["shape"] for p in graph_of(work)["layers"][0]["parameters"]]
    require(shapes == [[16, 4], [16]] and graph_of(work)["checked"] == [], str(shapes))


def takes_inputs(work):
    status, said = forked(work, "--out", "out", "--inputs", "input=f32[3,4]", factory="my_model:bare")
    require(status == 0, said)
    require(graph_of(work)["inputs"][0]["shape"] == ["B", 3, 4], str(graph_of(work)["inputs"]))


def takes_a_file(work):
    status, said = forked(work, "--out", "out", factory="./my_model.py:build")
    require(status == 0, said)


def is_the_same_twice(work):
    for name, seed in (("one", "1"), ("two", "2")):
        os.environ["PYTHONHASHSEED"] = seed
        status, said = started(work, "--out", name, factory="my_model:several")
        del os.environ["PYTHONHASHSEED"]
        require(status == 0, said)
    for file in ("graph.json", "model.safetensors"):
        require((work / "one" / file).read_bytes() == (work / "two" / file).read_bytes(), f"{file} differs")


def takes_weights(work):
    """Of a folder whose names lack the wrapper's prefix; in two files."""
    (work / "hub").mkdir()
    names = {"0": (8, 4), "2": (8, 8), "4": (2, 8)}
    values = {f"{n}.weight": torch.randn(s) for n, s in names.items()}
    values |= {f"{n}.bias": torch.randn(s[0]) for n, s in names.items()}
    files = {name: f"model-{1 + i % 2}.safetensors" for i, name in enumerate(values)}
    for file in set(files.values()):
        save_file({n: v for n, v in values.items() if files[n] == file}, work / "hub" / file)
    (work / "hub" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    status, said = forked(work, "--out", "out", "--weights", "hub", factory="my_model:wrapped")
    require(status == 0, said)
    found = load_file(work / "out" / "model.safetensors")
    require(all(torch.equal(found[f"model.{n}"], v) for n, v in values.items()), "other values")


def refuses_missing_weights(work):
    (work / "hub").mkdir()
    save_file({"0.weight": torch.zeros(8, 4)}, work / "hub" / "model.safetensors")
    status, said = forked(work, "--out", "out", "--weights", "hub", factory="my_model:wrapped")
    require(status == 2 and "no weights for 5 of 6 tensors: model.0.bias, model.2.weight" in said, said)


def says_which_package_is_missing(work):
    for package in ("torch", "safetensors"):
        first = f"import torch_of_build, sys; sys.modules['{package}'] = None; "
        status, said = started(work, "--out", "out", first=first)
        require(status == 2 and package in said and "pip install" in said and "Traceback" not in said, said)


def refuses_a_folder_that_exists(work):
    (work / "out").mkdir()
    status, said = forked(work, "--out", "out")
    require(status == 2 and "out exists already" in said, said)


def writes_the_example_of_the_format(work):
    """That of FORMAT.md: zeros, so that the digest is always the same."""
    text = (APPS / "hydra_export" / "FORMAT.md").read_text()
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.GELU(), torch.nn.Linear(3, 1))
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    export(as_request((module, torch.ones(4, 2))), work / "out", say=lambda line: None)
    shown = json.loads(text.split("```json\n")[1].split("```")[0])
    require(shown | {"torch": torch.__version__} == graph_of(work), f"FORMAT.md should show {json.dumps(graph_of(work))}")


class Contiguous(torch.nn.Linear):
    """Calls contiguous() on what is contiguous on the CPU, and need not be so where other kernels run."""

    def forward(self, input):  # pylint: disable=redefined-builtin
        return super().forward(input).contiguous()


def keeps_calls_of_contiguous(work):
    export(as_request((Contiguous(4, 4), torch.ones(2, 4))), work / "out", say=lambda line: None)
    calls = [call for call in graph_of(work)["layers"][0]["calls"] if call["op"] == "aten::contiguous"]
    require([call["args"][1] for call in calls] == [{"mf": "contiguous_format"}], f"{calls}")


class Dropping(torch.nn.Linear):
    """Its dropout is that of its mode, or always on."""

    def __init__(self, always):
        super().__init__(4, 4)
        self.always = always

    def forward(self, input):  # pylint: disable=redefined-builtin
        return torch.nn.functional.dropout(super().forward(input), 0.5, self.always or self.training)


class MaskedLoss(torch.nn.Linear):
    """The mean over all elements that count, or the mean over samples of such means."""

    def __init__(self, of_all):
        super().__init__(4, 4)
        self.of_all = of_all

    def forward(self, input, counts):  # pylint: disable=redefined-builtin
        errors = super().forward(input).square() * counts
        if self.of_all:
            return errors.sum() / counts.sum()
        return (errors.sum(1) / counts.sum(1)).mean()


def said_of(module, inputs, folder):
    lines = []
    export(as_request((module, inputs)), folder, say=lines.append)
    return "\n".join(lines)


def says_what_hydra_does_otherwise(work):
    """Dropout that eval() does not turn off, losses that depend on how a batch is divided: and of others nothing."""
    example = torch.ones(2, 4)
    for mode in (True, False):
        for always in (True, False):
            said = said_of(Dropping(always).train(mode), example, work / f"dropping {mode} {always}")
            require(("not in its evaluations" in said) == always, said)
    inputs = {"input": torch.randn(2, 4), "counts": torch.tensor([[1.0, 0, 0, 0], [1, 1, 1, 1]])}
    for of_all in (True, False):
        said = said_of(MaskedLoss(of_all), inputs, work / f"masked {of_all}")
        require(("is not the mean over its halves" in said) == of_all, said)


def packs_boundaries_as_the_format_says(_):
    """Two parts of 2 samples: bool[2, 3], and f32[2, 2], whose first dimension is the inner one but in the gradient."""
    parts = [{"type": "bool", "shape": ["B", 3], "strides": [3, 1], "gradient": None},
             {"type": "f32", "shape": ["B", 2], "strides": [1, "B"], "gradient": [2, 1]}]
    values = [torch.tensor([[True, False, True], [False, False, True]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])]
    flat = packed(parts, values, 2)
    require(flat.numel() == 512 and flat[:6].tolist() == [1, 0, 1, 0, 0, 1] and not flat[6:256].any(), f"{flat[:8]}")
    require(flat[256:272].view(torch.float32).tolist() == [1, 3, 2, 4] and not flat[272:].any(), f"{flat[256:]}")
    require(all(torch.equal(a, b) for a, b in zip(views(parts, flat, 2), values)), "is not what was packed")
    gradient = packed(parts, [None, values[1]], 2, "gradient")
    require(gradient[256:272].view(torch.float32).tolist() == [1, 2, 3, 4] and not gradient[:256].any(), f"{gradient}")


def repeats_samples_in_their_order_in_memory(_):
    images = torch.arange(3.0).reshape(3, 1, 1, 1).expand(3, 2, 2, 2).contiguous(memory_format=torch.channels_last)
    made = repeated({"images": images, "flag": True}, 7)
    require(made["images"][:, 0, 0, 0].tolist() == [0, 1, 2, 0, 1, 2, 0] and made["flag"] is True, f"{made}")
    require(made["images"].is_contiguous(memory_format=torch.channels_last), f"{made['images'].stride()}")


def finds_near_names(work):
    status, said = forked(work, "--out", "out", factory="my_model:biuld")
    require(status == 2 and 'did you mean "build"' in said, said)
    status, said = forked(work, "--out", "out", factory="no_model:build")
    require(status == 2 and 'no Python module "no_model"' in said, said)


PROGRAM = {f.__name__.replace("_", " "): f for f in (
    writes_a_folder, takes_arguments, takes_inputs, takes_a_file, is_the_same_twice, takes_weights, refuses_missing_weights,
    says_which_package_is_missing, refuses_a_folder_that_exists, writes_the_example_of_the_format, keeps_calls_of_contiguous,
    says_what_hydra_does_otherwise, packs_boundaries_as_the_format_says, repeats_samples_in_their_order_in_memory,
    finds_near_names)}


def main():
    torch.set_num_threads(1)
    chosen = sys.argv[1:] or [*refused.CASES, *PROGRAM]
    checks = {name: in_a_folder(PROGRAM[name]) if name in PROGRAM else in_a_folder(compare_message, name) for name in chosen}
    failed = run_checks(checks, also=(OSError,), share=1 if sys.argv[1:] else 2)
    forgotten = sorted(set(LINES) - set(refused.CASES))
    print("".join(f"no case for the line {name}\n" for name in forgotten), end="")
    sys.exit(bool(failed or forgotten))


if __name__ == "__main__":
    main()
