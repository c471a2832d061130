#!/usr/bin/env python3
"""Reports of defects of other programs, rebuilt as small inputs: would the same have happened to a user of Hydra?

    run_cases.py HYDRA [CASE ...]

A case is a file of cases/. KEEP=FOLDER leaves there what each case made and what Hydra made of it, in a folder that must
not be there yet. Exits with 77 where a package is not installed.
"""
import contextlib
import importlib
import os
import pathlib
import sys
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "python"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

from checks import in_a_folder, program_and_cases, require, run_checks  # noqa: E402
try:
    import inputs
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)
from outputs import Hydra  # noqa: E402

warnings.filterwarnings("ignore", module="peft|transformers")
NAMES = sorted(p.stem for p in (HERE / "cases").glob("*.py"))
SHARE = 4  # of so many cases in a row, `core` runs one
RUN = "[run]\nseed = 1\n"
DEVICE = '\n[[device]]\nkind = "cpu"\nmemory = "64MiB"\n'


def workload_of(text):
    return ("" if "[run]" in text else RUN) + ("" if "[[device]]" in text else DEVICE) + text


def findings(case, hydra):
    """All parts of a case that can be judged, each: is it good, what was got, what is right."""
    try:
        yield from case.case(Hydra(hydra))
    except Exception:  # pylint: disable=broad-except
        yield False, traceback.format_exc(), "the case runs to its end"


def judge(name, hydra, folder):
    case = importlib.import_module(f"cases.{name}")
    with contextlib.chdir(folder):
        if hasattr(case, "WORKLOAD"):
            pathlib.Path("workload.toml").write_text(workload_of(case.WORKLOAD))
        found = list(findings(case, hydra))
    require(found, "judges nothing")
    wrong = [f"{got}; right: {right}" for good, got, right in found if not good]
    require(not wrong, " | ".join(wrong))
    return ", ".join(got for _, got, _ in found)


def in_kept_folder(name, hydra, folder):
    """What another run has left there would be found by this one: it says so instead of removing what may be wanted."""
    require(not folder.exists(), f"KEEP: {folder} is there already; remove it, or name another folder")
    folder.mkdir(parents=True)
    return judge(name, hydra, folder)


def check_of(name, hydra):
    if keep := os.environ.get("KEEP"):
        return lambda: in_kept_folder(name, hydra, pathlib.Path(keep).resolve() / name)
    return in_a_folder(judge, name, hydra)


def main():
    hydra, chosen = program_and_cases(__doc__, "HYDRA")
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        sys.exit(f"there is no case {', '.join(unknown)}; there are {', '.join(NAMES)}")
    inputs.torch.set_num_threads(1)
    sys.exit(run_checks({name: check_of(name, hydra) for name in chosen or NAMES}, share=1 if chosen else SHARE))


if __name__ == "__main__":
    main()
