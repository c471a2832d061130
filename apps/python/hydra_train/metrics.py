"""metrics.jsonl, also while it grows."""
from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import IO, Any


class GrowingFile:
    def __init__(self, path: pathlib.Path):
        self._path = path
        self._file: IO[bytes] | None = None

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def _current(self) -> IO[bytes]:
        there = os.stat(self._path)
        if self._file is None or not os.path.samestat(os.fstat(self._file.fileno()), there):
            self.close()
            self._file = open(self._path, "rb")
        return self._file

    def new_lines(self) -> Iterator[bytes]:
        """Those since the last call, as far as they are whole; of a file that a resumed run has replaced all."""
        try:
            file = self._current()
        except FileNotFoundError:
            return
        while (line := file.readline()).endswith(b"\n"):
            yield line
        file.seek(-len(line), os.SEEK_CUR)


def parsed(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Without lines that a full disk has damaged, as `hydra report` reads them."""
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        yield record


def records(file: pathlib.Path, is_over: Callable[[], bool], pause: Callable[[], object]) -> Iterator[dict[str, Any]]:
    """Each record once, until the run is over; between two looks at the file `pause` is called."""
    growing = GrowingFile(file)
    given: dict[tuple[str, bool], int] = {}  # the last step, by model and kind of record
    try:
        while True:
            last = is_over()  # before the file is read: nothing follows then
            for record in parsed(growing.new_lines()):
                kind = record["model"], "validation" in record
                if record["step"] > given.get(kind, -1):
                    given[kind] = record["step"]
                    yield record
            if last:
                return
            pause()
    finally:
        growing.close()
