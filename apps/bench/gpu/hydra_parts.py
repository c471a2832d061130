"""The parts that train by Hydra: speeds, timeline, memory over many steps, several models. Standard library only."""
import dataclasses
import json
import pathlib
import re
import shutil

import timeline
from bench import speeds
from hydra_runs import GIB, copies, one_model, settings, status_of, train, train_row, write
from machine import to_bytes
from programs import said, shell
from workload import Workload


def plan(bench, w):
    """The plan as JSON, or None and the reason."""
    done = bench.call([bench.program("hydra"), "plan", write(bench, w), "--json", *settings(bench)], env=bench.environment())
    return (json.loads(done.out), "") if done.status == 0 else (None, done.reason())


def even_cuts(shape, layers=4):
    return list(range(0, shape.layers + 2, layers))


def cuts_of(bench, shape, mode):
    """resident: one shard. recompute: as under 24 GiB, or shards of four layers where that holds the model in one."""
    if mode == "resident":
        return [0]
    if mode != "recompute":
        return []
    planned, why = plan(bench, one_model(bench, shape, "spill24", bench.scale.tokens[0], 1))
    if planned is None:
        print(f"  no plan under {bench.budget('spill24')}, shards of four layers instead: {why}", flush=True)
        return even_cuts(shape)
    cuts = [shard["first_layer"] for shard in planned["models"][0]["shards"]]
    return cuts if len(cuts) > 1 else even_cuts(shape)


def fitting_row(bench, name, w, setting):
    """With the micro-batch of the workload, or half of it, and so on, if resident models are too large. Returns what fits."""
    while True:
        row_name = name if w.micro_batch == bench.scale.micro_batch else f"{name}, micro-batch {w.micro_batch}"
        row = train_row(bench, row_name, w, {**setting, "micro_batch": w.micro_batch})
        if row["status"] != "does not fit" or w.micro_batch == 1:
            return w.micro_batch
        w = dataclasses.replace(w, micro_batch=w.micro_batch // 2)


def setting_of(shape, w):
    return {"shape": shape, "tokens": w.tokens, "micro_batch": w.micro_batch, "steps": w.steps - 1, "memory": w.memory}


def hydra_part(name, mode):
    def part(bench):
        shape = bench.shape(name)
        cuts, fits = cuts_of(bench, shape, mode), bench.scale.micro_batch
        for tokens, steps in bench.sizes(bench.scale.steps):
            w = dataclasses.replace(one_model(bench, shape, mode, tokens, steps, cuts), micro_batch=fits)
            setting = {"mode": mode, **setting_of(name, w)}
            if bench.affords(f"{tokens} tokens", bench.estimate(shape, tokens, steps), setting):
                fits = fitting_row(bench, f"{tokens} tokens", w, setting)
    return part


def updates_part(name):
    """One model alone: its step ends with copies of the first shard's gradients to the host and of its parameters back."""
    def part(bench):
        shape = bench.shape(name)
        for tokens, steps in bench.sizes(bench.scale.steps):
            for place in ("host", "auto", "device"):
                row = f"{tokens} tokens, optimizer_on = {place}"
                w = dataclasses.replace(one_model(bench, shape, "spill24", tokens, steps), optimizer_on=place)
                setting = {"optimizer_on": place, **setting_of(name, w)}
                if bench.affords(row, bench.estimate(shape, tokens, steps), setting):
                    train_row(bench, row, w, setting)
    return part


def timeline_part(bench):
    shape = bench.shape("1.5B")
    for tokens, steps in list(zip(bench.scale.tokens, bench.scale.steps))[1:3]:
        w = one_model(bench, shape, "spill24", tokens, steps)
        setting = setting_of("1.5B", w)
        if bench.affords(f"{tokens} tokens", bench.estimate(shape, tokens, steps), setting):
            train_row(bench, f"{tokens} tokens", w, setting, keep=True)


# -- memory over many steps ----------------------------------------------------------------------------------------------------


def resident_bytes(pid):
    """0 of a process that has ended."""
    try:
        found = re.search(r"VmRSS:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def gpu_bytes(index):
    used = said("nvidia-smi", f"--id={index}", "--query-gpu=memory.used", "--format=csv,noheader,nounits")
    return int(used) * 2**20 if used.isdigit() else None


def growth(samples):
    """Median of the last quarter less that of the second one, MiB: the first quarter may still fill caches."""
    if len(samples) < 8:
        return None
    quarter = len(samples) // 4
    return (sorted(samples[-quarter:])[quarter // 2] - sorted(samples[quarter:2 * quarter])[quarter // 2]) / 2**20


def memory_part(bench):
    """Many steps of a small model whose shards leave the device with every visit. The host's memory grows by the spans of the
    trace, some 400 bytes for each, which are written at the end; nothing else may grow."""
    shape, steps = bench.scale.small, bench.scale.many_steps
    host, gpu = [], []

    def watch(pid):
        if not (used := resident_bytes(pid)):
            return
        host.append(used)
        if not bench.a.dry_run and (used := gpu_bytes(bench.a.index)) is not None:
            gpu.append(used)

    micro_batch = bench.scale.micro_batch
    w = Workload(name="many-steps", shape=shape, device=bench.scale.device.format(index=bench.a.index),
                 memory=bench.scale.small_memory, host_memory=bench.host_memory, tokens=2 * micro_batch * shape.context,
                 micro_batch=micro_batch, steps=steps,
                 cuts=tuple(even_cuts(shape, 2)), ablation="cache = false")
    setting = setting_of(shape.name, w)
    command, done, report, folder = train(bench, w, watch)
    status, why = status_of(done, report)
    facts = {"steps": steps, "host growth MiB": growth(host), "GPU growth MiB": growth(gpu), "samples": len(host),
             "host_bytes": host, "gpu_bytes": gpu}
    if status == "ok":
        device = report["devices"][0]
        facts.update({"peak GiB": device["peak_bytes"] / GIB, "within budget": device["peak_bytes"] <= device["budget_bytes"],
                      "loss": report["models"][0]["loss"][-1], "spans": len(timeline.read_spans(folder / "trace.json"))})
    shutil.rmtree(folder, ignore_errors=True)
    bench.add(f"{steps} steps", status, shell(command), setting, workload=w.text(), why=why,
              facts={k: v for k, v in facts.items() if v is not None})


# -- several models ------------------------------------------------------------------------------------------------------------


def how_many(bench, shape, tokens):
    """As many models, four at most, as host memory holds: parameters, gradients, moments, and some ten boundaries of a step."""
    each = 18.5 * shape.parameters + 10 * tokens * shape.width * 2
    return max(1, min(4, int(to_bytes(bench.host_memory) * 0.97 / each)))


def several_row(bench, name, w, setting):
    command, done, report, folder = train(bench, w)
    status, why = status_of(done, report)
    rest = {"why": why}
    if status == "ok":
        evaluated = timeline.evaluate(timeline.read_spans(folder / "trace.json"), report["devices"][0]["name"])
        rest = {"measured": speeds(bench, w.shape, sum(m["tokens"] for m in report["models"]), [report["makespan_s"]]),
                "facts": {"models": w.models, "of the bound": report["efficiency"], "bound": report["bound"],
                          **copies(evaluated, report)}}
    shutil.rmtree(folder, ignore_errors=True)
    return bench.add(name, status, shell(command), setting, workload=w.text(), **rest)


def several_part(name):
    def part(bench):
        shape, tokens, steps = bench.shape(name), bench.scale.tokens[1], bench.scale.steps[1]
        many = how_many(bench, shape, tokens)
        rows = (("one alone", 1, ""), (f"{many} interleaved", many, ""), (f"{many}, one at a time", many, "sharp = false"))
        for row, models, ablation in rows:
            w = dataclasses.replace(one_model(bench, shape, "spill24", tokens, steps), models=models, ablation=ablation)
            setting = {**setting_of(name, w), "models": models}
            if bench.affords(row, bench.estimate(shape, tokens, steps, models), setting):
                several_row(bench, row, w, setting)
    return part
