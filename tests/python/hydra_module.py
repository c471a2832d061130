#!/usr/bin/env python3
"""`import hydra_train` (apps/python/hydra_train) with the program, without packages.

    hydra_module.py HYDRA

What a function returns is compared with the program's files; a run that "trains for ever" ends by what is tried with it.
"""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.update(HYDRA_PROGRAM=os.path.abspath(sys.argv[1]), OMP_NUM_THREADS="1",
                  PYTHONPATH=str(ROOT / "apps" / "python"))
sys.path.insert(0, str(ROOT / "apps" / "python"))

import hydra_train
from checks import Failed, require
from hydra_train import metrics, toml

FOR_EVER = 1_000_000
MODEL = {"name": "gpt-b{batch_size}", "chain": {"family": "gpt2", "layers": 2, "width": 32, "heads": 2, "context": 16},
         "data": "text", "steps": 20, "optimizer": {"learning_rate": 1e-3},
         "validate": {"every_steps": 10, "batches": 2, "keep_best": True}}
WORKLOAD = {"run": {"seed": 7}, "device": [{"kind": "cpu", "memory": "64MiB"}],
            "data": {"text": {"kind": "synthetic-language"}}, "model": [{**MODEL, "grid": {"batch_size": [2, 4]}}]}


def refusal(work, *arguments, **options):
    """The error that a call raises."""
    try:
        result = work(*arguments, **options)
    except hydra_train.HydraError as error:
        return error
    raise Failed(f"{work.__name__}{arguments} returns {result!r}")


def for_ever(folder, **options):
    return hydra_train.train(WORKLOAD, folder, set={"model.steps": FOR_EVER}, wait=False, **options)


def trained(run, step=10):
    """Returns once all of the workload's models have completed the step."""
    missing = {"gpt-b2", "gpt-b4"}
    for record in run.metrics():
        if record["step"] >= step:
            missing.discard(record["model"])
        if not missing:
            return
    raise Failed(f"the run ends before step {step} of {missing}")


def statuses(run):
    return {model.name: model.status for model in run.models}


# -- without the program -----------------------------------------------------------------------------------------------------


def check_toml():
    text = "".join(map(chr, [*range(1, 0x180), 0x2028, 0x1F600])) + "\"\\'''"
    table = {"top": 1, "b": False, "list": [1, -2.5, 1e-30, 1e300, "x", [], [[True]]], "run": {"name": text, "at": 10**12},
             "data": {"a b": {"x.y": {}, "": {"deep": {"er": [{"k": 1}]}}}, "z": {"n": 1}}, "empty": {}, "none": [],
             "model": [{"grid": {"optimizer.learning_rate": [1e-4]}}, {}], "mixed": {"a": {"b": 1}, "c": 2}}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "w.toml")
        file.write_text(toml.to_toml(table), encoding="utf-8", newline="")
        require(toml.read_toml(file) == table, f"a dict is read back as {toml.read_toml(file)}")
    require(toml.inline_toml(pathlib.Path("a/b")) == '"a/b"', "a path is a text")
    try:
        toml.to_toml({"model": [{"optimizer": {"clip_norm": None}}]})
    except TypeError as error:
        require("model.optimizer.clip_norm: a NoneType" in str(error), f"what TOML lacks is refused by {error}")
    else:
        raise Failed("None is written as TOML")


def check_growing():
    """Half a line, a damaged one, and a file that a resumed run replaces by one that repeats a step."""
    line = '{{"model":"a","step":{},"loss":1.0}}\n'.format
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "metrics.jsonl")

        def replaced():
            file.with_suffix(".new").write_text(line(1) + line(2) + line(3), encoding="utf-8")
            file.with_suffix(".new").replace(file)

        growth = [lambda: file.write_text(line(1) + line(2)[:9], encoding="utf-8"), lambda: None,
                  lambda: file.write_text(line(1) + line(2) + "{\"mod\n", encoding="utf-8"), replaced]
        steps = [r["step"] for r in metrics.records(file, lambda: not growth, lambda: growth.pop(0)())]
        require(steps == [1, 2, 3], f"a growing file has the steps {steps}")


def check_without_program():
    named = os.environ.pop("HYDRA_PROGRAM")
    path, os.environ["PATH"] = os.environ["PATH"], ""
    error = refusal(hydra_train.plan, WORKLOAD)
    os.environ.update(HYDRA_PROGRAM=named, PATH=path)
    require("HYDRA_PROGRAM" in error.message and error.status is None, f"a missing program is told as {error}")
    version = subprocess.run([sys.executable, "-m", "hydra_train", "--version"], capture_output=True, text=True, check=True)
    require(version.stdout.startswith("hydra "), f"python -m hydra_train --version: {version.stdout}")


# -- a run to its end --------------------------------------------------------------------------------------------------------


def check_finished():
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        run = hydra_train.train({**WORKLOAD, "run": {"name": "first", "seed": 7}}, show=True)
    require("makespan" in output.getvalue() and "the run is in" in errors.getvalue(), "the program's output is shown")
    report = {m["name"]: m for m in json.loads((run.folder / "report.json").read_text())["models"]}
    require(run.folder == pathlib.Path("runs/first").absolute(), f"the folder of {run}")
    require(set(report) == {"gpt-b2", "gpt-b4"}, f"its models: {set(report)}")
    for model in run.models:
        own, best = report[model.name], min(report[model.name]["validation"], key=lambda v: v["loss"])
        require((model.status, model.steps, model.of, model.loss) == ("finished", 20, 20, own["loss"][-1]), f"{model}")
        require((model.best_step, model.best_validation) == (best["step"], best["loss"]), f"the best of {model} is {best}")
        require(model.validation == own["validation"][-1]["loss"], f"the last evaluation of {model}")
        require(model.settings["optimizer"] == {"learning_rate": 1e-3} and "grid" not in model.settings, f"{model.settings}")
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    require(list(run.metrics()) == lines == list(hydra_train.open(run.folder).metrics()) and len(lines) == 44, "its metrics")
    hydra_train.open("runs/first").wait()
    require(run.over and hydra_train.open("runs/first").over, "it is not over")
    return run


def check_commands(run):
    rows = {row["name"]: row["loss"] for row in run.evaluate()}
    require(rows == {m.name: m.validation for m in run.models}, f"evaluations: {rows}")
    initial = hydra_train.evaluate(WORKLOAD, "gpt-b4", set={"run.seed": 8})
    require([(r["name"], r["weights"]) for r in initial] == [("gpt-b4", "initial")], f"before training: {initial}")
    require((run.export("gpt-b2", "exported", best=True) / "config.json").exists(), "a model is exported")
    greedy = {"ids": True, "model": "gpt-b4", "tokens": 4, "temperature": 0}
    text = run.generate("1 2", **greedy)
    error = refusal(run.generate, model="gpt-b4", chat="Hello", system="Be brief.")
    require("--chat: " in error.message, f"a chat with a model of other data: {error}")
    require(text.startswith("1 2 ") and len(text.split()) == 6 and text == run.generate("1 2", **greedy), f"generated: {text}")
    require(set(m["name"] for m in hydra_train.plan(WORKLOAD)["models"]) == {"gpt-b2", "gpt-b4"}, "a plan")
    sys.modules["pandas"] = None  # as where it is not installed
    try:
        run.metrics_frame()
    except ImportError as error:
        require("pip install pandas" in str(error), f"without pandas: {error}")
    else:
        raise Failed("a frame without pandas")
    del sys.modules["pandas"]


def check_refusals():
    for status, text, error in (
            (2, 'did you mean "steps"', refusal(hydra_train.train, WORKLOAD, "new", set={"model.stepz": 3})),
            (2, "exists", refusal(hydra_train.train, WORKLOAD, "runs/first")),
            (3, "smallest sufficient memory", refusal(hydra_train.train, WORKLOAD, "new", set={"device.memory": "64KiB"})),
            (2, "a name in its table", refusal(hydra_train.train, WORKLOAD)),
            (2, "no run is under way", refusal(hydra_train.open("runs/first").stop, "gpt-b2")),
            (2, "not a run folder", refusal(hydra_train.open, ".")),
            (2, "missing.toml", refusal(hydra_train.train, "missing.toml"))):
        require(error.status == status and text in error.message, f"status {error.status}, not {status} and {text}: {error}")
    pathlib.Path("mine.toml").write_text("# mine")
    error = refusal(hydra_train.train, WORKLOAD, "mine")
    require("mine.toml would be overwritten" in error.message, f"a file of the user's: {error}")
    require(pathlib.Path("mine.toml").read_text() == "# mine" and not pathlib.Path("new").exists(), "nothing is left")


def check_types():
    """Before the program is asked."""
    run, train = hydra_train.open("runs/first"), hydra_train.train
    for text, work in (("a dict of keys", lambda: train(WORKLOAD, "wrong", set=["run.seed=3"])),
                       ("a dict of keys", lambda: run.clone("gpt-b2", ["a"])),
                       ("a list of texts", lambda: train(WORKLOAD, "wrong", arguments="--policy=stay-pace")),
                       ("a dict of its tables or the path of a file, is wanted, not 3 of type int", lambda: train(3)),
                       ("a dict of its tables", lambda: hydra_train.plan([WORKLOAD])),
                       ("one of prompt and chat", run.generate),
                       ("one of prompt and chat", lambda: run.generate("a", chat="b")),
                       ("chat: a text is wanted, not True of type bool", lambda: run.generate(chat=True)),
                       ("system: a text is wanted, not 1 of type int", lambda: run.generate(chat="a", system=1)),
                       ("prompt: a text is wanted, not b'hi' of type bytes", lambda: run.generate(b"hi")),
                       ("prompt: a text is wanted, not [1, 2] of type list", lambda: run.generate([1, 2], ids=True))):
        try:
            work()
        except TypeError as error:
            require(text in str(error), f"{text}: {error}")
        else:
            raise Failed(f"accepted: {text}")
    require(not pathlib.Path("wrong.toml").exists(), "nothing is left")


def check_failed():
    diverging = {"model.optimizer.learning_rate": 1e30, "model.on_nan": "stop"}
    for error in (refusal(hydra_train.train, WORKLOAD, "failed", set=diverging), refusal(hydra_train.open("failed").wait)):
        require(error.status == 1 and "gpt-b2: the loss of step 2 is nan" in error.message, f"a model that fails: {error}")


# -- a run that is steered ---------------------------------------------------------------------------------------------------


def check_steered():
    run = for_ever("steered")
    other = hydra_train.open("steered")
    trained(other)
    run.pause("gpt-b2")
    require(statuses(other) == {"gpt-b2": "paused", "gpt-b4": "training"}, f"after a pause: {statuses(other)}")
    other.resume("gpt-b2")
    clone = run.clone("gpt-b4", {"name": "clone", "optimizer.learning_rate": 1e-4})
    require(clone == "clone" and run.models[2].settings["optimizer"] == {"learning_rate": 1e-4}, f"a clone: {run.models[2]}")
    added = run.add({**MODEL, "name": "added-b{batch_size}", "grid": {"batch_size": [3, 5]}})
    require(added == ["added-b3", "added-b5"], f"added: {added}")
    error = refusal(run.stop, "gtp-b2")
    require(error.status == 2 and 'did you mean "gpt-b2"' in error.message, f"an unknown model: {error}")
    error = refusal(hydra_train.train, WORKLOAD, "steered", resume=True)
    require("a run is under way in it" in error.message, f"a folder that is in use: {error}")
    run.stop("clone")
    other.quit()
    other.wait()  # without an error: it has asked for that
    error = refusal(run.wait)
    require(isinstance(error, hydra_train.Interrupted) and error.status == 130, f"another has ended it: {error!r}")
    require(isinstance(refusal(hydra_train.open("steered").wait), hydra_train.Interrupted), "its report says so, too")
    return run


def check_resumed(run):
    """From another directory, and left by an exception."""
    before = {model.name: model.steps for model in run.models}
    os.chdir("runs")
    try:
        with hydra_train.train(run.folder, resume=True, wait=False) as resumed:
            trained(resumed, max(before["gpt-b2"], before["gpt-b4"]) + 10)
            raise ValueError("mine")
    except ValueError:
        pass
    os.chdir("..")
    require(not hydra_train.Run("nowhere").models, "a folder that was never made has no models")
    require(statuses(run)["gpt-b2"] == statuses(run)["gpt-b4"] == "interrupted", f"after an exception: {statuses(run)}")
    steps = [r["step"] for r in run.metrics() if r["model"] == "gpt-b4" and "loss" in r]
    require(steps == list(range(1, len(steps) + 1)) and len(steps) > before["gpt-b4"], "each step once, over both parts")


def check_killed():
    run = for_ever("killed")
    trained(run)
    process = pathlib.Path(f"/proc/{run._process._process.pid}")
    variables = (process / "environ").read_bytes().split(b"\0")
    require(b"GOMP_SPINCOUNT=2000" in variables, "its threads that wait take the cores from others for milliseconds")
    require((process / "comm").read_text() == "hydra\n", "killall and top do not find it by its name")
    run._process._process.send_signal(signal.SIGKILL)
    require(refusal(run.wait).status == -signal.SIGKILL, "a killed run")
    error = refusal(hydra_train.open("killed").wait)
    require(error.status is None and "without a report" in error.message, f"a killed run of another process: {error}")
    require(set(statuses(run).values()) == {"unfinished"}, f"a killed run has {statuses(run)}")


# -- interrupts --------------------------------------------------------------------------------------------------------------

CHILD = """
import hydra_train, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell lets it be ignored
run = hydra_train.train("for-ever.toml", sys.argv[1], wait=False)
print(run._process._process.pid, flush=True)
{}
"""
ENDS = {"ctrl-c": "run.wait()", "end": "sys.exit(0)", "kill": "run.wait()"}


def interrupted(*_):
    raise KeyboardInterrupt


def check_waiting():
    """Ctrl-C at each place where Python waits for a run of its own: the run has saved its state when the exception is seen."""
    for place, work in (("_wait_for_end", hydra_train.Run.wait), ("_pause", lambda run: list(run.metrics()))):
        run = for_ever(f"ctrl-c{place}")
        trained(run)
        setattr(run, place, interrupted)
        try:
            work(run)
        except KeyboardInterrupt:
            require(set(statuses(run).values()) == {"interrupted"}, f"after Ctrl-C in {place}: {statuses(run)}")
        else:
            raise Failed(f"Ctrl-C in {place} is swallowed")


def check_interrupts():
    """A real Ctrl-C, an end of Python, and Python killed: then the run goes on without a reader of what it writes."""
    one = {**MODEL, "name": "gpt", "steps": FOR_EVER, "batch_size": 2}
    pathlib.Path("for-ever.toml").write_text(toml.to_toml({**WORKLOAD, "model": [one]}))
    for name, work in ENDS.items():
        child = subprocess.Popen([sys.executable, "-c", CHILD.format(work), name], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program = int(child.stdout.readline())
        run = hydra_train.open(name)
        if name != "end":
            next(record for record in run.metrics() if record["step"] == 5)
            child.send_signal(signal.SIGINT if name == "ctrl-c" else signal.SIGKILL)
        errors = child.communicate()[1]
        require(("KeyboardInterrupt" in errors) == (name == "ctrl-c"), f"{name}: {errors}")
        if name == "kill":
            os.kill(program, signal.SIGTERM)  # it tells of that before it saves its state
            require(isinstance(refusal(run.wait), hydra_train.Interrupted), "a run whose Python was killed")
        model = run.models[0]
        require(model.status == "interrupted" and (run.folder / "checkpoints" / model.name).exists(), f"{name}: {model}")


def main():
    check_toml()
    check_growing()
    check_without_program()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        run = check_finished()
        check_commands(run)
        check_refusals()
        check_types()
        check_failed()
        check_resumed(check_steered())
        check_killed()
        check_waiting()
        check_interrupts()
        os.chdir(ROOT)
    print("hydra_train trains, follows, steers, and tells what fails")


if __name__ == "__main__":
    main()
