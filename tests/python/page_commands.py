#!/usr/bin/env python3
"""The commands of docs/tutorial.md and of README's first screen do what they say, in their order, in an empty folder;
and each command and option of `hydra` that README.md or a page of docs/ names exists.

    page_commands.py HYDRA

A block runs as it stands, by sh or Python, but for the changes of SHORTER.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from checks import Failed, require, run_checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
HYDRA = pathlib.Path(sys.argv[1]).resolve()
PROGRAMS = ("hydra", "mkdir", "python3")  # other blocks without a language are what a command prints

# Of one thread: threads that wait for each other are slow where other tests take the cores.
FEW = "--set device.threads=1 --set model.steps=4 --set model.validate.every_steps=2"
SHORTER = {  # text of a page: what runs in its place; by page
    "docs/tutorial.md": {
        "hydra train apps/workloads/tutorial/pretrain.toml":
            f"hydra train apps/workloads/tutorial/pretrain.toml {FEW} --set model.schedule.warmup=2",
        "hydra plan runs/talks.toml": "hydra plan runs/talks.toml --set device.threads=1",
        "hydra evaluate runs/talks.toml": "hydra evaluate runs/talks.toml --set device.threads=1",
        "hydra train runs/talks.toml": f"hydra train runs/talks.toml {FEW}",
        "hydra train apps/workloads/tutorial/search.toml":
            "hydra train apps/workloads/tutorial/search.toml --set search.samples=4 --set search.first=2 "
            "--set model.steps=4 --set model.schedule.warmup=2",
        '"model.grid.learning_rate": [3e-3, 1e-2]':
            '"model.grid.learning_rate": [3e-3, 1e-2], "device.threads": 1, "model.steps": 4, '
            '"model.validate.every_steps": 2',
        # Needs packages; compare_adapters.py loads such folders by peft.
        """python3 -c 'from peft import AutoPeftModelForCausalLM as M; print(M.from_pretrained("runs/adapter"))'""": ":",
    },
    "README.md": {"hydra train workload.toml": f"hydra train workload.toml {FEW}"},
}


def page_text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text):
    """Language and text of each."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)


def is_commands(language, text):
    return language == "python" or (not language and text.split()[0] in PROGRAMS)


def shortened(page, block, used):
    for text, other in SHORTER[page].items():
        if text in block:
            used.add(text)
            block = block.replace(text, other)
    return block


def environment(folder):
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HYDRA_PROGRAM": str(HYDRA),
            "PYTHONPATH": str(ROOT / "apps" / "python"), "HYDRA_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}


def run_block(language, block, folder):
    command = [sys.executable, "-c", block] if language == "python" else ["sh", "-ec", block]
    done = subprocess.run(command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    require(done.returncode == 0, f"exit status {done.returncode} of\n{block}\n{done.stdout}")


def run_page(page, chosen, folder):
    used = set()
    for language, block in chosen:
        run_block(language, shortened(page, block, used), folder)
    require(used == set(SHORTER[page]), f"{page} does not have {set(SHORTER[page]) - used}, which SHORTER changes")
    return f"{len(chosen)} blocks run"


def run_tutorial(folder):
    commands = [block for block in blocks(page_text("docs/tutorial.md")) if is_commands(*block)]
    require(len(commands) >= 8, f"the tutorial has {len(commands)} blocks of commands")
    return run_page("docs/tutorial.md", commands, folder)


def run_first_screen(folder):
    """On the tutorial's checkpoint and talks, which the page calls by shorter names."""
    (folder / "llama").symlink_to(folder / "runs" / "llama")
    (folder / "talks.jsonl").symlink_to(ROOT / "apps" / "workloads" / "tutorial" / "talks.jsonl")
    first = blocks(page_text("README.md"))[0]
    require(is_commands(*first), f"README.md begins with another block:\n{first[1]}")
    return run_page("README.md", [first], folder)


def talks_are_those_of_the_play():
    texts = ROOT / "apps" / "workloads" / "tutorial"
    made = subprocess.run([sys.executable, texts / "talks.py", texts / "shrew.txt"], check=True, stdout=subprocess.PIPE)
    require(made.stdout == (texts / "talks.jsonl").read_bytes(), "talks.jsonl is not what talks.py makes of shrew.txt")


@functools.cache
def help_of(*command):
    return subprocess.run([HYDRA, *command, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout


def named_lines(text):
    """Command lines in blocks, and between backquotes."""
    for _, block in blocks(text):
        yield from (line.split(" #")[0] for line in block.replace("\\\n", " ").splitlines())
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose))


def check_line(line, commands):
    words = line.split()
    if len(words) < 2 or words[0] != "hydra" or not re.fullmatch(r"[a-z]+", words[1]):
        return False
    require(words[1] in commands, f"`{line}`: hydra has no command {words[1]}")
    options = set(re.findall(r"--[a-z][a-z-]*", help_of(words[1])))
    for option in re.findall(r"(?<=\s)--[a-z][a-z-]*", line):
        require(option in options, f"`{line}`: hydra {words[1]} has no option {option}")
    return True


def check_names():
    commands = set(re.findall(r"^  ([a-z]+) ", help_of(), re.M))
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = 0
    for page in pages:
        for line in named_lines(page.read_text(encoding="utf-8")):
            try:
                found += check_line(line, commands)
            except Failed as e:
                raise Failed(f"{page.name}: {e}") from e
    require(found > 100, f"only {found} command lines are found")
    return f"{found} command lines of {len(pages)} pages name what there is"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "hydra").symlink_to(HYDRA)
        (folder / "apps").symlink_to(ROOT / "apps")
        checks = {"names": check_names, "talks": talks_are_those_of_the_play,
                  "tutorial": functools.partial(run_tutorial, folder),
                  "README's first screen": functools.partial(run_first_screen, folder)}
        sys.exit(run_checks(checks))


if __name__ == "__main__":
    main()
