"""The parts before training: build, tests, rates of copies. Standard library only."""
import json
import re
import xml.etree.ElementTree

import results
from hydra_runs import one_model, settings, write
from programs import ROOT, shell


def targets(bench):
    """hydra, the CUDA plug-in (whatever targets of that name there are) and the test programs."""
    if bench.a.dry_run:
        return ["hydra_policy"]
    listed = bench.call(["cmake", "--build", bench.a.build, "--target", "help"]).out
    found = re.findall(r"^(?:\.\.\. )?([\w-]*cuda[\w-]*)(?::|$)", listed, re.M)
    return ["hydra", *sorted({t for t in found if t.startswith("hydra")}), "runtime_tests", "gpu_tests"]


def build_part(bench):
    a = bench.a
    build = bench.work / "build" if a.dry_run else a.build
    configure = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DHYDRA_CUDA={'OFF' if a.dry_run else 'ON'}", "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF",
                 *([f"-DCMAKE_PREFIX_PATH={a.prefix / 'usr'}"] if a.prefix else []),
                 *([f"-DHYDRA_TORCH={a.torch}"] if a.torch else []), *(f"-D{pair}" for pair in a.define)]
    done = bench.call(configure, env=bench.environment())
    bench.add("configure", "ok" if done.status == 0 else "failed", shell(configure), {},
              why="" if done.status == 0 else done.reason(), measured={"s": results.measured([done.seconds], "s")})
    if done.status != 0:
        return
    for target in targets(bench):
        command = ["cmake", "--build", build, "--target", target, "--parallel", a.jobs]
        done = bench.call(command, env=bench.environment())
        errors = "\n".join(line for line in done.out.splitlines() if "error" in line.lower())[:2000]
        bench.add(target, "ok" if done.status == 0 else "failed", shell(command), {"jobs": a.jobs},
                  why="" if done.status == 0 else done.reason() if done.stopped else errors or done.reason(),
                  measured={"s": results.measured([done.seconds], "s")})


def read_junit(file):
    """Counts of a Catch2 report, and the names of what failed."""
    suite = xml.etree.ElementTree.parse(file).getroot().find("testsuite")
    cases = list(suite.iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return {"tests": len({case.get("name").split("/")[0] for case in cases}), "failed": len(failed), "names of failed": failed}


def tests_part(bench):
    for program in ("runtime_tests", "numerics_tests" if bench.a.dry_run else "gpu_tests"):
        wanted = "~[gpu]*budget*" if bench.a.dry_run else "[gpu]"
        file = bench.work / f"{program}.xml"
        file.unlink(missing_ok=True)
        try:
            command = [bench.program(program), wanted, "-r", "junit", "-o", file, "-w", "NoTests"]
        except SystemExit as e:
            bench.add(program, "failed", "", {"tests": wanted}, why=str(e))
            continue
        done = bench.call(command, env=bench.environment())
        facts = read_junit(file) if file.exists() and file.stat().st_size and not done.stopped else {}
        why = "" if done.status == 0 else "; ".join(facts.get("names of failed", [])) or done.reason()
        bench.add(program, "ok" if done.status == 0 else "failed", shell(command), {"tests": wanted}, why=why, facts=facts,
                  measured={"s": results.measured([done.seconds], "s")})


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
