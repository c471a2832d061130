#!/usr/bin/env python3
"""Models trained by `hydra_ray` (apps/python/hydra_ray) on a cluster of Ray on this machine.

    ray_nodes.py HYDRA

Of three machines one is removed while its models train, and another one added: results are those of one machine, bit for
bit. So are they when the driver is killed, and the run resumed. What a run refuses is raised, and why no node can work.
Exits with 77 where Ray is not installed.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
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
from hydra_train.toml import to_toml

PATIENCE = 600  # seconds until something must have happened
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


def cluster_of(machines):
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    return cluster, [cluster.add_node(num_cpus=1) for _ in range(machines)]


def check(report, expected):
    require(digests(report) == expected, f"{digests(report)} on Ray, {expected} on one machine")


def loses_a_machine(cluster, machine, folder, expected):
    with concurrent.futures.ThreadPoolExecutor() as pool:  # machines start in the main thread only
        training = pool.submit(hydra_ray.train, WORKLOAD, folder / "ray", nodes=3)
        wait_for_steps(folder / "ray/metrics.jsonl")
        cluster.remove_node(machine, allow_graceful=False)
        require(not training.done(), "the run was over before a machine was removed")
        cluster.add_node(num_cpus=1)
        report = training.result()
    check(report, expected)
    joined = {node["name"] for node in report["cluster"]["nodes"]}
    require(joined == {"ray-0", "ray-1", "ray-2"}, f"nodes {joined}")


def loses_its_driver(cluster, folder, expected):
    """By the command line."""
    run = folder / "driven"
    (folder / "w.toml").write_text(to_toml(WORKLOAD), encoding="utf-8")
    words = [sys.executable, "-m", "hydra_ray", "train"]
    variables = {**os.environ, "RAY_ADDRESS": cluster.address}
    driver = subprocess.Popen([*words, folder / "w.toml", "--nodes=2", f"--output={run}"], env=variables)
    try:
        wait_for_steps(run / "metrics.jsonl")
    finally:
        driver.kill()
        driver.wait()
    until = time.monotonic() + PATIENCE
    while not hydra_train.open(run).over:
        require(time.monotonic() < until, "the run does not end with its driver")
        time.sleep(0.1)
    saved = json.loads((run / "report.json").read_text())["models"]
    require(all(model["status"] == "interrupted" for model in saved), f"{saved} when the driver is killed")
    require(any(model["steps"] > 0 for model in saved), "nothing is saved when the driver is killed")
    subprocess.run([*words, run, "--nodes=1", "--resume"], env=variables, check=True, timeout=PATIENCE)
    check(json.loads((run / "report.json").read_text()), expected)


def refused(words, *arguments, **options):
    try:
        hydra_ray.train(*arguments, **options)
    except hydra_train.HydraError as error:
        require(words in str(error), f"{error}, not {words}")
        return
    raise Failed(f"trained, although {words}")


def refuses(folder):
    refused("data: at least one is needed", {**WORKLOAD, "data": {}}, folder / "nothing", nodes=1)
    refused("--keys: hydra_ray", WORKLOAD, folder / "keys", nodes=1, arguments=["--keys=keys"])
    refused("no node is left: a node has ended with status 2", WORKLOAD, folder / "no-nodes", nodes=2,
            node_arguments=["--devices", "/nowhere.toml"])


with tempfile.TemporaryDirectory(prefix="hydra-ray-") as place:
    root = pathlib.Path(place)
    hydra_train.train(WORKLOAD, root / "alone", set={"device.count": 3})
    of_one_machine = digests(json.loads((root / "alone/report.json").read_text()))
    rays, nodes = cluster_of(3)
    ray.init(address=rays.address, log_to_driver=False)
    loses_a_machine(rays, nodes[0], root, of_one_machine)
    print("a machine is removed, another one added: the same bits")
    loses_its_driver(rays, root, of_one_machine)
    print("the driver is killed, and the run resumed: the same bits")
    refuses(root)
    print("what a run refuses is raised, and why no node can work")
    ray.shutdown()
