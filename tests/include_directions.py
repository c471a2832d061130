#!/usr/bin/env python3
"""Who may include whom (one line per offence, exit status 1), that every source is listed in a CMakeLists.txt, that one source
opens files for reading, that actors/protocol.hpp tells of every message once with its receivers, that the public header
stays light, and that lines are as long as .clang-format says."""
import pathlib, re, sys

LAYERS = ["runtime", "models", "partition", "actors", "apps"]  # a folder includes itself and folders to its left
# Inside a top folder: a folder includes itself and those before it; "." are the files outside the folders.
FOLDERS = {
    "runtime": "base collective storage plugin device memory trace".split(),
    "models": "optimizer frozen . pieces weights losses layers exported tokenizers jinja data families".split(),
    "partition": "graph profile plan . execute checkpoint inference".split(),
    "actors": "policy selection protocol . plugin input device memory update checkpoint model schedule report run simulation admission session cluster".split(),
    "apps": "workload run_folder report steering simulate bench commands examples .".split(),
}
ACTORS = {"device", "model_task", "memory_manager", "optimizer", "scheduler", "data", "reporter", "supervisor", "controller"}
# As the stories of actors/protocol.hpp call them; the others have the names of their handles.
STORY_NAMES = {"task_actor": "MODEL TASK", "memory_actor": "MEMORY MANAGER", "checkpoint_actor": "CHECKPOINTER",
               "policy_actor": "POLICY ACTOR", "advice_receiver": "SCHEDULER", "value_receiver": "EXCHANGE",
               "chunk_receiver": "RECEIVER", "input_receiver": "RECEIVER", "chunk_source": "OWNER", "input_source": "OWNER"}
MOST_STORY_LINES = 60
CUDA = re.compile(r"(cuda|cublas|cudnn|cupti|nccl|nvml|nvtx|c10/cuda|ATen/cuda)")
CUDA_FOLDERS = {("runtime", "device", "cuda"), ("tests", "support", "gpu_double")}
# What a user has named is opened by runtime/base/regular_file.cpp. The others read the kernel's files, or sync what they wrote.
READS = re.compile(r"\bifstream\b|\bfopen\(|\bgzopen\(|\bTIFFOpen\(|\bparse_file\(|O_RDONLY(?!.*O_DIRECTORY)|\bO_RDWR\b")
READERS = {"runtime/base/regular_file.cpp", "runtime/memory/control_group.cpp", "runtime/memory/host_memory.cpp",
           "runtime/device/cpu/core_wait.cpp", "runtime/device/host_energy.cpp", "runtime/storage/atomic_file.cpp", "apps/bench/measurement.cpp", "apps/hydra.cpp"}
root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()


def includes(file):
    return re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', file.read_text(), re.M)


def is_standard(name):
    """A header of the standard library, or one of runtime/ that needs nothing else."""
    if name.startswith("runtime/"):
        return (root / name).exists() and all(map(is_standard, includes(root / name)))
    return re.fullmatch(r"[a-z_0-9]+", name) is not None


def folder_of(path):
    return path.parts[1] if len(path.parts) > 2 else "."


def offences(file):
    path, top, found = file.relative_to(root), file.relative_to(root).parts[0], includes(file)
    policy, cuda = path.parts[:2] == ("actors", "policy"), path.parts[:3] in CUDA_FOLDERS
    selection = path.parts[:2] == ("actors", "selection") and path.name != "search_record.cpp"  # that one writes JSON
    own = str(path.with_suffix(".hpp"))
    if file.suffix == ".cpp" and (root / own).exists() and found[:1] != [own]:
        yield f"does not start with its own header {own}"
    for name in found:
        layer = name.split("/")[0]
        if top in LAYERS and layer in LAYERS + ["tests"] and layer not in LAYERS[: LAYERS.index(top) + 1]:
            yield f"{name}: {top} is below {layer}"
        if layer == top and top in FOLDERS and (root / name).is_file():
            order, here, there = FOLDERS[top], folder_of(path), folder_of(pathlib.Path(name))
            if not {here, there} <= set(order):
                yield f"{name}: a folder of {top} is not in the list of {pathlib.Path(__file__).name}"
            elif order.index(there) > order.index(here):
                yield f"{name}: {top}/{here} is below {top}/{there}"
        if file.parent.joinpath(name).is_file() and not root.joinpath(name).exists():
            yield f"{name}: name it from the root of the tree"
        if layer == "caf" and (top not in {"actors", "apps", "tests"} or policy or selection):
            yield f"{name}: CAF belongs to actors"
        if CUDA.match(name) and not cuda:
            yield f"{name}: CUDA belongs to runtime/device/cuda"
        if name in {"torch/torch.h", "torch/all.h", "torch/extension.h"}:
            yield f"{name}: slow to compile, include the few ATen headers that are needed"
        if (policy or selection) and not name.startswith("/".join(path.parts[:2])) and not is_standard(name):
            yield f"{name}: policies and rules of searches use the standard library only"
        actor = re.fullmatch(r"actors/\w+/(\w+)\.hpp", name)
        if top == "actors" and actor and actor[1] in ACTORS - {file.stem} and not file.stem.startswith(("launch", "supervisor", "run_setup")):
            yield f"{name}: an actor knows no other actor, only those that make a run do"
    if top in LAYERS and str(path) not in READERS and (read := READS.search(file.read_text())):
        yield f"{read[0]}: only runtime/base/regular_file.cpp opens files for reading"
    lists = [folder / "CMakeLists.txt" for folder in file.parents if folder.is_relative_to(root)]
    if file.suffix == ".cpp" and not any(
        re.search(rf"(?<![\w/]){re.escape(str(file.relative_to(l.parent)))}\b", l.read_text()) for l in lists if l.exists()
    ):
        yield "is listed in no CMakeLists.txt"


def long_lines(file):
    """Of pages in HTML and tests' texts a line may be longer."""
    if file.relative_to(root).parts[0] != "tests" and file.name not in {"page_parts.cpp", "live_script.cpp", "live_view.cpp"}:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if len(line) > 120:
                yield f"line {number} has {len(line)} columns, at most 120 are allowed"


def receivers():
    """Of each message, by the interfaces of the actors."""
    found = {}
    for name in ["interfaces", "advice", "cluster", "exchange"]:
        for handle, body in re.findall(r"using (\w+) =(.*?);", (root / f"actors/protocol/{name}.hpp").read_text(), re.S):
            for message in re.findall(r"reacts_to<(\w+)>", body):
                found.setdefault(message, set()).add(STORY_NAMES.get(handle, handle.removesuffix("_actor").upper()))
    return found


def misleading_stories():
    """Each message is told once, as `message: SENDER -> RECEIVER, RECEIVER. ...`, with those that receive it."""
    text, known = (root / "actors/protocol.hpp").read_text(), receivers()
    actors, told = set().union({"SESSION"}, *known.values()), []
    for title, story in re.findall(r"^// -- (.*?) \(.*\n((?://.*\n)*)", text, re.M):
        if story.count("\n") >= MOST_STORY_LINES:
            yield f"the story of {title} has more than {MOST_STORY_LINES} lines"
        for message, rest in re.findall(r"^//  (?:\d+ )?(\w+): (.*\n(?://    .*\n)*)", story, re.M):
            told.append(message)
            senders, *ways = [w.split(", ") for w in re.sub(r"\n//    ", " ", rest).split(". ")[0].split(" -> ")]
            if strange := set(sum(ways, senders)) - actors:
                yield f"{message}: no actor is called {', '.join(sorted(strange))}"
            elif set(sum(ways, [])) != known.get(message):
                yield f"{message}: by its interface it goes to {', '.join(sorted(known.get(message, {'nobody'})))}"
    for message in sorted(known):
        if told.count(message) != 1:
            yield f"the message {message} is told {told.count(message)} times instead of once"
    listed = set(re.findall(r"\bX\(\s*(\w+)\)", (root / "actors/protocol/message_list.hpp").read_text()))
    for message in sorted(listed - set(known)):
        yield f"the message {message} of message_list.hpp is received by nobody"


def heavy_public_headers():
    """<hydra/hydra.hpp> compiles in a second and a half; with one of these libraries it would take several."""
    reached, todo = set(), ["actors/session/hydra.hpp"]
    while todo:
        name = todo.pop()
        if not (root / name).is_file() or name in reached:
            continue
        reached.add(name)
        for next_name in includes(root / name):
            todo.append(next_name)
            if re.match(r"(ATen|c10|torch|caf|spdlog|fmt|nlohmann/json\.hpp)\b", next_name):
                yield f"{name}: {next_name}: <hydra/hydra.hpp> includes this header, which must do without that library"


files = [f for top in LAYERS + ["tests"] for f in sorted((root / top).rglob("*")) if f.suffix in {".hpp", ".cpp", ".h", ".cu", ".cuh"}]
found = [f"{file.relative_to(root)}: {text}" for file in files for text in [*offences(file), *long_lines(file)]]
found += [f"actors/protocol.hpp: {text}" for text in misleading_stories()]
found += heavy_public_headers()
print(*found, f"{len(files)} files, {len(found)} offences", sep="\n")
sys.exit(bool(found))
