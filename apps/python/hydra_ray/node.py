"""The actor that runs `hydra node` on a machine of the cluster."""
from __future__ import annotations

import pathlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

import ray
from hydra_train.process import ending_with_python
from hydra_train.program import environment, find_program

LEAVING = 30.0  # seconds in which a node may hand its models over


def status_of(command: Sequence[str], folder: str) -> int:
    """Of the program at its end; told to leave before an exception goes on, and when the worker of Ray ends."""
    with subprocess.Popen(command, env=environment(), cwd=folder, start_new_session=True,
                          preexec_fn=ending_with_python()) as program:
        try:
            return program.wait()
        except BaseException:
            program.terminate()
            program.wait(LEAVING)
            raise


@ray.remote(max_restarts=-1, max_task_retries=-1)
class Node:
    """Has the keys of the run in a folder of its own, for as long as it works."""

    def work(self, address: str, keys: Mapping[str, bytes], name: str, words: Sequence[str]) -> int:
        """Until the run is over; returns the exit status."""
        with tempfile.TemporaryDirectory(prefix="hydra-node-") as folder:
            own = pathlib.Path(folder, "keys")
            own.mkdir(mode=0o700)
            for file, content in keys.items():
                path = own / file
                path.touch(mode=0o600)
                path.write_bytes(content)
            command = [find_program(), "node", "--join", address, "--keys", str(own), "--name", name, "--folder",
                       f"{folder}/models", *words]
            return status_of(command, folder)
