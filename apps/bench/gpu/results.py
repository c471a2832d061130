"""The file of results, and tables of it. Standard library only. `run` documents the format."""
import json
import os
import pathlib
import statistics
import time

SCHEMA = 1


def measured(values, unit=""):
    """A measured quantity: median and spread of its values."""
    values = list(values)
    if not values:
        return None
    return {"median": statistics.median(values), "least": min(values), "most": max(values), "values": values, "unit": unit}


class Results:
    """Rows of a results.json, written whole after each, so that what was measured survives the end of the program."""

    def __init__(self, folder, machine):
        self.file = pathlib.Path(folder) / "results.json"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        old = json.loads(self.file.read_text()) if self.file.exists() else {"schema": SCHEMA, "machines": [], "rows": []}
        if old["schema"] != SCHEMA:
            raise SystemExit(f"{self.file}: results of schema {old['schema']}, this program writes {SCHEMA}: choose another folder")
        self.content = old
        if machine not in old["machines"]:
            old["machines"].append(machine)
        self.machine = old["machines"].index(machine)

    def add(self, part, name, status, command, setting, **rest):
        row = {"part": part, "row": name, "status": status, "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "machine": self.machine,
               "command": command, "setting": setting, "measured": {}, "facts": {}, "why": "", **rest}
        self.content["rows"].append(row)
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(self.content, indent=1) + "\n")
        os.replace(partial, self.file)
        return row


    def tables(self):
        return tables(read([self.file.parent])) if self.content["rows"] else ""


def read(folders):
    """Rows of all results.json in the folders, each with its machine in the place of the machine's number; older ones first."""
    files = [f for folder in folders for f in sorted(pathlib.Path(folder).rglob("results.json"))]
    if not files:
        raise SystemExit(f"no results.json in {', '.join(map(str, folders))}")
    rows = []
    for file in files:
        content = json.loads(file.read_text())
        if content.get("schema") != SCHEMA:
            raise SystemExit(f"{file}: schema {content.get('schema')}, this program reads {SCHEMA}")
        rows += [{**row, "machine": content["machines"][row["machine"]]} for row in content["rows"]]
    return sorted(rows, key=lambda row: row["when"])


def merged(rows):
    """One row of each part, name and GPU: the values of its successful repeats together; the last row if none succeeded."""
    groups = {}
    for row in rows:
        groups.setdefault((row["machine"]["gpu"], row["part"], row["row"]), []).append(row)
    return [merge(group) for group in groups.values()]


def merge(group):
    good = [row for row in group if row["status"] == "ok"] or group[-1:]
    result = dict(good[-1])
    result["measured"] = {}
    for name in good[-1]["measured"]:
        all_of = [row["measured"][name] for row in good if row["measured"].get(name)]
        values = [value for m in all_of for value in m["values"]]
        result["measured"][name] = measured(values, all_of[-1]["unit"]) if values else None
    return result


def text_table(titles, rows):
    """Columns as wide as they must be; the first one to the left, numbers to the right."""
    cells = [list(titles)] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]
    lines = ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip() for row in cells]
    return "\n".join(lines) + "\n"


def number(x):
    if x is None:
        return "-"
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def spread(m):
    if not m:
        return "-"
    return number(m["median"]) + (f" [{number(m['least'])}..{number(m['most'])}]" if len(m["values"]) > 1 else "")


def fact(x):
    if isinstance(x, bool):
        return "yes" if x else "NO"
    return number(x) if isinstance(x, (int, float)) else str(x)


def part_table(part, rows):
    """Measured quantities with their spread, then facts, then why a row has none."""
    mine = [row for row in merged(rows) if row["part"] == part]
    quantities = list(dict.fromkeys(name for row in mine for name in row["measured"]))
    facts = list(dict.fromkeys(name for row in mine for name, x in row["facts"].items() if not isinstance(x, (list, dict))))
    body = [[row["row"], *(spread(row["measured"].get(q)) for q in quantities), *(fact(row["facts"].get(f, "-")) for f in facts),
             row["status"] + (": " + row["why"].splitlines()[0][:90] if row["why"] else "")] for row in mine]
    return f"{part}\n" + text_table(["row", *quantities, *facts, "status"], body)


MODES = ("resident", "recompute", "spill24", "spill16", "torch", "torch checkpointing", "fsdp offload",
         "fsdp offload checkpointing")
RATIOS = (("spill24", "recompute"), ("spill16", "recompute"), ("recompute", "torch checkpointing"), ("resident", "torch"),
          ("spill24", "fsdp offload"), ("spill24", "fsdp offload checkpointing"))


def cell(row):
    if row is None:
        return "-"
    if row["status"] != "ok":
        return row["status"]
    speed, share = row["measured"].get("tokens/s"), row["measured"].get("% of peak")
    return number(speed["median"]) + (f" ({share['median']:.1f} %)" if share else "")


def median_of(row):
    return row["measured"]["tokens/s"]["median"] if row and row["status"] == "ok" and row["measured"].get("tokens/s") else None


def ratio(above, below):
    above, below = median_of(above), median_of(below)
    return f"{above / below:.3f}" if above and below else "-"


def shape_table(gpu, shape, rows):
    """Tokens/s (% of peak) of each way to train one shape by tokens in a step, and the ratios of the goals."""
    by = {(row["setting"]["mode"], row["setting"]["tokens"]): row for row in rows}
    sizes = sorted({tokens for _, tokens in by})
    modes = [m for m in MODES if any((m, t) in by for t in sizes)]
    body = [[mode, *(cell(by.get((mode, t))) for t in sizes)] for mode in modes]
    for above, below in RATIOS:
        if above in modes and below in modes:
            body.append([f"{above} / {below}", *(ratio(by.get((above, t)), by.get((below, t))) for t in sizes)])
    return f"{shape} on {gpu}: tokens/s (% of dense bf16 peak) by tokens in a step\n" + text_table(["", *map(str, sizes)], body)


def tables(rows):
    """All tables: of each shape, then of each part."""
    speeds = [row for row in merged(rows) if "mode" in row["setting"]]
    shapes = dict.fromkeys((row["machine"]["gpu"], row["setting"]["shape"]) for row in speeds)
    text = [shape_table(gpu, shape, [row for row in speeds if (row["machine"]["gpu"], row["setting"]["shape"]) == (gpu, shape)])
            for gpu, shape in shapes]
    return "\n".join(text + [part_table(part, rows) for part in dict.fromkeys(row["part"] for row in rows)])
