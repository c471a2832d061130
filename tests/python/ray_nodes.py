#!/usr/bin/env python3
"""Models trained by `hydra_ray` (apps/python/hydra_ray) on a cluster of Ray on this machine.

    ray_nodes.py HYDRA

Of three machines one is removed while its models train, and another one added: results are those of one machine, bit for
bit. What a run refuses is raised. Exits with 77 where Ray is not installed.
"""

import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.update(HYDRA_PROGRAM=os.path.abspath(sys.argv[1]), OMP_NUM_THREADS="1",
                  PYTHONPATH=str(ROOT / "apps" / "python"))
sys.path.insert(0, str(ROOT / "apps" / "python"))

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

import hydra_ray
import hydra_train
from checks import Failed, require

PATIENCE = 120  # seconds until something must have happened
WORKLOAD = {"run": {"seed": 3, "checkpoint": {"every_steps": 20}},
            "device": [{"kind": "cpu", "memory": "1MiB", "speed": 0.04}],
            "data": {"classes": {"kind": "synthetic-classes", "features": 64, "classes": 4}},
            "model": [{"name": "m{seed}", "chain": {"family": "mlp", "layers": 4, "width": 64}, "data": "classes",
                       "batch_size": 64, "micro_batches": 2, "steps": 200, "optimizer": {"learning_rate": 1e-3},
                       "grid": {"seed": [1, 2, 3, 4, 5, 6]}}]}


def digests(report):
    return {model["name"]: (model["status"], model["steps"], model["digest"]) for model in report["models"]}


def wait_for_steps(metrics):
    until = time.monotonic() + PATIENCE
    while not metrics.exists() or metrics.read_text().count("\n") < 100:
        require(time.monotonic() < until, "the models are not trained")
        time.sleep(0.1)


def loses_a_machine(folder):
    hydra_train.train(WORKLOAD, folder / "alone", set={"device.count": 3})
    expected = digests(json.loads((folder / "alone/report.json").read_text()))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    machines = [cluster.add_node(num_cpus=1) for _ in range(3)]
    ray.init(address=cluster.address, log_to_driver=False)
    with concurrent.futures.ThreadPoolExecutor() as pool:  # machines start in the main thread only
        training = pool.submit(hydra_ray.train, WORKLOAD, folder / "ray", nodes=3)
        wait_for_steps(folder / "ray/metrics.jsonl")
        cluster.remove_node(machines[0], allow_graceful=False)
        require(not training.done(), "the run was over before a machine was removed")
        cluster.add_node(num_cpus=1)
        report = training.result()
    require(digests(report) == expected, f"{digests(report)} on Ray, {expected} on one machine")
    joined = {node["name"] for node in report["cluster"]["nodes"]}
    require(joined == {"ray-0", "ray-1", "ray-2"}, f"nodes {joined}")


def refuses(folder):
    try:
        hydra_ray.train({**WORKLOAD, "data": {}}, folder / "refused", nodes=1)
    except hydra_train.HydraError:
        return
    raise Failed("a workload without its data is trained")


with tempfile.TemporaryDirectory(prefix="hydra-ray-") as place:
    loses_a_machine(pathlib.Path(place))
    print("a machine is removed, another one added: the same bits")
    refuses(pathlib.Path(place))
    print("what a run refuses is raised")
    ray.shutdown()
