"""The machine that figures are measured on, and sizes as people write them. Standard library only."""
import os
import pathlib
import platform
import re
import resource

from programs import ROOT, call, said


def processor():
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.machine()


def host_bytes():
    return int(re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) * 1024


def commit():
    """What a bundle was made from, else what is checked out."""
    packed = ROOT / "commit"
    return packed.read_text().strip() if packed.exists() else said("git", "-C", ROOT, "rev-parse", "--short", "HEAD")


def machine(a):
    """The properties of the machine that figures depend on."""
    fields = ("name", "driver_version", "clocks.sm", "clocks.max.sm", "memory.total", "power.limit")
    gpu = said("nvidia-smi", f"--id={a.index}", f"--query-gpu={','.join(fields)}", "--format=csv,noheader").split(", ")
    gpu += [""] * (len(fields) - len(gpu))
    return {"gpu": f"no GPU: dry run on {processor()}" if a.dry_run else gpu[0], "driver": gpu[1],
            "clocks": f"{gpu[2]} of {gpu[3]}", "memory": gpu[4], "power_limit": gpu[5], "processor": processor(),
            "cores": len(os.sched_getaffinity(0)),
            "host_bytes": host_bytes(), "torch": said(a.python, "-c", "import torch; print(torch.__version__)"),
            "nvcc": (call(["nvcc", "--version"], 60).out.strip().splitlines() or [""])[-1],
            "libc": " ".join(platform.libc_ver()), "lockable_bytes": resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],  # -1: all
            "commit": commit(), "dry_run": a.dry_run}


def free_bytes(index):
    """Free bytes of the GPU's memory; None if nvidia-smi does not say."""
    free = said("nvidia-smi", f"--id={index}", "--query-gpu=memory.free", "--format=csv,noheader,nounits")
    return int(free) * 2**20 if free.isdigit() else None


def budget_of(size, share, free):
    """The size if it is at most that share of the free memory, else that share. A dry run has no GPU: `free` is None."""
    if free is None or size and to_bytes(size) <= share * free:
        return size
    return f"{int(share * free) // 2**20}MiB"


def to_bytes(text):
    """Bytes of "24GiB" or "1.5MiB"."""
    found = re.fullmatch(r"([\d.]+) *([KMGT]i?)?B?", text)
    if not found:
        raise SystemExit(f'"{text}" is not a size; write one such as "116GiB"')
    unit = found[2] or ""
    return int(float(found[1]) * (1024 if unit.endswith("i") else 1000) ** ("KMGT".index(unit[0]) + 1 if unit else 0))
