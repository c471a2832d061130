#!/usr/bin/env python3
"""The digest by which a plug-in of another build is refused covers all headers that plug-ins share with the program: the
compiler says which ones the plug-ins of the tree include (one line per header that is left out, exit status 1).

    plugin_interfaces.py SOURCE BUILD COMPILER [OPTION...]

BUILD/interfaces.txt has the headers of the digest (cmake/Interfaces.cmake)."""
import pathlib, re, subprocess, sys

PLUGINS = ["apps/examples/*_plugin/*.cpp", "runtime/device/cuda/*.cpp", "runtime/device/cuda/*.cu", "runtime/device/streams/*.cpp"]
OWN = ("apps/examples/", "runtime/device/cuda/")  # headers that only a plug-in itself includes
source, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
plugins = [file for pattern in PLUGINS for file in sorted(source.glob(pattern))]

# One source with all that these include. -MG: the headers of CUDA may be missing.
lines = {line for file in plugins for line in re.findall(r'^#include "[^"]+"', file.read_text(), re.M)}
text = "\n".join(["#include <hydra/plugin.hpp>", "#include <hydra/policy_actor.hpp>", *sorted(lines)])
command = [*sys.argv[3:], "-std=c++20", f"-I{source}", f"-I{build}/include", "-MM", "-MG", "-x", "c++", "-"]
listed = subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, check=True).stdout

reached = {pathlib.Path(word) for word in listed.replace("\\\n", " ").split()[1:]}
shared = {str(p.relative_to(source)) for p in reached if p.is_relative_to(source) and not p.is_relative_to(build)}
covered = set((build / "interfaces.txt").read_text().split())
missing = sorted(h for h in shared - covered if not h.startswith(OWN))
for header in missing:
    print(f"{header}: plug-ins include it, but the digest leaves it out; name it in cmake/Interfaces.cmake")
print(f"{len(plugins)} sources of plug-ins, {len(shared)} headers, {len(missing)} left out")
sys.exit(bool(missing) or len(shared) < 20)
