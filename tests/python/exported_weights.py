#!/usr/bin/env python3
"""Weights that apps/python/hydra_export takes from the folder of a Hugging Face model (--weights).

Models of transformers are saved in parts and exported twice: with their own weights, and made without initial values with those
of the folder; both must give the same bytes, also where the module does not fit into memory. A large module's memory must not
be touched. Exits with 77 where a package is not installed.
"""
import os
import pathlib
import subprocess
import sys

from checks import Failed, in_a_folder, require, run_checks, sampled

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps" / "python"))
try:
    import torch_of_build  # pylint: disable=unused-import
    import torch
    import transformers
    import zoo
    from hydra_export import Export, Refused, export, exporting
    from hydra_export.no_initial_values import no_initial_values
    from hydra_export.request import as_request
    from safetensors.torch import save_file
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

SAME = ("gpt2", "llama", "llama-bf16", "qwen3", "gemma3", "bert", "albert", "deberta", "t5", "bart", "whisper", "mamba",
        "convnext")
RENAMED = ("vit", "mixtral")  # by transformers, when it loads them
WIDTH, DEPTH, MIB = 4096, 6, 2**20  # of the large module: 384 MiB


def quiet(*_):
    pass


def saved(name, work):
    """A request of the zoo, whose module is in the folder hub, and another one whose module has no values."""
    request = as_request(zoo.CASES[name]())
    request.module.save_pretrained(work / "hub", max_shard_size="20KB")
    with no_initial_values():
        bare = as_request(zoo.CASES[name]())
    with torch.no_grad():
        for parameter in bare.module.parameters():
            parameter.fill_(float("nan"))
    return request, bare


def require_same_files(one, two, files):
    for file in files:
        require((one / file).read_bytes() == (two / file).read_bytes(), f"{file} differs")


def has_the_same_bytes(name, work):
    request, bare = saved(name, work)
    export(request, work / "own", checked=False, say=quiet)
    export(bare, work / "taken", weights=work / "hub", say=quiet)
    checked = (work / "taken" / "graph.json").read_text()
    require('"checked":[4,5,1]' in checked, "was not checked")
    (work / "taken" / "graph.json").write_text(checked.replace('"checked":[4,5,1]', '"checked":[]'))
    require_same_files(work / "own", work / "taken", ("graph.json", "model.safetensors"))


def has_the_same_bytes_without_memory(name, work):
    request, bare = saved(name, work)
    said, copies = [], exporting.COPIES
    export(request, work / "own", checked=False, say=quiet)
    exporting.COPIES = 1 << 60
    try:
        export(bare, work / "taken", weights=work / "hub", say=said.append)
    finally:
        exporting.COPIES = copies
    require(any("not checked" in line for line in said), f"{said}")
    require(all(p.isnan().all() for p in bare.module.parameters()), "the module's memory was touched")
    require_same_files(work / "own", work / "taken", ("model.safetensors",))


def is_refused(name, work):
    _, bare = saved(name, work)
    try:
        export(bare, work / "taken", weights=work / "hub", say=quiet)
    except Refused as e:
        require("has no weights for" in str(e) and "from_pretrained" in str(e), str(e))
        return str(e)
    raise Failed("was exported")


def refuses_another_shape(work):
    request, _ = saved("llama", work)
    other = as_request(zoo.language.llama(intermediate_size=40))
    try:
        export(other, work / "out", weights=work / "hub", say=quiet)
    except Refused as e:
        require("has the shape [48, 32]" in str(e) and "of different models" in str(e), str(e))
        return str(e)
    raise Failed(f"{request.module} was exported with other shapes")


def peak():
    """MiB that this process has had in memory at most."""
    lines = pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def export_large(work):
    """By a process of its own: peaks before and after the export of a large module that counts as too large for memory."""
    for i in range(DEPTH):
        save_file({f"{2 * i}.weight": torch.full((WIDTH, WIDTH), float(i))}, work / f"model-{i}.safetensors")
    before = peak()
    with no_initial_values():
        parts = [part for _ in range(DEPTH) for part in (torch.nn.Linear(WIDTH, WIDTH, bias=False), torch.nn.GELU())]
        module = torch.nn.Sequential(*parts)
    exporting.COPIES = 1 << 60
    export(Export(module, torch.zeros(2, WIDTH)), work / "out", weights=work, say=quiet)
    print(before, peak())


def needs_little_memory(work):
    program = "import sys, pathlib, exported_weights; exported_weights.export_large(pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", program, str(work)], cwd=pathlib.Path(__file__).parent, text=True,
                          capture_output=True, check=False)
    require(done.returncode == 0, done.stderr)
    before, after = (int(number) for number in done.stdout.split())
    module = WIDTH * WIDTH * 4 * DEPTH // MIB
    require((work / "out" / "model.safetensors").stat().st_size > module * MIB, "not all was written")
    require(after < before + module // 2, f"{before} MiB before the export, {after} MiB after that of {module} MiB of weights")
    return f"{module} MiB of weights, {after - before} MiB more in memory"


MODELS = {f"{name} has the same bytes": lambda work, n=name: has_the_same_bytes(n, work) for name in SAME}
MODELS |= {f"{n} without memory": lambda work, n=n: has_the_same_bytes_without_memory(n, work) for n in ("llama", "t5", "gpt2")}
MODELS |= {f"{name} is refused": lambda work, n=name: is_refused(n, work) for name in RENAMED}
OTHERS = {"another shape is refused": refuses_another_shape, "a large module needs little memory": needs_little_memory}


def reproducible(check):
    """With the same random numbers, whatever has run before."""
    def run(work):
        torch.manual_seed(0)
        return check(work)
    return run


def main():
    torch.set_num_threads(1)
    every = MODELS | OTHERS
    names = sys.argv[1:] or [*sampled(MODELS, 3), *OTHERS]
    checks = {name: in_a_folder(reproducible(every[name])) for name in names}
    sys.exit(run_checks(checks, also=(Refused,)))


if __name__ == "__main__":
    main()
