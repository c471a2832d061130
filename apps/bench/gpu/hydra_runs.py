"""Runs of Hydra as rows of results. Standard library only."""
import gzip
import json
import shutil

import timeline
from bench import speeds
from programs import shell
from workload import Workload

GIB = 2**30
MOST_TRACE = 12 * 2**20  # bytes of a compressed trace that is kept


def write(bench, w):
    file = bench.work / f"{w.name}.toml"
    file.write_text(w.text())
    return file


def settings(bench):
    return [word for pair in bench.a.set for word in ("--set", pair)]


def train(bench, w, watch=None):
    """Outcome, report and spans of a run; its folder is removed again."""
    folder = bench.work / f"run-{w.name}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [bench.program("hydra"), "train", write(bench, w), "--output", folder, "--quiet", *settings(bench)]
    done = bench.call(command, env=bench.environment(), watch=watch)
    report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
    return command, done, report, folder


def status_of(done, report):
    if done.status == 0 and report:
        return "ok", ""
    return ("does not fit" if done.status == 3 else "failed"), done.reason()


def copies(evaluated, report):
    """Facts about the copies and the memory of the run's first device."""
    device = report["devices"][0]
    facts = {"shards": len(report["models"][0]["cuts"])}
    for queue in ("h2d", "d2h"):
        e = evaluated[queue]
        if e["hidden_share"] is not None:
            facts[f"{queue} hidden %"] = round(100 * e["hidden_share"], 2)
            facts[f"{queue} / compute"] = e["time_s"] / evaluated["busy_s"]
        if e["all_time_s"] > 0:
            facts[f"{queue} GiB/s"] = device[f"{queue}_bytes"] / e["all_time_s"] / GIB
    if evaluated["hidden_share"] is not None:
        facts["hidden %"] = round(100 * evaluated["hidden_share"], 2)
    facts.update({"busy %": round(100 * evaluated["busy_share"], 2), "peak GiB": device["peak_bytes"] / GIB,
                  "budget GiB": device["budget_bytes"] / GIB, "within budget": device["peak_bytes"] <= device["budget_bytes"],
                  "host GiB": report["host"]["peak_bytes"] / GIB, "load s": report["load_s"], "pilot s": report["pilot_s"],
                  "loss": report["models"][0]["loss"][-1], "digest": report["models"][0]["digest"][7:15], "evaluation": evaluated})
    return facts


def keep_trace(bench, folder, tokens):
    packed = gzip.compress((folder / "trace.json").read_bytes())
    if len(packed) <= MOST_TRACE:
        (bench.a.output / f"trace-{bench.part}-{tokens}.json.gz").write_bytes(packed)


def train_row(bench, name, w, setting, keep=False):
    """One row of one model, by its steps after the first."""
    command, done, report, folder = train(bench, w)
    status, why = status_of(done, report)
    rest = {"why": why}
    if status == "ok":
        evaluated = timeline.evaluate(timeline.read_spans(folder / "trace.json"), report["devices"][0]["name"])
        seconds = [s for steps in evaluated["step_s"].values() for s in steps]
        rest = {"measured": speeds(bench, w.shape, w.tokens, seconds), "facts": copies(evaluated, report)}
        if keep:
            keep_trace(bench, folder, w.tokens)
    shutil.rmtree(folder, ignore_errors=True)
    return bench.add(name, status, shell(command), setting, workload=w.text(), **rest)


def one_model(bench, shape, mode, tokens, steps, cuts=()):
    return Workload(name=f"{shape.name.lower()}-{mode}-{tokens}", shape=shape,
                    device=bench.scale.device.format(index=bench.a.index), memory=bench.budget(mode),
                    host_memory=bench.host_memory, tokens=tokens,
                    micro_batch=min(bench.scale.micro_batch, tokens // shape.context), steps=steps + 1, cuts=tuple(cuts))
