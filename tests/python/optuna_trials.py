#!/usr/bin/env python3
"""The example that lets Optuna choose the models of a run: apps/examples/optuna_bridge.py, on apps/examples/optuna.toml.

    optuna_trials.py HYDRA

Exits with 77 where the package optuna is not installed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import optuna  # pylint: disable=unused-import
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

from steered_run import SECONDS, Run, require

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "apps" / "examples"
TRIALS = 8


def main():
    with tempfile.TemporaryDirectory() as name:
        run = Run(sys.argv[1], pathlib.Path(name), "optuna", (EXAMPLES / "optuna.toml").read_text(), "--quiet")
        run.wait_for_state("reference", "training")
        bridge = subprocess.run([sys.executable, EXAMPLES / "optuna_bridge.py", run.folder, "--trials", str(TRIALS)], text=True,
                                capture_output=True, timeout=4 * SECONDS, check=False)
        require(bridge.returncode == 0, f"the bridge: {bridge.stdout} {bridge.stderr}")
        run.end(0)
        models = {m["name"]: m for m in json.loads((run.folder / "report.json").read_text())["models"]}
        require(set(models) == {"reference"} | {f"trial-{i}" for i in range(TRIALS)}, f"its models: {sorted(models)}")
        require(models["reference"]["status"] == "stopped", "the run ends when Optuna has what it wants")
        best = min((m["validation"][-1]["loss"], name) for name, m in models.items() if m["status"] == "finished")
        require(f"best: {best[1]}, validation {best[0]:.4f}" in bridge.stdout, f"the best is {best}: {bridge.stdout}")
    print(f"Optuna has chosen and judged {TRIALS} models of a run")


if __name__ == "__main__":
    main()
