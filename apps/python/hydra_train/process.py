"""`hydra train` under way, as a process of this one: its output, its end, its interrupt."""
from __future__ import annotations

import atexit
import collections
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO

from .program import environment, find_program

PR_SET_PDEATHSIG = 1
PROGRESS = re.compile(r" *\d+ %  ")
MOST_LINES = 100  # that are kept of what it writes


def ending_with_python() -> Callable[[], None]:
    """What a new process does first: it gets SIGHUP when this thread ends, however that is. It then saves its state and
    ends, as on SIGTERM, also if it is about to."""
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def begin() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
        prctl(PR_SET_PDEATHSIG, signal.SIGHUP)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGHUP)

    return begin


def written_on(stream: IO[str], line: str) -> IO[str] | None:
    """None once the stream takes no more: the program's output is read on, or it would have to wait."""
    try:
        stream.write(line)
        stream.flush()
        return stream
    except (OSError, ValueError):
        return None


class Process:
    """Its session is its own, so that an interrupt reaches it once, by this class, wherever Python runs. Signals are
    not restored: where Python is killed, SIGPIPE would end it at its next line. `ends_with_python`: it saves its state
    and ends then, else it goes on."""

    def __init__(self, words: Sequence[str], cwd: str | None, show: bool, ends_with_python: bool = False):
        self._process = subprocess.Popen([find_program(), *words], env=environment(), cwd=cwd, start_new_session=True,
                                         preexec_fn=ending_with_python() if ends_with_python else None, restore_signals=False,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         encoding="utf-8", errors="replace")
        self._errors: collections.deque[str] = collections.deque(maxlen=MOST_LINES)
        self.ended = threading.Event()
        readers = [self._thread(self._read, self._process.stdout, sys.stdout if show else None, None),
                   self._thread(self._read, self._process.stderr, sys.stderr if show else None, self._errors)]
        atexit.register(self._leave)
        self._thread(self._reap, readers)

    @staticmethod
    def _thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    @staticmethod
    def _read(stream: IO[str], shown_on: IO[str] | None, kept: collections.deque[str] | None) -> None:
        for line in stream:
            if kept is not None and not PROGRESS.match(line):
                kept.append(line)
            if shown_on is not None:
                shown_on = written_on(shown_on, line)

    def _reap(self, readers: list[threading.Thread]) -> None:
        for reader in readers:
            reader.join()
        self._process.wait()
        self.ended.set()
        atexit.unregister(self._leave)

    def _leave(self) -> None:
        """At the end of Python: nobody would read the program's output any more."""
        self.interrupt()
        self.ended.wait()

    def interrupt(self) -> None:
        """The program saves its state and ends; the second time it ends at once. SIGTERM, because processes that a
        shell starts in the background ignore SIGINT."""
        if not self.ended.is_set():
            self._process.send_signal(signal.SIGTERM)

    @property
    def status(self) -> int:
        """Once it has ended."""
        return self._process.returncode

    @property
    def message(self) -> str:
        """The newest lines of stderr, but for those of progress."""
        return "".join(self._errors).strip()
