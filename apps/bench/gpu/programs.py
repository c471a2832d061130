"""Starts programs with time limits. Standard library only."""
import dataclasses
import os
import pathlib
import shlex
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass
class Outcome:
    status: int
    out: str
    err: str
    seconds: float
    stopped: bool = False

    def reason(self):
        """The last lines that say why it failed."""
        if self.stopped:
            return f"stopped after {self.seconds:.0f} s"
        lines = [line for line in (self.err or self.out).strip().splitlines() if line.strip()]
        return "\n".join(lines[-3:]) or f"ended with status {self.status}"


def end(process):
    """Ends what the program started, too."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.communicate()


def call(command, limit, env=None, watch=None):
    """Runs a program for at most `limit` seconds. `watch` is called with its process id four times a second."""
    began = time.monotonic()
    try:
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace", env=env, cwd=ROOT, start_new_session=True)
    except OSError as e:
        return Outcome(127, "", f"{command[0]}: {e.strerror}", 0.0)
    while True:
        left = limit - (time.monotonic() - began)
        try:
            out, err = process.communicate(timeout=max(0.01, min(left, 0.25) if watch else left))
            return Outcome(process.returncode, out, err, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            if watch and time.monotonic() - began < limit:
                watch(process.pid)
                continue
            out, err = end(process)
            return Outcome(process.returncode, out, err, time.monotonic() - began, stopped=True)
        except BaseException:
            end(process)
            raise


def said(*command):
    """First line of a program's output; empty if the program is missing or fails."""
    done = call(command, 60)
    return done.out.strip().splitlines()[0] if done.status == 0 and done.out.strip() else ""


def shell(command):
    return shlex.join(str(c) for c in command)
