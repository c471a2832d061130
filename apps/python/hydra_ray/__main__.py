"""python -m hydra_ray train W.toml --nodes N: hydra train on machines of Ray's cluster."""
import argparse
import signal
import sys

import hydra_train

from .training import train


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hydra_ray", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("train", help="train the models of a workload", allow_abbrev=False,
                                  usage="%(prog)s WORKLOAD --nodes N [--cpus C] [--gpus G] [options of hydra train]")
    command.add_argument("workload", help="the workload file; with --resume also a run folder")
    command.add_argument("--nodes", type=int, required=True, help="machines that train; Ray finds or adds them")
    command.add_argument("--cpus", type=float, default=1, help="that each of them has to have free (1)")
    command.add_argument("--gpus", type=float, default=0, help="that each of them has to have free (0)")
    command.add_argument("--output", help="the run folder")
    command.add_argument("--resume", action="store_true", help="continue the run of the folder")
    options, more = parser.parse_known_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # by nohup
            signal.signal(number, lambda signalled, _: sys.exit(128 + signalled))  # the run is saved and ended
    try:
        train(options.workload, options.output, nodes=options.nodes, cpus=options.cpus, gpus=options.gpus, show=True,
              resume=options.resume, arguments=more)
    except hydra_train.HydraError as error:
        print(f"hydra_ray: {error}", file=sys.stderr)
        return getattr(error, "status", None) or 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
