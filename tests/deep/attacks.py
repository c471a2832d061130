#!/usr/bin/env python3
"""What an attack or a failing system must not do to a run.

    tests/deep/attacks.py build/release/bin/hydra build/release/lib/call_faults.so [--only NAME] [--every N] [--folder KEPT]

    strangers   hold connections to the live page without a token: the run's memory stays, and it ends after its report
    commands    come where no thread can be made any more: they are answered, and the run goes on
    threads     each thread that a run begins is refused once: it ends with a message
    room        a file system without room for the first checkpoints: nothing is started; with room for these alone: a warning
    decisions   each change of search.jsonl fails, or three in a row: the run that is resumed has the same results

--every N tries every Nth call of the last two. One line for each of the five; exit status 1 with the first failure, whose
folder is kept. The library is tests/support/call_faults.cpp."""
import argparse, contextlib, errno, json, os, pathlib, re, shutil, socket, subprocess, sys, tempfile, time

PATIENCE_S = 120       # whatever takes longer hangs
STRANGERS = 200
ENDS_WITHIN_S = 3
MOST_GROWTH_MIB = 32   # of a run, by strangers
LONG_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"a" * (1 << 20)
FOR_EVER = 1_000_000
INTERRUPTED = 130      # exit status

HEAD = """
[run]
name = "attacked"
seed = 7
checkpoint = { every_steps = 10 }

[[device]]
kind = "cpu"
memory = "4MiB"

[data.language]
kind = "synthetic-language"
tokens = 4000
validation_tokens = 500

[[model]]
chain = { family = "gpt2", layers = 2, width = 32, heads = 2, context = 16 }
data = "language"
batch_size = 4
"""
MODELS = HEAD + """
name = "m{learning_rate}"
steps = STEPS
[model.grid]
learning_rate = [1e-3, 3e-3]
"""
SEARCH = HEAD + """
name = "m"
steps = 16
optimizer = { learning_rate = 1e-3 }
validate = { batches = 2 }
[search]
kind = "halving"
samples = 4
first = 4
factor = 2
[search.space]
"optimizer.learning_rate" = { log_uniform = [1e-4, 1e-2] }
"""


class Failure(Exception):
    pass


def require(holds, text):
    if not holds:
        raise Failure(text)


class Bench:
    """A folder, the program, and the library that makes its calls fail."""

    def __init__(self, hydra, library, folder, every):
        self.hydra, self.library, self.folder, self.every = hydra, library, folder, every

    def environment(self, faults):
        own = {"OMP_NUM_THREADS": "1", "HYDRA_CACHE": str(self.folder / "cache")}
        preloaded = {"LD_PRELOAD": str(self.library)} | {f"FAULT_{k}": str(v) for k, v in faults.items()}
        return os.environ | own | (preloaded if faults else {})

    @contextlib.contextmanager
    def started(self, name, workload, *options, **faults):
        """A run in the folder `name`, with its process and the file of what it says; it is killed at the end."""
        (self.folder / f"{name}.toml").write_text(workload)
        shutil.rmtree(self.folder / name, ignore_errors=True)
        said = self.folder / f"{name}.said"
        with open(said, "w") as out:
            line = [self.hydra, "train", f"{name}.toml", "--output", name, "--quiet", *options]
            process = subprocess.Popen(line, cwd=self.folder, env=self.environment(faults), stdout=subprocess.DEVNULL, stderr=out)
        try:
            yield process, said
        finally:
            process.kill()
            process.wait()

    def ended(self, name, workload, **faults):
        """The status of a run, and what it said."""
        with self.started(name, workload, **faults) as (process, said):
            try:
                return process.wait(PATIENCE_S), said.read_text()
            except subprocess.TimeoutExpired:
                raise Failure(f"it hangs; it has said: {said.read_text()}") from None

    def command(self, *words, **faults):
        return subprocess.run([self.hydra, *words], cwd=self.folder, env=self.environment(faults), capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)

    def calls(self, name, workload, **faults):
        """The numbers of the calls that a run makes, which is not disturbed."""
        seen = self.folder / f"{name}.seen"
        status, said = self.ended(name, workload, FIRST=1, COUNT=0, SEEN=seen, **faults)
        require(status == 0, f"status {status} without a fault: {said}")
        require(seen.exists(), f"it makes no such call: {faults}")
        return range(1, seen.stat().st_size + 1, self.every)

    def results(self, name):
        models = json.loads((self.folder / name / "report.json").read_text())["models"]
        return {m["name"]: (m.get("digest"), m["status"], m.get("losses")) for m in models}


def wait_for(what, process, holds):
    end = time.monotonic() + PATIENCE_S
    while not (result := holds()):
        require(process.poll() is None, f"{what}: the run has ended with {process.returncode}")
        require(time.monotonic() < end, f"{what}: not after {PATIENCE_S} s")
        time.sleep(0.02)
    return result


def resident_mib(process):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


def strangers_at(port):
    """Half of them send a head byte by byte, half of them one that is too long."""
    connections = []
    for i in range(STRANGERS):
        with contextlib.suppress(OSError):
            connections.append(socket.create_connection(("127.0.0.1", port), 3))
            connections[-1].sendall(LONG_HEAD if i % 2 else b"GET / HTTP/1.1\r\nX: ")
    return connections


def insist(connections, port):
    """Who was sent away comes back."""
    for i, connection in enumerate(connections):
        with contextlib.suppress(OSError):
            try:
                connection.sendall(b"a")
            except OSError:
                connections[i] = socket.create_connection(("127.0.0.1", port), 1)
                connections[i].sendall(b"GET / HTTP/1.1\r\nX: ")


def strangers(bench):
    report = bench.folder / "strangers/report.json"
    with bench.started("strangers", MODELS.replace("STEPS", str(FOR_EVER)), "--serve") as (process, said):
        url = wait_for("the page has an address", process, lambda: re.search(r"http://127\.0\.0\.1:(\d+)/", said.read_text()))
        metrics = bench.folder / "strangers/metrics.jsonl"
        wait_for("it trains", process, lambda: metrics.exists() and metrics.read_text().count("\n") > 100)
        before, port = resident_mib(process), int(url[1])
        connections = strangers_at(port)
        for _ in range(20):
            insist(connections, port)
            time.sleep(0.1)
        growth = resident_mib(process) - before
        require(growth < MOST_GROWTH_MIB, f"{growth:.0f} MiB more than the {before:.0f} MiB before they came")
        process.terminate()
        wait_for("its report is there", process, report.exists)
        reported = time.monotonic()
        while process.poll() is None:
            insist(connections, port)
            lasts = time.monotonic() - reported
            require(lasts < ENDS_WITHIN_S, f"it still runs {lasts:.1f} s after its report")
        return f"{growth:.1f} MiB more; ended {time.monotonic() - reported:.1f} s after its report"


def commands(bench):
    taken = bench.folder / "taken"
    with bench.started("commands", MODELS.replace("STEPS", str(FOR_EVER)), CALL="thread", FIRST=1, COUNT=FOR_EVER,
                       ERROR=errno.EAGAIN, WHEN=taken) as (process, said):
        wait_for("it can be controlled", process, lambda: bench.command("control", "commands", "status").returncode == 0)
        taken.touch()
        for words in (["pause", "m1e-3"], ["resume", "m1e-3"], ["clone", "m3e-3"], ["stop", "m1e-3"], ["status"]):
            answer = bench.command("control", "commands", *words)
            refused = answer.returncode != 0 and "thread" not in answer.stderr
            require(not refused, f"{words}: status {answer.returncode}: {answer.stderr}")
            require(process.poll() is None, f"{words} has ended the run: {said.read_text()}")
        process.terminate()
        require(process.wait(PATIENCE_S) == INTERRUPTED, f"it ends with {process.returncode}: {said.read_text()}")
    return "5 commands"


def threads(bench):
    workload, call = MODELS.replace("STEPS", "30"), {"CALL": "thread", "ERROR": errno.EAGAIN}
    numbers = bench.calls("threads", workload, **call)
    for n in numbers:
        status, said = bench.ended("threads", workload, FIRST=n, COUNT=1, **call)
        require(status in range(4), f"thread {n} is refused: status {status}: {said}")
        require(status == 0 or said.strip(), f"thread {n} is refused: status {status} without a word")
    return f"{len(numbers)} threads"


def room(bench):
    workload, name = MODELS.replace("STEPS", "4"), "room"
    (bench.folder / f"{name}.toml").write_text(workload)
    disk = json.loads(bench.command("plan", f"{name}.toml", "--json").stdout)["disk"]
    status, said = bench.ended(name, workload, FREE=disk["first_bytes"] // 2)
    require(status == 3 and "the first checkpoints of 2 models need" in said, f"too small: status {status}: {said}")
    require(not (bench.folder / name).exists(), "too small: the run folder is there")
    for spare, warns in ((0, True), (disk["most_bytes"], False)):
        status, said = bench.ended(name, workload, FREE=disk["first_bytes"] + spare + 65536)
        require(status == 0 and ("may need up to" in said) == warns, f"{spare} to spare: status {status}: {said}")
    exported = bench.command("export", name, "m1e-3", "exported", FREE=4096)
    require(exported.returncode == 3 and "the export takes" in exported.stderr, f"an export is begun: {exported.stderr}")
    require(not (bench.folder / "exported").exists(), "too small: a part of the export is there")
    return "refused, warned, and neither; an export is refused"


def decisions(bench):
    status, said = bench.ended("undisturbed", SEARCH)
    require(status == 0, f"status {status} without a fault: {said}")
    call = {"CALL": "file", "FILE": "search.jsonl"}
    numbers = bench.calls("decisions", SEARCH, **call)
    for n in numbers:
        for error, count in ((errno.EIO, 1), (errno.ENOSPC, 3)):
            what = f"call {n} of search.jsonl fails ({os.strerror(error)}, {count} calls)"
            status, said = bench.ended("decisions", SEARCH, FIRST=n, COUNT=count, ERROR=error, **call)
            require(status in range(4), f"{what}: status {status}: {said}")
            require(status == 0 or said.strip(), f"{what}: status {status} without a word")
            resumed = bench.command("train", "decisions.toml", "--output", "decisions", "--quiet", "--resume")
            require(resumed.returncode == 0, f"{what}: resumed with status {resumed.returncode}: {resumed.stderr}")
            require(bench.results("decisions") == bench.results("undisturbed"), f"{what}: other results when resumed")
    return f"{len(numbers)} calls, each fails in two ways"


ATTACKS = {f.__name__: f for f in (strangers, commands, threads, room, decisions)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("hydra", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    o = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attacks", dir=o.folder))
    bench = Bench(o.hydra.resolve(), o.library.resolve(), folder, o.every)
    for name in [o.only] if o.only else ATTACKS:
        try:
            print(f"{name}: {ATTACKS[name](bench)}", flush=True)
        except Failure as failed:
            sys.exit(f"{name}: {failed}\nkept: {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
