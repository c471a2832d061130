#!/usr/bin/env python3
"""Every C++ and TOML block of README.md and CONTRIBUTING.md is verbatim in a file that is built, run or read by tests."""
import pathlib, re, sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
places = {"cpp": ["apps/examples/*.?pp", "apps/examples/*/*.cpp", "tests/apps/examples/*.cpp"], "toml": ["apps/workloads/**/*.toml"]}
found = 0
strays = []
for page in ["README.md", "CONTRIBUTING.md"]:
    for language, block in re.findall(r"^```(cpp|toml)\n(.*?)^```$", (root / page).read_text(), re.M | re.S):
        found += 1
        files = [f for pattern in places[language] for f in root.glob(pattern)]
        if not any(block in f.read_text() for f in files):
            strays.append(f"{page}: this block is not in any of {', '.join(places[language])}:\n{block}")

print(*strays, f"{found} blocks, {len(strays)} strays", sep="\n")
sys.exit(bool(strays) or not found)
