#!/usr/bin/env python3
"""Defects of the CUDA plug-in, each planted alone, to see whether its tests on the GPU double find them.

    gpu_double_mutations.py check [TREE]    whether all can be planted: each text is once in its file
    gpu_double_mutations.py run BUILD       builds a plug-in with each of them and runs the tests of BUILD on it. Exit status 1 if
                                            one is not found, or if the plug-in without a defect fails

A plug-in is its folder, runtime/device/cuda, and runtime/device/streams: only the file with the defect is compiled again."""
import collections, os, pathlib, re, shutil, subprocess, sys, tempfile, time

from planting import PATIENCE_S, TREE, can_be_planted, numbered, parsers, say

FOLDERS = ["runtime/device/cuda", "runtime/device/streams"]

TESTS = [  # name, program, cases, settings of the double
    ("tight", "runtime_tests", "[gpu][tight]", {"GPU_DOUBLE_PAGE_KIB": "64"}),
    ("conformance", "runtime_tests", "[gpu]~[tight]~*computations*", {}),
    ("numerics", "gpu_tests", "[gpu]~[large]", {}),
]

# changes: of each, the text that is once in the file, and the one that takes its place.
Defect = collections.namedtuple("Defect", "name file changes")
DEFECTS = [
    Defect("work does not wait for the events of other queues", "runtime/device/streams/stream_device.cpp",
           [("driver_->wait(f.queue, *end);", "static_cast<void>(end);")]),
    Defect("the host is notified before the event", "runtime/device/cuda/cuda_driver.cpp", [("    end.hold_up(notices);\n", "")]),
    Defect("the event is recorded before the work", "runtime/device/streams/stream_device.cpp",
           [("      if (f.what.work) {\n", "      work.end = driver_->record(f.queue);\n      if (f.what.work) {\n"),
            ("    work.end = driver_->record(f.queue);\n  } catch",
             "    if (!work.end) work.end = driver_->record(f.queue);\n  } catch")]),
    Defect("freed bytes are free for all queues at once", "runtime/device/streams/arena_memory.cpp",
           [("return here.memory == this ? std::optional(here.operation) : std::nullopt;", "return std::nullopt;")]),
    Defect("backward passes are on a thread of Autograd's", "runtime/device/cuda/cuda_driver.cpp",
           [("set_multithreading_enabled(false)", "set_multithreading_enabled(true)")]),
    Defect("all queues launch on the compute stream", "runtime/device/cuda/cuda_driver.cpp",
           [("getStreamFromExternal(work(queue),", "getStreamFromExternal((static_cast<void>(queue), work(queue_kind::compute)),")]),
    Defect("pages are mapped without access", "runtime/device/cuda/gpu_pages.cpp",
           [('check(driver_.set_access(address(places[i].first), (past - i) * page_, &access_, 1), fault_code::device_lost,\n'
             '          "pages cannot be used");', "")]),
    Defect("a host function calls CUDA", "runtime/device/cuda/cuda_driver.cpp",
           [("  (*then)();\n", "  cudaStreamQuery(nullptr);\n  (*then)();\n")]),
    Defect("a queue retires what others have freed", "runtime/device/streams/page_arena.cpp",
           [("s.freed_at->queue == done.queue && ", "")]),
    Defect("pages in use are moved", "runtime/device/streams/page_arena.cpp",
           [(" && places_[p - 1].users == 0", "")]),
]


def check(tree):
    return can_be_planted(tree, DEFECTS, lambda d: [old for old, _ in d.changes])


class Builder:
    """Compiles and links as the build does, in a folder that has copies of the plug-in's sources."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "lib/hydra/libhydra_cuda.so"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.splitlines()
        self.link_command = commands[-1]
        self.compile_command = next(c for c in commands if " -c " in c and "cuda_driver.cpp" in c)
        self.restore()
        self.streams = {s: self.compile(s) for s in sorted((TREE / FOLDERS[1]).glob("*.cpp"))}

    def restore(self):
        for name in FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(TREE / name, self.folder / name)

    def compile(self, source, object_name=None):
        made = self.folder / f"{object_name or source.stem}.o"
        command = re.sub(r"-MD |-MT \S+ |-MF \S+ ", "", self.compile_command)
        command = re.sub(r"-o \S+ -c \S+", f"-o {made} -c {self.folder / source.relative_to(TREE)}", command)
        self.run(command.replace(" -I", f" -I{self.folder} -I", 1))
        return str(made)

    def link(self, changed=None):
        """`changed`: a source of the tree and its object."""
        objects = self.streams | ({changed[0]: changed[1]} if changed and changed[0] in self.streams else {})
        command, others = re.subn(r"\S+hydra_streams\.dir\S+\.o", "@", self.link_command)
        if not others:
            raise RuntimeError("the plug-in is not linked as it was")
        command = command.replace("@", " ".join(objects.values()), 1).replace("@", "")
        if changed and changed[0] not in self.streams:
            command = re.sub(rf"\S+/{changed[0].stem}\.cpp\.o", changed[1], command)
        made = self.folder / "libhydra_cuda.so"
        # -Bsymbolic: runtime_tests has stream devices of its own
        self.run(re.sub(r"-o \S+libhydra_cuda\.so", f"-o {made} -Wl,-Bsymbolic", command))
        return made

    def with_defect(self, d):
        self.restore()
        copy = self.folder / d.file
        text = copy.read_text()
        for old, new in d.changes:
            text = text.replace(old, new)
        copy.write_text(text)
        return self.link((TREE / d.file, self.compile(TREE / d.file, "changed")))

    def run(self, command):
        subprocess.run(["sh", "-c", command], check=True, cwd=self.build)


def outcome(build, plugin, test):
    """Why a test fails, or None."""
    _, program, cases, settings = test
    variables = {"OMP_NUM_THREADS": "1", "HYDRA_TEST_SEED": "1"} | os.environ | settings | {"HYDRA_TESTS": ""}
    variables |= {"HYDRA_CUDA_PLUGIN": str(plugin), "LD_LIBRARY_PATH": str(build / "lib/gpu_double")}
    try:
        done = subprocess.run([build / "bin" / program, cases], env=variables, check=False, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return f"it does not end within {PATIENCE_S} s"
    if done.returncode == 0:
        return None
    said = re.search(r"gpu-double: (.*)", done.stdout) or re.search(r"with expansion:\n\s*(.*)", done.stdout)
    return f"status {done.returncode}: {said[1] if said else done.stdout[-200:]}"


def search(build, plugin, tests=TESTS):
    for test in tests:
        if why := outcome(build, plugin, test):
            return f"{test[0]}, {why}"
    return None


def run(o):
    build = o.build.resolve()
    if check(TREE):
        return 1
    chosen, missed = numbered(DEFECTS, o.only), []
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(build, pathlib.Path(folder))
        if not o.only and (why := search(build, builder.link())):
            missed.append(f"without a defect: {why}")
        for number, d in chosen:
            start = time.monotonic()
            found = search(build, builder.with_defect(d))
            missed += [] if found else [d.name]
            say(number, d, found, time.monotonic() - start)
    print(f"{len(chosen)} defects", *missed, sep="\n  ")
    return 1 if missed else 0


def main():
    o = parsers(__doc__)[0].parse_args()
    return run(o) if o.command == "run" else check(o.tree)


if __name__ == "__main__":
    sys.exit(main())
