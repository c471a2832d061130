#!/usr/bin/env python3
"""gpu_faults.py HYDRA DOUBLE: every call to the GPU fails once, in the pilot and in the middle of training, on the GPU double.

A call that fails is refused by name, or costs a model or the device: `hydra train` goes on, or ends by itself with a status and
a text; or it is made up for. Never a hang, a signal, a loss that is not that of a run without failures, or something that the
double complains of. Prints a table. HYDRA_TESTS=deep: at four moments of training instead of one."""
import collections, concurrent.futures, json, os, pathlib, random, re, subprocess, sys, tempfile

HYDRA, DOUBLE = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
SECONDS = 900      # of a run, which takes one on an idle machine
OUT_OF_MEMORY, INVALID_VALUE, ILLEGAL_ADDRESS = 2, 1, 700
DEEP = os.environ.get("HYDRA_TESTS") == "deep"
LASTING = ["cuMemMap", "cudaEventRecord", "cudaLaunchHostFunc", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize",
           "cudaStreamWaitEvent", "operator"]   # calls that report an error after which all others fail
MADE_UP_FOR = ["cudaEventDestroy", "cudaLaunchHostFunc", "cudaStreamQuery", "cudaStreamWaitEvent"]   # if they fail once
WORKLOAD = """[run]
seed = 3
[[device]]
kind = "cuda"
memory = "1GiB"
{more}
[data.text]
kind = "synthetic-language"
tokens = 4000
validation_tokens = 400
[[model]]
name = "gpt"
chain = {{ family = "gpt2", layers = 2, width = 32, heads = 2, context = 16, dropout = 0.1 }}
cuts = [0, 2]
data = "text"
batch_size = 8
micro_batches = 2
steps = 6
optimizer = {{ learning_rate = 1e-3 }}
validate = {{ every_steps = 3 }}
"""
CPU_BESIDE = '[[device]]\nkind = "cpu"\nmemory = "8MiB"\n'

Case = collections.namedtuple("Case", "call moment number error more", defaults=[""])
Run = collections.namedtuple("Run", "status text losses counts")


def counts_in(report):
    lines = report.read_text().splitlines() if report.exists() else []
    return {what: int(n) for n, what in (line.split(maxsplit=1) for line in lines)}


def losses_in(folder):
    metrics = folder / "metrics.jsonl"
    lines = map(json.loads, metrics.read_text().splitlines()) if metrics.exists() else []
    return {line["step"]: line["loss"] for line in lines if "loss" in line}


def hydra(command, failure="", more=""):
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        (here / "w.toml").write_text(WORKLOAD.format(more=more))
        variables = os.environ | {"LD_LIBRARY_PATH": str(DOUBLE), "LD_PRELOAD": str(DOUBLE / "libcudart.so.13"),
                                  "GPU_DOUBLE_FAIL": failure, "GPU_DOUBLE_REPORT": str(here / "counts"), "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run([HYDRA, command, "w.toml"], cwd=here, env=variables, check=False, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Run("no end", "", {}, {})
        return Run(done.returncode, done.stdout, losses_in(here / "runs/w"), counts_in(here / "counts"))


def reason_in(text):
    """The line that says why."""
    lines = [line for line in text.splitlines() if re.search(r"CUDA|NVIDIA", line)]
    return re.sub(r"^.*?(?=CUDA|the NVIDIA|device 0 is lost)", "", lines[0])[:120] if lines else ""


def verdict(r, whole):
    """What has come of a failure, and whether that is right."""
    reason = reason_in(r.text)
    if "gpu-double" in r.text:
        return re.search("gpu-double.*", r.text)[0], False
    if r.status not in (0, 1, 2, 3):
        return f"status {r.status}: {r.text[-200:]}", False
    if any(whole[step] != loss for step, loss in r.losses.items()):
        return "other losses", False
    if "kernel errors might be" in r.text:
        return f"LibTorch's own text: {reason}", False
    if r.status == 0:
        return ("goes on: " + reason if reason else "made up for"), r.losses == whole
    what = "ends" if r.status == 1 else "refused"
    return f"{what}, status {r.status}: {reason or r.text[-200:]}", bool(reason)


def error_for(call):
    takes = re.search(r"Create|Malloc|Map$|Reserve|Register$|operator", call)
    return OUT_OF_MEMORY if takes else INVALID_VALUE


def cases_of(call, before, whole):
    """`before`: how often it was called in a run that ends after the pilot."""
    yield Case(call, "pilot", max(1, before // 2), error_for(call))
    moments = range(before + 1, whole + 1)
    for n in sorted(random.sample(moments, min(4 if DEEP else 1, len(moments)))):
        yield Case(call, "training", n, error_for(call))
        if call in LASTING:
            yield Case(call, "training, lasting", n, ILLEGAL_ADDRESS)
            yield Case(call, "training, lasting, a CPU beside", n, ILLEGAL_ADDRESS, CPU_BESIDE)


def tried(case, whole):
    r = hydra("train", f"{case.call}@{case.number}={case.error}", case.more)
    text, right = verdict(r, whole)
    if case.call in MADE_UP_FOR and case.error != ILLEGAL_ADDRESS and text != "made up for":
        return case, r, f"it has a consequence: {text}", False
    return case, r, text, right


def main():
    whole = hydra("train")
    before = hydra("train", f"cudaHostRegister@2={OUT_OF_MEMORY}")  # the first one measures the link; this ends the run
    if whole.status != 0 or before.status != 1 or len(whole.losses) != 6 or before.losses:
        sys.exit(f"without failures: status {whole.status} and {before.status}\n{whole.text}\n{before.text}")
    random.seed(int(os.environ.get("HYDRA_TEST_SEED") or 1))
    calls = {c: n for c, n in sorted(whole.counts.items()) if re.match("cu(da)?[A-Z]|nvml|operator", c)}
    cases = [case for c, n in calls.items() for case in cases_of(c, before.counts.get(c, 0), n)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda c: tried(c, whole.losses), cases))
    for case, _, text, right in results:
        print(f"{case.call:34} {case.moment:32} {case.number:5} {case.error:4}  {'' if right else 'WRONG: '}{text}")
    wrong = sum(not right for *_, right in results)
    print(f"{len(results)} failures, {wrong} with an outcome that is not right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
