"""A run whose nodes are actors of Ray."""
from __future__ import annotations

import contextlib
import json
import pathlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import hydra_train
import ray
from hydra_train.toml import Path, Workload
from hydra_train.training import require_arguments, start
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from .node import Node

LEAVING = 10.0  # seconds in which nodes may end by themselves when the run is over
ENDING = 60.0  # seconds in which the run may end when its nodes have
WAITING = 10.0  # seconds until it is told that machines are missing
INTERVAL = 1.0  # seconds between looks at the nodes
OF_COORDINATOR = ("--listen", "--no-local", "--nodes", "--keys")
OF_NODES = ("--join", "--keys", "--name", "--folder")


def require_free(arguments: Sequence[str], chosen: Sequence[str]) -> None:
    """Raises TypeError where these are no words, HydraError where they have options that this module chooses."""
    require_arguments(arguments)
    for option in chosen:
        if any(word.split("=")[0] == option for word in arguments):
            raise hydra_train.HydraError(f"{option}: hydra_ray chooses this; leave it out", 2)


@contextlib.contextmanager
def machines(nodes: int, resources: Mapping[str, float]) -> Iterator[Any]:
    """So many bundles of resources, each on a machine of its own: Ray gives all of them at once. What is missing is what
    its autoscaler adds."""
    group = placement_group([dict(resources)] * nodes, strategy="STRICT_SPREAD", name="hydra")
    try:
        if not group.wait(WAITING):
            print(f"hydra_ray: waiting until Ray has {nodes} machines with {dict(resources)} free", file=sys.stderr)
        yield group
    finally:
        remove_placement_group(group)


def nodes_at_work(group: Any, nodes: int, folder: pathlib.Path, resources: Mapping[str, float],
                  words: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """The actors, and what their work will return."""
    address = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))["address"]
    keys = {file.name: file.read_bytes() for file in (folder / "keys").iterdir()}
    actors, work = [], []
    for i in range(nodes):
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=i)
        actors.append(Node.options(name=f"{folder.name} {i}", num_cpus=resources["CPU"],
                                   num_gpus=resources.get("GPU", 0), scheduling_strategy=strategy).remote())
        work.append(actors[-1].work.remote(address, keys, f"ray-{i}", list(words)))
    return actors, work


def failure_of(node: Any) -> str:
    """Of one whose work has ended; empty: the run was over for it."""
    try:
        status = ray.get(node)
        return f"a node has ended with status {status}" if status else ""
    except (ray.exceptions.RayError, hydra_train.HydraError) as error:
        return f"a node has failed: {error}"


def wait_for_end(run: hydra_train.Run, work: Sequence[Any]) -> None:
    """Of the run. Where all nodes have failed nothing would be trained any more: it is saved and ended."""
    pending, failures = list(work), []
    while pending and not run.over:
        ended, pending = ray.wait(pending, timeout=INTERVAL)
        for failure in filter(None, map(failure_of, ended)):
            failures.append(failure)
            print(f"hydra_ray: {failure}", file=sys.stderr)
    until = time.monotonic() + (ENDING if len(failures) < len(work) else 0)  # nodes end first
    while not run.over and time.monotonic() < until:
        time.sleep(INTERVAL)
    if not run.over:
        run.quit()
        raise hydra_train.HydraError("no node is left: " + ("; ".join(failures) or "all have left"), 1)
    run.wait()
    ray.wait(list(work), num_returns=len(work), timeout=LEAVING)


def train(workload: Workload, output: Path | None = None, *, nodes: int, cpus: float = 1, gpus: float = 0,
          port: int = 0, node_arguments: Sequence[str] = (), **options: Any) -> dict[str, Any]:
    """Trains the models of a workload on `nodes` machines of the cluster that Ray is connected to, or that it starts.

    `cpus`, `gpus`: that each machine has to have free. `port`: at which the coordinator listens; 0: a free one.
    `node_arguments`: more words for `hydra node`, ["--devices", "/etc/devices.toml"]. Other arguments are those of
    `hydra_train.train` but for `wait`; what the coordinator and nodes listen to, and their keys, are chosen here; raises what that raises, and Run.wait. Returns report.json of the run folder.

    Training begins when Ray has that many machines. Models of a machine that is lost continue on the others, and Ray
    starts its node again where it finds the resources. Raises HydraError, with the run saved, when no node is left. A
    run whose Python is killed is saved and ends: its nodes end with it.
    """
    own = options.pop("arguments", ())
    require_free(own, OF_COORDINATOR)
    require_free(node_arguments, OF_NODES)
    if not ray.is_initialized():
        ray.init()
    resources = {"CPU": cpus, "GPU": gpus} if gpus else {"CPU": cpus}
    listen = f"{ray.util.get_node_ip_address()}:{port}"
    run = start(workload, output, arguments=[*own, "--listen", listen, "--no-local", "--nodes", "1"], ends_with_python=True,
                **options)
    with run, machines(nodes, resources) as group:
        if not run.over:  # else it was complete before
            actors, work = nodes_at_work(group, nodes, run.folder, resources, node_arguments)
            wait_for_end(run, work)
            for actor in actors:
                ray.kill(actor)
    return dict(json.loads((run.folder / "report.json").read_text(encoding="utf-8")))
