#!/usr/bin/env python3
"""A run of `hydra train` that is steered while it trains.

    steered_run.py HYDRA                          by the socket of its folder, and by whatever else comes in there
    steered_run.py HYDRA --browser [SCREENSHOT]   by its page, in Chromium; exits with 77 where there is none

Some models train for ever, others a few steps: whatever is done to the run, the latter must have the results of an undisturbed
run. The first way also ends the run, and resumes it: it must have the models that were added.
"""

import atexit
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

SECONDS = 300  # for anything that the run is expected to do

HEAD = """[run]
policy = "round-robin"
seed = 7
[[device]]
kind = "cpu"
memory = "64MiB"
price = 3061.3
watts = { busy = 3111, idle = 553 }
[data.text]
kind = "synthetic-language"
"""
MODEL = """[[model]]
name = "{name}"
chain = {{ family = "gpt2", layers = 2, width = 48, heads = 4, context = 32 }}
data = "text"
batch_size = {batch}
steps = {steps}
optimizer = {{ learning_rate = 1e-3 }}
validate = {{ batches = 2, every_steps = 10 }}
"""
FOR_EVER = 1_000_000


def model(name, steps, batch=4):
    return MODEL.format(name=name, steps=steps, batch=batch)


def require(holds, text):
    if not holds:
        sys.exit(f"FAILED: {text}")


def ask(run, **command):
    """As docs/control.md shows it."""
    folder = os.open(run, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"/proc/self/fd/{folder}/control.sock")
            client.sendall(json.dumps(command).encode() + b"\n")
            answer = json.loads(client.makefile().readline())
    finally:
        os.close(folder)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer


class Run:
    """One `hydra train`."""

    def __init__(self, hydra, folder, name, workload, *options):
        self.hydra, self.name, self.cwd = hydra, name, folder
        (folder / f"{name}.toml").write_text(workload)
        self.log = open(folder / f"{name}.log", "a+", encoding="utf-8")
        self.process = subprocess.Popen([hydra, "train", f"{name}.toml", *options], cwd=folder, stdout=self.log, stderr=self.log,
                                        env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.folder = folder / "runs" / name
        atexit.register(self.process.kill)  # a run that trains for ever does not outlive the test

    def text(self):
        self.log.flush()
        return (self.cwd / f"{self.name}.log").read_text()

    def wait_for(self, what, holds):
        end = time.time() + SECONDS
        while not (result := holds()):
            require(time.time() < end, f"{what}; the run's output:\n{self.text()}")
            require(self.process.poll() is None, f"{what}: the run has ended:\n{self.text()}")
            time.sleep(0.05)
        return result

    def models(self):
        with contextlib.suppress(OSError, ValueError):  # not yet under way
            return {m["name"]: m for m in ask(self.folder, command="status")["models"]}
        return {}

    def wait_for_state(self, name, state):
        self.wait_for(f"{name} is {state}", lambda: self.models().get(name, {}).get("state") == state)

    def control(self, *words):
        return subprocess.run([self.hydra, "control", f"runs/{self.name}", *words], cwd=self.cwd, capture_output=True, text=True,
                              timeout=SECONDS, check=False)

    def end(self, status):
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            require(False, f"the run does not end:\n{self.text()}")
        require(self.process.returncode == status, f"exit status {self.process.returncode}, not {status}:\n{self.text()}")

    def digests(self):
        """What the models have taken must add up to what the run has, to the last digit."""
        report = json.loads((self.folder / "report.json").read_text())
        for key, digits in [("device_s", 3), ("cost", 4), ("joules", 0)]:
            whole = [round(x["expense"][key] * 10**digits) for x in [report, *report["models"]]]
            require(whole[0] == sum(whole[1:]), f"the models have {whole[1:]} of {key}, the run {whole[0]}")
        return {m["name"]: m["digest"] for m in report["models"] if "digest" in m}


def undisturbed(hydra, folder):
    """The digests of the models that are trained to their end."""
    run = Run(hydra, folder, "undisturbed", HEAD + model("short", 100) + model("cloned", 150) + model("added", 30, 6), "--quiet")
    run.end(0)
    return run.digests()


# -- by the socket -----------------------------------------------------------------------------------------------------------


def check_refusals(run):
    for words, text in ((["stop", "shot"], 'did you mean "short"'), (["resume", "short"], "cannot be resumed: it has finished"),
                        (["clone", "long-a", "step=3"], "step"), (["clone", "long-a", "steps=1"], "none would be left"),
                        (["clone", "long-a", "optimizer.kind=lion"], "optimizer"), (["add", "none.toml"], "none.toml"),
                        (["add", "undisturbed.toml"], "only [[model]] tables"), (["fly"], "unknown command")):
        answer = run.control(*words)
        require(answer.returncode == 2 and text in answer.stderr, f"hydra control {words}: {answer.returncode} {answer.stderr}")
    require(not (run.folder / "added.toml").exists(), "nothing was added")


def check_two_shells(run):
    failures = []

    def shell(model_name):
        for words in (["status"], ["pause", model_name], ["status"], ["resume", model_name]) * 3:
            answer = run.control(*words)
            if answer.returncode != 0:
                failures.append(f"{words}: {answer.stderr}")

    shells = [threading.Thread(target=shell, args=(name,)) for name in ("long-a", "long-b")]
    for s in shells:
        s.start()
    for s in shells:
        s.join()
    require(not failures, "; ".join(failures))


def raw(run):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(SECONDS)
    folder = os.open(run.folder, os.O_PATH)
    client.connect(f"/proc/self/fd/{folder}/control.sock")
    os.close(folder)
    return client


def check_garbage(run):
    for bytes_, text in ((b"\x00\xff\xfe{{{\n", "not a line of JSON"), (b"[" * 100_000 + b"\n", ""), (b'{"command": 7}\n', "command"),
                         (b"x" * (10 << 20), "bytes")):
        with raw(run) as client:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(bytes_)
            line = client.makefile().readline()
            require("error" in line and text in line, f"garbage is answered by {line!r}")
    with raw(run) as client:
        client.sendall(b'{"command": "sta')  # half a line, then gone
    with raw(run) as client:
        client.sendall(b'{"command": "status"}\n' * 1000)  # reads no answer
    run.wait_for_state("long-a", "training")  # after the last resume of check_two_shells, too


def check_socket(hydra, folder):
    known = undisturbed(hydra, folder)
    run = Run(hydra, folder, "steered", HEAD + model("long-a", FOR_EVER) + model("short", 100) + model("long-b", FOR_EVER, 8))
    run.wait_for_state("short", "finished")
    check_refusals(run)
    check_two_shells(run)
    check_garbage(run)
    require(run.control("clone", "short", "steps=150").stdout == "short.2: a clone of short\n", "a clone")
    (folder / "more.toml").write_text(model("added", 30, 6))
    require(run.control("add", "more.toml").stdout == "added: added\n", "a model is added")
    used = ask(run.folder, command="status")["host"]["used"]
    require(run.control("stop", "long-b").returncode == 0, "a model is stopped")
    require('"long-b"' in (run.folder / "stopped.toml").read_text(), "a stop is recorded before it is answered")
    run.wait_for("its memory is free", lambda: run.models()["long-b"]["state"] == "stopped" and
                 ask(run.folder, command="status")["host"]["used"] < used)
    require(run.control("quit").returncode == 0, "the run ends")
    run.end(130)
    require(not (run.folder / "control.sock").exists(), "the socket is removed")
    answer = run.control("status")
    require(answer.returncode == 2 and "no run is under way" in answer.stderr, "no run is under way")
    run.folder.rename(folder / "runs" / "moved")
    resumed = Run(hydra, folder, "moved", (folder / "steered.toml").read_text(), "--resume", "--set", "run.name=steered", "--output",
                  "runs/moved")
    for name in ("short.2", "added"):
        resumed.wait_for_state(name, "finished")
    require(resumed.control("stop", "long-a").returncode == 0, "the last model is stopped")
    resumed.end(0)
    digests = resumed.digests()
    for name, like in (("short", "short"), ("short.2", "cloned"), ("added", "added")):
        require(digests[name] == known[like], f"{name} has the results of an undisturbed run")
    print("the run was steered by its socket, and has the results of an undisturbed one")


# -- by the page -------------------------------------------------------------------------------------------------------------


def check_access(url):
    page, token = url.split("?token=")
    for address, headers, status in ((page, {}, 403), (page + "?token=" + "0" * len(token), {}, 403), (url, {}, 200),
                                     (url, {"Origin": "http://example.com"}, 403), (url, {"Host": "example.com"}, 403)):
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=SECONDS) as answer:
                got = answer.status
        except urllib.error.HTTPError as refused:
            got = refused.code
        require(got == status, f"{address} {headers}: {got}, not {status}")


MEMORY_SHOWN = ("(([all, n, unit]) => n * {KiB: 1, MiB: 1024, GiB: 1048576}[unit])"
                "(text('gauges').match(/memory ([0-9.]+) ([KMG]iB)/))")


def check_page(hydra, folder, screenshot):
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    from live_page import Browser  # pylint: disable=import-outside-toplevel
    known = undisturbed(hydra, folder)
    run = Run(hydra, folder, "shown", HEAD + model("gpt-a", FOR_EVER) + model("short", 100) + model("gpt-b", FOR_EVER, 8), "--serve")
    url = run.wait_for("the URL is printed",
                       lambda: next((w for w in run.text().split() if w.startswith("http://127.0.0.1:")), None))
    run.wait_for_state("short", "finished")
    check_access(url)
    with contextlib.closing(Browser(shutil.which("chromium"), str(folder / "profile"))) as page:
        page.open(url)
        page.wait("text('connection') === 'live' && state('gpt-a') === 'training' && state('short') === 'finished'")
        page.wait("curve() > 0")
        before = page.run("curve()")
        page.wait(f"curve() > {before}")
        page.run("(press('short', 'Clone'), confirm_with('steps=150'))")
        page.wait("state('short.2') === 'finished' || state('short.2') === 'training'")
        page.run(f"(document.getElementById('workload').value = {json.dumps(model('added', 30, 6))}, "
                 "document.getElementById('add').click())")
        page.wait("state('added') === 'finished' && state('short.2') === 'finished'")
        if screenshot:
            page.screenshot(screenshot)
        used = page.run(MEMORY_SHOWN)
        page.run("(press('gpt-b', 'Stop'), confirm_with(''))")
        page.wait(f"state('gpt-b') === 'stopped' && {MEMORY_SHOWN} < {used}")
        page.run("press('gpt-a', 'Pause')")
        page.wait("state('gpt-a') === 'paused'")
        page.run("press('gpt-a', 'Resume')")
        page.wait("state('gpt-a') === 'training'")
        page.run("(press('gpt-a', 'Stop'), confirm_with(''))")
        page.wait("text('connection').startsWith('the run has ended')")
        require(page.run("state('gpt-a')") == "stopped" and page.run("curve()") > 0, "the page stays as it was")
        require(not page.complaints, "the browser's complaints: " + "\n".join(page.complaints))
    run.end(0)
    digests = run.digests()
    for name, like in (("short", "short"), ("short.2", "cloned"), ("added", "added")):
        require(digests[name] == known[like], f"{name} has the results of an undisturbed run")
    print("the run was steered by its page, and has the results of an undisturbed one")


def main():
    hydra = str(pathlib.Path(sys.argv[1]).resolve())
    by_page = "--browser" in sys.argv
    if by_page and not shutil.which("chromium"):
        print("skipped: there is no chromium (Debian: apt install chromium); the page of a run is not tested in a browser")
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if by_page:
            check_page(hydra, pathlib.Path(folder), sys.argv[3] if len(sys.argv) > 3 else None)
        else:
            check_socket(hydra, pathlib.Path(folder))


if __name__ == "__main__":
    main()
