"""Hydra on a cluster of Ray: each node of the run is an actor.

    report = hydra_ray.train("w.toml", nodes=4, gpus=1)

The coordinator of the run (docs/cluster.md) is a process of the driver, which is on a machine of the cluster. Ray starts
`hydra node` on the others, and again, there or on another one, when a machine is lost; the models of a lost node
continue elsewhere meanwhile, with the same bits.
"""
from .training import train

__all__ = ["train"]
