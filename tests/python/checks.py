"""What checks of tests/python have in common: how they fail, and how they are run."""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import time


class Failed(Exception):
    pass


def require(holds, text):
    if not holds:
        raise Failed(text)


def in_a_folder(check, *arguments):
    """A check that is given a folder of its own behind its arguments."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            return check(*arguments, pathlib.Path(folder))
    return run


def program_and_cases(description, program):
    """The path of the program that is checked, and the names of the cases that were asked for, from the command line."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", metavar=program)
    arguments.add_argument("cases", nargs="*", metavar="CASE")
    options = arguments.parse_args()
    return str(pathlib.Path(options.program).resolve()), options.cases


def sampled(checks, share):
    """One of `share` checks in a row, which HYDRA_TEST_SEED chooses; all of them in a deep run (tests/README.md)."""
    if os.environ.get("HYDRA_TESTS") == "deep":
        return checks
    seed, names = int(os.environ.get("HYDRA_TEST_SEED") or 1), list(checks)
    chance = random.Random(seed)
    chosen = [chance.choice(names[i:i + share]) for i in range(0, len(names), share)]
    print(f"HYDRA_TEST_SEED={seed}: {len(chosen)} of {len(names)}", flush=True)
    return {name: checks[name] for name in chosen}


def run_checks(checks, also=(), share=1):
    """Prints what each finds, by its name, or what a sample of them does. Returns whether one has failed, by Failed or an
    exception of `also`."""
    failed = False
    for name, check in (sampled(checks, share) if share > 1 else checks).items():
        start = time.monotonic()
        try:
            print(f"{name:36} {check() or 'holds'}, {time.monotonic() - start:.1f} s", flush=True)
        except (Failed, *also) as e:
            failed = True
            print(f"{name:36} FAILED: {e}", flush=True)
    return failed
