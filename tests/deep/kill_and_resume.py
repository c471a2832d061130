#!/usr/bin/env python3
"""Ends runs at random moments, resumes them on other devices, and compares the results with those of an
undisturbed run: every loss, gradient norm, validation and digest, bit for bit.

    tests/deep/kill_and_resume.py build/release/bin/hydra [--kills 50] [--search halving] [--seed 0] [--folder KEPT]

Between a kill and the resume some rounds damage the newest states of a model, sometimes all: it goes back to an older one,
or to the beginning, and the line that says so names it.

With --search the models are trials of which the search stops most. halving, hyperband and pbt decide the same in every run;
asha may not, but each of its trials has the same bits as far as it gets, and what was decided before a kill stays decided.
Copies of trials (pbt) have the bits that they have when each is trained alone from the checkpoint where it begins.

One line for each round; exit status 1 with the first difference, whose run folder is kept. A round is determined by
the seed except for the moments, which scale with the time that the undisturbed run took on this machine."""
import argparse, json, os, pathlib, random, re, shutil, signal, subprocess, sys, tempfile, time

PATIENCE_S = 300       # a process that takes longer hangs
LOADING_S = 2          # a signal that comes earlier may meet a program that is still being loaded
POLICIES = ["sharded-lrtf", "fifo", "round-robin", "random", "whole-model"]
POLICIES_OF_SEARCHES = [p for p in POLICIES if p != "whole-model"]  # it trains none beyond one that waits
CRASHES = ["terminate called", "Traceback", "Sanitizer", "Assertion", "what():"]
LOST = ["does not begin"]  # of a copy in a search: nothing here keeps it from beginning

HEAD = """
[run]
name = "kill-and-resume"
seed = 11
checkpoint = { every_steps = 2, keep = 2 }
"""
MODELS = """
[data.language]
kind = "synthetic-language"
symbols = 24

[data.classes]
kind = "synthetic-classes"
features = 48
classes = 8

[[model]]
name = "gpt-adamw"
chain = { family = "gpt2", layers = 4, width = 64, heads = 4, context = 32, dropout = 0.1 }
data = "language"
batch_size = 8
micro_batches = 2
steps = 120
optimizer = { learning_rate = 3e-3, clip_norm = 1.0 }

[[model]]
name = "gpt-sgd"
chain = { family = "gpt2", layers = 3, width = 48, heads = 3, context = 32, tied = false }
data = "language"
batch_size = 8
steps = 120
optimizer = { kind = "sgd", learning_rate = 0.05, momentum = 0.9 }
schedule = { kind = "cosine", warmup = 5 }

[[model]]
name = "mlp"
chain = { family = "mlp", layers = 3, width = 256 }
data = "classes"
batch_size = 32
steps = 160
optimizer = { learning_rate = 1e-3 }
validate = { every_steps = 8, batches = 4, keep_best = true }
"""
TRIALS = """
[host]
memory = "9MiB"  # about four of the nine at a time

[data.language]
kind = "synthetic-language"
symbols = 24

[[model]]
name = "gpt"
chain = { family = "gpt2", layers = 3, width = 48, heads = 3, context = 32, dropout = 0.1 }
data = "language"
batch_size = 8
steps = 81
validate = { batches = 4 }

[search]
samples = 9
first = 9
factor = 3

[search.space]
"optimizer.learning_rate" = { log_uniform = [1e-4, 1e-1] }
"""


class Failure(Exception):
    pass


def devices(count, memory="2MiB", link="200MiB/s", latency="50us", speed=1.0):
    return (f'\n[[device]]\nkind = "cpu"\ncount = {count}\nmemory = "{memory}"\nlink = "{link}"\nlatency = "{latency}"\n'
            f"speed = {speed}\nprice = 3061.3\nwatts = {{ busy = 3111, idle = 553 }}\n")


class Workload:
    """`search`: the kind of search, or None."""

    def __init__(self, search):
        self.search = search
        self.policies = POLICIES_OF_SEARCHES if search else POLICIES
        self.decides_the_same = search != "asha"

    def text(self, devices):
        return HEAD + devices + (self.trials() if self.search else MODELS)

    def trials(self):
        trials = TRIALS.replace("[search]", f'[search]\nkind = "{self.search}"')
        return trials.replace("first = 9\nfactor = 3", "every = 9") if self.search == "pbt" else trials

    def check(self, report, reference, whose):
        (check_equal if self.decides_the_same else check_common_steps)(report, reference, whose)


# -- one process -------------------------------------------------------------------------------------------------------


class Process:
    """Runs hydra train, optionally ended by a signal after a while; afterwards the members have the results."""
    saving_s = PATIENCE_S  # an interrupted one saves and stops within this

    def __init__(self, hydra, folder, arguments, end_by=None, after=0.0):
        self.run_folder = folder / "run"
        line = [hydra, "train", *arguments, "--output", str(self.run_folder)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # another number of threads may give other bits
        with open(folder / "stdout", "w") as out, open(folder / "stderr", "w") as err:
            start = time.monotonic()
            process = subprocess.Popen(line, cwd=folder, stdout=out, stderr=err, env=environment)
            self.signalled = self.wait(process, after) and end_by if end_by else None
            if self.signalled:
                process.send_signal(end_by)
            if self.wait(process, PATIENCE_S):
                process.kill()
                raise Failure(f"hangs: {' '.join(line)}")
        self.seconds = time.monotonic() - start
        self.seconds_after = self.seconds - after
        self.early = after < LOADING_S
        self.status = process.returncode
        self.stderr = (folder / "stderr").read_text()
        self.check()

    @staticmethod
    def wait(process, seconds):
        """True if it still runs."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def expected(self):
        if self.signalled == signal.SIGKILL:
            return {-signal.SIGKILL, 0}
        if self.signalled == signal.SIGINT:
            return {130, 0, -signal.SIGINT} if self.early else {130, 0}
        return {0}

    def check(self):
        if self.status not in self.expected() or any(word in self.stderr for word in CRASHES + LOST):
            raise Failure(f"exit status {self.status}, stderr:\n{self.stderr}")
        if self.status == 130:
            self.check_interrupted()
        elif self.signalled == signal.SIGINT and self.status == 0 and self.seconds_after > self.saving_s / 2:
            raise Failure(f"SIGINT was ignored: finished {self.seconds_after:.1f} s later")

    @property
    def before_training(self):
        """Interrupted while it was planned: it has changed nothing, report.json included."""
        return "interrupted before anything was trained" in self.stderr

    def check_interrupted(self):
        if self.seconds_after > self.saving_s:
            raise Failure(f"took {self.seconds_after:.1f} s to save and stop")
        how = "--resume" if self.run_folder.exists() else "there is nothing to continue"
        if how not in self.stderr.rstrip().split("\n")[-1]:
            raise Failure(f"the last line does not say how to continue:\n{self.stderr}")
        if not self.before_training and not self.report()["interrupted"]:
            raise Failure("report.json does not say that the run was interrupted")

    def report(self):
        file = self.run_folder / "report.json"
        if not file.exists():
            return None
        report = json.loads(file.read_text())  # half a file is not JSON: a failure
        check_expenses(report)
        return report

    def steps_trained(self):
        """Steps that this process has trained."""
        steps = set()
        for event in json.loads((self.run_folder / "trace.json").read_text())["traceEvents"]:
            if event["name"] == "execute_shard":
                steps.update(re.findall(r"^(\S+) backward 0 step (\d+)", event["args"]["detail"]))
        return len(steps)


# -- results -----------------------------------------------------------------------------------------------------------


def check_expenses(report):
    """What the models have taken, in all parts of the run, adds up to what the run has, to the last digit."""
    shares = [m["expense"] for m in report["models"]] + [report["expense"].get("gone", {})]
    for key, digits in [("device_s", 3), ("cost", 4), ("joules", 0)]:
        of_models = sum(round(share.get(key, 0) * 10 ** digits) for share in shares)
        of_run = round(report["expense"].get(key, 0) * 10 ** digits)
        if of_models != of_run:
            raise Failure(f"expense: the models have {of_models} of {key} together, the run {of_run}")


def is_finished(report):
    return not report.get("interrupted") and all(m["status"] in ["finished", "stopped"] for m in report["models"])


def difference(key, is_, should):
    if isinstance(is_, list) and isinstance(should, list) and len(is_) == len(should):
        at = next(i for i in range(len(is_)) if is_[i] != should[i])
        return f"{key}[{at}] is {is_[at]}, should be {should[at]}"
    shown = [f"{len(x)} values" if isinstance(x, list) else x for x in (is_, should)]
    return f"{key}: {shown[0]}, should be {shown[1]}"


def differences(report, reference):
    """JSON numbers are written so that they read back as the same doubles; == compares their bits (no NaN: null)."""
    models = {m["name"]: m for m in report["models"]}
    same = sorted(models) == sorted(m["name"] for m in reference["models"])  # copies join in any order
    found = [] if same else [f"models: {list(models)}"]
    for should in reference["models"]:
        is_ = models.get(should["name"], {})
        for key in ["status", "steps", "tokens", "digest", "loss", "grad_norm", "validation"]:
            if key == "digest" and should["status"] == "stopped":
                continue  # none of a trial that was paused for others when it was stopped
            if is_.get(key) != should.get(key):
                found.append(should["name"] + " " + difference(key, is_.get(key), should.get(key)))
    return found


def check_metrics(run_folder, report):
    """Every step and evaluation once, in their order, with the report's values, no matter how often it was killed."""
    lines = [json.loads(line) for line in (run_folder / "metrics.jsonl").read_text().splitlines()]
    for model in report["models"]:
        of_model = [line for line in lines if line["model"] == model["name"]]
        steps = [(line["step"], line["loss"]) for line in of_model if "loss" in line]
        evaluations = [(line["step"], line["validation"]) for line in of_model if "validation" in line]
        if steps != list(enumerate(model["loss"], 1)):
            raise Failure(f"metrics.jsonl has other steps of {model['name']} than the report: {[n for n, _ in steps]}")
        if evaluations != [(v["step"], v["loss"]) for v in model.get("validation", [])]:
            raise Failure(f"metrics.jsonl has other evaluations of {model['name']} than the report: {evaluations}")


def check_equal(report, reference, whose):
    found = differences(report, reference)
    if found:
        raise Failure("\n  ".join([f"{whose} differs:"] + found))


def check_common_steps(report, reference, whose):
    for is_, should in zip(report["models"], reference["models"], strict=True):
        both = min(is_["steps"], should["steps"])
        if is_["loss"][:both] != should["loss"][:both] or len(is_["loss"]) != is_["steps"]:
            raise Failure(f"{whose}: {is_['name']} has other losses")


def check_copies(hydra, folder, process):
    """Each is trained alone from where it began; returns their number."""
    added = process.run_folder / "added.toml"
    tables = added.read_text().split("[[model]]")[1:] if added.exists() else []
    data = TRIALS[TRIALS.index("[data"):TRIALS.index("[[model]]")]
    models = {m["name"]: m for m in process.report()["models"]}
    for i, table in enumerate(tables):
        alone = folder / f"alone-{i}"
        alone.mkdir()
        whole = re.sub(r'begins = "(?!/)', f'begins = "{process.run_folder}/', table)
        (alone / "w.toml").write_text(HEAD + devices(1, memory="8MiB") + data + "[[model]]" + whole)
        should = Process(hydra, alone, ["w.toml"]).report()["models"][0]
        is_ = models[should["name"]]
        if is_["loss"] != should["loss"][:len(is_["loss"])] or (is_["status"] == "finished" and is_["digest"] != should["digest"]):
            raise Failure(f"{should['name']} has other bits than alone")
    return len(tables)


def decisions(run_folder):
    """Complete lines: results of trials, and what was decided."""
    file = run_folder / "search.jsonl"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def check_claims(process, reference, workload):
    """A run that was killed left a report only if an earlier process wrote it, or if it was complete already."""
    report = process.report()
    if report and is_finished(report):
        workload.check(report, reference, "the report that a killed run left")


# -- one round ---------------------------------------------------------------------------------------------------------


def other_device(rng, count):
    return dict(count=count, memory=f"{rng.choice([2, 3, 5, 8])}MiB", link=f"{rng.choice([80, 200, 900])}MiB/s",
                latency=f"{rng.choice([0, 50, 200])}us", speed=rng.choice([0.6, 0.8, 1.0]))


def other_machine(rng, folder, workload):
    """Options that resume on other devices, sometimes with another policy or other cuts; and their description."""
    count = rng.randint(1, 3)
    if rng.random() < 0.5:
        text = "".join(devices(**other_device(rng, 1)) for _ in range(count))
        (folder / "other.toml").write_text(workload.text(text))
        options = ["other.toml"]
    else:
        options = ["w.toml"]
        for key, value in other_device(rng, count).items():
            options += ["--set", f"device.{key}={value}"]
    policy = rng.choice(workload.policies) if rng.random() < 0.4 else workload.policies[0]
    cuts = ["--set", "model.cuts=greedy"] if rng.random() < 0.3 else []
    return options + ["--policy", policy] + cuts, f"{count} devices, {policy}{', greedy' if cuts else ''}"


def states_of(folder):
    """Of a model, the newest first, as a run continues from them: a best state behind checkpoints of as many steps."""
    numbered = sorted((p for p in folder.iterdir() if re.fullmatch(r"\d+-step-\d+", p.name)), reverse=True)
    for best in (p for p in folder.iterdir() if re.fullmatch(r"best-step-\d+", p.name)):
        step = lambda p: int(p.name.rsplit("-", 1)[1])
        numbered.insert(next((i for i, p in enumerate(numbered) if step(p) < step(best)), len(numbered)), best)
    return numbered


def is_between_steps(state):
    """Only such a one may be continued in other cuts."""
    unit = json.loads((state / "state.json").read_text())["unit"]
    return not any(unit) if isinstance(unit, list) else unit == 0


def damage(rng, run_folder, story):
    """Changes a byte of the newest states of a model. Returns its name; empty if none has a state."""
    models = [m for m in sorted((run_folder / "checkpoints").glob("*")) if states_of(m)]
    if not models:
        return ""
    model = rng.choice(models)
    states = states_of(model)
    counts = [n for n in range(1, len(states) + 1) if n == len(states) or is_between_steps(states[n])]
    for state in states[:rng.choice(counts)]:
        file = state / "shard-0000.safetensors"
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    story.append(f"{model.name} damaged")
    return model.name


def check_goes_back(process, damaged):
    """Said as soon as it was planned; of a process that was killed nothing may have been written yet."""
    if damaged and process.status == 0 and f"model '{damaged}' goes back to " not in process.stderr:
        raise Failure(f"no line says that {damaged} goes back:\n{process.stderr}")


def ended(process, after):
    if process.signalled is None or process.status == 0:
        return f"finished, {process.steps_trained()} of {steps_of(process.report())} steps"
    return f"{signal.Signals(process.signalled).name} after {after:.2f} s"


def steps_of(report):
    return sum(m["steps"] for m in report["models"])


def check_saved(process, interrupted):
    """What an interrupted run has saved is not trained again, unless its cuts do not fit the current devices: a note says so."""
    saved, steps = steps_of(interrupted), steps_of(process.report())
    passed_over = any("with cuts that differ from the current ones" in note for note in process.report()["notes"])
    if process.steps_trained() != steps - saved and not passed_over:
        raise Failure(f"{saved} of {steps} steps were saved, but {process.steps_trained()} were trained after that")


def play(hydra, folder, rng, workload, calm, story):
    """Starts, kills and resumes one run until it is finished; adds to its story what happens."""
    reference, span = calm.report(), calm.seconds
    (folder / "w.toml").write_text(workload.text(devices(2)))
    after = rng.uniform(0, span)
    process = Process(hydra, folder, ["w.toml"], signal.SIGKILL, after)
    story.append(ended(process, after))
    endings = [rng.choice([None, signal.SIGKILL, signal.SIGINT]) for _ in range(rng.choice([0, 1, 1, 2]))] + [None]
    for end_by in endings:
        if process.status == 0:
            break
        check_claims(process, reference, workload)
        decided = decisions(process.run_folder)
        interrupted = process.report() if process.status == 130 and not process.before_training else None
        crashed = process.signalled == signal.SIGKILL and not workload.search
        damaged = damage(rng, process.run_folder, story) if crashed and rng.random() < 0.4 else ""
        options, machine = other_machine(rng, folder, workload)
        after = rng.uniform(0, span)
        story.append(f"on {machine}: ")
        process = Process(hydra, folder, options + ["--resume"], end_by, after)
        story[-1] += ended(process, after)
        check_goes_back(process, damaged)
        no_copies_since = interrupted and len(interrupted["models"]) == len((process.report() or interrupted)["models"])
        if no_copies_since and process.status == 0:
            check_saved(process, interrupted)
        if decisions(process.run_folder)[:len(decided)] != decided:
            raise Failure("search.jsonl has lost or changed a line")
    workload.check(process.report(), reference, "the resumed run")
    check_metrics(process.run_folder, process.report())
    copies = check_copies(hydra, folder, process)
    if workload.search == "pbt" and copies == 0:
        raise Failure("no trial was replaced by a copy")
    story.append(f"equal, {copies} copies" if copies else "equal")


def undisturbed(hydra, folder, workload):
    folder.mkdir()
    (folder / "w.toml").write_text(workload.text(devices(2)))
    process = Process(hydra, folder, ["w.toml"])
    if not is_finished(process.report()):
        raise Failure("the undisturbed run has not finished")
    return process


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hydra", help="the built program")
    parser.add_argument("--kills", type=int, default=50, help="rounds")
    parser.add_argument("--search", choices=["halving", "hyperband", "asha", "pbt"], help="over nine trials")
    parser.add_argument("--saves-within", type=float, default=PATIENCE_S, metavar="SECONDS", help="when it is interrupted")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=pathlib.Path, help="must not exist, is kept (default: a temporary one)")
    o = parser.parse_args()
    Process.saving_s = o.saves_within
    if o.folder:
        o.folder.mkdir(parents=True)
    base = (o.folder or pathlib.Path(tempfile.mkdtemp(prefix="kill-and-resume-"))).resolve()
    hydra = str(pathlib.Path(o.hydra).resolve())
    workload = Workload(o.search)
    equal, story = 0, []
    try:
        calm = undisturbed(hydra, base / "undisturbed", workload)
        print(f"undisturbed: {calm.seconds:.2f} s", flush=True)
        for i in range(1, o.kills + 1):
            folder = base / f"round-{i}"
            folder.mkdir()
            story = [f"round {i}"]
            play(hydra, folder, random.Random(f"{o.seed}/{i}"), workload, calm, story)
            print("; ".join(story), flush=True)
            equal += 1
            if not o.folder:
                shutil.rmtree(folder)
    except Failure as e:
        print("; ".join(story), e, f"{equal} of {o.kills} equal; the run is kept in {base}", sep="\n")
        return 1
    print(f"{equal} of {o.kills} equal")
    if not o.folder:
        shutil.rmtree(base)
    return 0


sys.exit(main())
