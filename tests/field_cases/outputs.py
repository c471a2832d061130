"""How cases run programs, and judge what these wrote."""
import contextlib
import dataclasses
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from unittest import mock

TREE = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 300  # of a command


@dataclasses.dataclass
class Ran:
    """What a command did."""
    status: int
    out: str
    err: str

    @property
    def text(self):
        return self.out + "\n" + self.err

    def refused(self, *patterns):
        """As bad input, in a message that has all of these. Notes beside it are other messages."""
        return self.status in (2, 3) and any(says(m, *patterns) for m in self.messages())

    def messages(self):
        messages, note = [""], False
        for line in self.text.splitlines():
            begins = bool(re.match(r"\s*(note|warning)\b", line, re.I))
            if begins or note and not line.startswith(" "):
                messages.append("")
            note = begins or note and line.startswith(" ")
            messages[-1] += line + "\n"
        return messages

    def json(self):
        """What --json prints; None if it failed."""
        return json.loads(self.out) if self.status == 0 else None

    def value(self, name=None, key="loss"):
        """Of `hydra evaluate --json`: of the model `name`, or the first one; None if it failed."""
        values = [m.get(key) for m in self.json() or [] if name in (None, m.get("name"))]
        return values[0] if values else None

    def ids(self):
        """Of `hydra tokenize --json`: of a text, or of a conversation."""
        got = self.json()
        return got.get("ids") if isinstance(got, dict) else got

    def brief(self):
        """Exit status and first line."""
        lines = [line for line in self.err.splitlines() + self.out.splitlines() if line.strip()] or [""]
        return f"exit {self.status}" + (f": {lines[0].strip()[:140]}" if self.status else "")

    def loss(self):
        return f"loss {show(self.value())}" if self.status == 0 else self.brief()


def run(*command):
    environment = {**os.environ, "HYDRA_CACHE": str(pathlib.Path("cache").resolve())}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                          check=False)
    return Ran(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


class Hydra:
    """The program: hydra("train workload.toml --output run")."""

    def __init__(self, program):
        self.program = program

    def __call__(self, line):
        return run(self.program, *shlex.split(line))

    def evaluate(self, *settings):
        """`hydra evaluate` of the case's workload."""
        return self(f"evaluate workload.toml --json {changed(settings)}")

    def plan(self, *settings):
        return self(f"plan workload.toml {changed(settings)}")

    def train(self, folder="run", *settings):
        return self(f"train workload.toml --output {folder} {changed(settings)}")

    def export(self, run_folder="run", to="exported"):
        return self(f"export {run_folder} m {to}")


def changed(settings):
    return shlex.join(part for s in settings for part in ("--set", s))


def data(file, name="d"):
    """The settings with which a workload reads another file."""
    return f"data.{name}.train={file}", f"data.{name}.validation={file}"


def hydra_export(factory, folder):
    """apps/python/hydra_export, in this process, which has torch."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch("sys.path", [str(TREE / "apps/python"), *sys.path]), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(err), mock.patch("sys.argv", ["hydra_export", factory, "--out", folder]):
        from hydra_export import __main__ as exporter  # pylint: disable=import-outside-toplevel
        status = exporter.main()
    return Ran(status, out.getvalue(), err.getvalue())


# -- judging ---------------------------------------------------------------------------------------------------------------


def says(text, *patterns):
    """Are all of these in the text, in capitals or not?"""
    return all(re.search(p, text, re.I) for p in patterns)


def noted(ran, without, *patterns):
    """Is there a line with all of these, and none where it would be out of place?"""
    def line(outputs):
        return any(says(text, *patterns) for o in outputs for text in o.text.splitlines())
    return line(ran) and not line(without)


LEFT_OUT = r"left out|leav\w+ out|(not|never) (seen|read|used|trained|visited)|unused|skip|drop|in no batch|fill no|incomplete"


def counted(ran, without, number, *patterns):
    """Is it said that `number` of something is left out, in a sentence or in a column of a table, and not where nothing is?"""
    def told(output):
        lines = output.text.splitlines()
        for i, line in enumerate(lines):
            if not says(line, *patterns):
                continue
            if says(line, rf"(?<![\d.,:]){number}(?![\d.:]|,\d)"):
                return True
            row = rf"\s*\S+\s+(train|validation)\s.*(?<![\d.]){number}(?![\d.])"
            if says(line, r"\bpart\b") and any(re.match(row, below) for below in lines[i + 1:i + 4]):
                return True
        return False
    return any(map(told, ran)) and not any(map(told, without))


def near(got, right, tolerance=1e-4):
    return isinstance(got, (int, float)) and abs(got - right) <= tolerance * max(1, abs(right))


def loss_is(ran, right, name=None, tolerance=1e-4):
    """A part of a case: the loss of `hydra evaluate`."""
    got = f"{name} {show(ran.value(name))}" if name and ran.status == 0 else ran.loss()
    return near(ran.value(name), right, tolerance), got, show(right)


def read_json(file):
    return json.loads(pathlib.Path(file).read_text())


def reported(folder, key="loss", name=None):
    """Of a run: the losses of the steps of a model, or another value of report.json; [] if there is none."""
    file = pathlib.Path(folder, "report.json")
    entries = read_json(file)["models"] if file.exists() else []
    return next((m.get(key, []) for m in entries if name in (None, m["name"])), [])


def attempt(action):
    """What it gives, or the error as a text."""
    try:
        return action()
    except Exception as e:  # pylint: disable=broad-except
        return f"{type(e).__name__}: {e}"[:200]


def show(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)
