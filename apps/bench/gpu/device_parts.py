"""The parts before training: tests of the device, rates of copies. Standard library only."""
import dataclasses
import json
import re
import shutil

import results
from bench import PART_LIMIT
from hydra_runs import one_model, settings, write
from programs import shell


@dataclasses.dataclass(frozen=True)
class Check:
    """Cases of a test program, which is ended after `seconds`."""
    program: str
    cases: str
    seconds: int


# From what everything needs to what takes longest: 70 of some 110 seconds on an H100 are the last one's. Each case with the
# tag [gpu] is in one of them.
CHECKS = {
    "conformance": Check("runtime_tests", "[gpu]~[large]", 90),
    "memcheck": Check("runtime_tests", "bytes go to a GPU and come back", 60),
    "kernels": Check("gpu_tests", "[gpu][kernels]", 60),
    "losses": Check("gpu_tests", "[gpu][losses]", 60),
    "exactness": Check("gpu_tests", "[gpu][exactness]", 150),
    "others": Check("gpu_tests", "[gpu]~[kernels]~[losses]~[exactness]~[steps]", 60),
    "queues": Check("runtime_tests", "[gpu][large]", 60),
    "steps": Check("gpu_tests", "[gpu][steps]", 180),
}
TESTS = ("devices", *CHECKS)
LEAST_TIME = 5  # seconds; with less nothing is begun


def limit_of(bench, seconds):
    """On a slow machine --limit gives more."""
    return seconds * max(1, bench.a.limit / PART_LIMIT)


def check_devices(bench):
    """Whether `hydra devices` finds a GPU; what it says of it, or why it has none."""
    command = [bench.program("hydra"), "devices"]
    done = bench.call(command, limit_of(bench, 60), env=bench.environment())
    found = re.findall(r"^ *here: (.*)", done.out, re.M)
    missing = re.findall(r"^ *not usable here: (.*)", done.out, re.M)
    works = done.status == 0 and (bool(found) or bench.a.dry_run)
    bench.add("devices", "ok" if works else "failed", shell(command), {}, facts={"said": "; ".join(found) or "no GPU"},
              why="" if works else "; ".join(missing) if missing and done.status == 0 else done.reason(),
              measured={"s": results.measured([done.seconds], "s")})
    return works


def command_of(bench, name):
    """Nothing if memcheck's program is missing. A dry run only lists the cases."""
    check = CHECKS[name]
    program = bench.program(check.program)
    if bench.a.dry_run:
        return [program, "--list-test-names-only", check.cases]
    if name != "memcheck":
        return [program, check.cases, "-d", "yes"]
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    return sanitizer and [sanitizer, "--tool", "memcheck", "--error-exitcode", 9, program, check.cases]


def failed_cases(out):
    """What Catch2 says of them: names between two lines of hyphens, before each failure."""
    return list(dict.fromkeys(re.findall(r"^-{70,}\n(\S.*)\n(?:.*\n)*?-{70,}$", out, re.M)))


def verdict(bench, done, limit):
    """Status of a check, and why. What --limit or --total ended has not failed."""
    if bench.a.dry_run:
        return ("ok", "") if "No matching" not in done.out and done.status > 0 else ("failed", done.reason())
    if done.status == 0:
        return "ok", ""
    if done.stopped:
        return ("failed" if done.seconds >= limit else "skipped"), done.reason()
    return "failed", "; ".join(failed_cases(done.out)) or done.reason()


def run_check(bench, name):
    if bench.left() < LEAST_TIME:
        bench.add(name, "skipped", "", {}, why=f"{max(0, bench.left()):.0f} s are left")
        return
    command = command_of(bench, name)
    if not command:
        bench.add(name, "skipped", "", {}, why="compute-sanitizer is not there")
        return
    limit = limit_of(bench, CHECKS[name].seconds)
    done = bench.call(command, limit, env=bench.environment())
    status, why = verdict(bench, done, limit)
    passed = re.search(r"\d+ assertions? in \d+ test cases?", done.out)
    bench.add(name, status, shell(command), {}, why=why, facts={"said": passed[0]} if passed else {},
              measured={"s": results.measured([done.seconds], "s")})


def tests_part(bench):
    works = True
    for name in bench.a.tests:
        try:
            if name == "devices":
                works = check_devices(bench)
            elif works:
                run_check(bench, name)
            else:
                bench.add(name, "skipped", "", {}, why="no GPU can be used")
        except SystemExit as e:  # the program is missing
            bench.add(name, "failed", "", {}, why=str(e))


def device_line(text, name):
    """The row of a device in the table of `hydra plan`, by column."""
    lines = text.splitlines()
    heads = next((re.split(r"  +", line.strip()) for line in lines if line.startswith("device ")), [])
    row = next((re.split(r"  +", line.strip()) for line in lines if line.startswith(name + " ")), [])
    return dict(zip(heads, row))


def hydra_link(bench):
    """What Hydra's pilot says of the device and of the transfers of a spilled model."""
    w = one_model(bench, bench.shape("0.5B"), "spill16", bench.scale.tokens[1], 1)
    command = [bench.program("hydra"), "plan", write(bench, w), *settings(bench)]
    done = bench.call(command, env=bench.environment())
    found = device_line(done.out, "cpu:0" if bench.a.dry_run else "cuda:0")
    bounds = next((line for line in done.out.splitlines() if line.startswith("bounds")), "")
    bench.add("Hydra's own link", "ok" if done.status == 0 else "failed", shell(command), {"shape": "0.5B"}, workload=w.text(),
              why="" if done.status == 0 else done.reason(), facts={**found, "bounds": bounds})


def bandwidth_part(bench):
    command = bench.python("bandwidth.py", *(["--sizes", "1,4", "--repeats", "3"] if bench.a.dry_run else []))
    done = bench.call(command, env=bench.python_environment())
    if done.status != 0:
        bench.add("torch", "failed", shell(command), {}, why=done.reason())
    for row in json.loads(done.out.strip().splitlines()[-1]) if done.status == 0 else []:
        bench.add(f"{row['way']} {row['mib']} MiB", "ok", shell(command), {"mib": row["mib"], "way": row["way"]},
                  measured={"GiB/s": results.measured(row["gib_per_s"], "GiB/s")})
    hydra_link(bench)
