#!/usr/bin/env python3
"""generate.py LIBTORCH OUT KERNELS...: sources of the double that are made from others.

others.cpp       what the double lacks of NVIDIA's libraries: functions that do nothing or answer "not supported"
versions.map     the versions that LibTorch wants of these functions
*_as_host.inc    Hydra's kernels without their launches"""
import collections, pathlib, re, subprocess, sys

MAKERS = {"cublasCreate_v2", "cublasLtCreate", "cudnnCreate", "cusolverDnCreate", "cusparseCreate"}  # of handles
LOOKED_UP = {"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetNvLinkRemoteDeviceType",
             "nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlSystemGetCudaDriverVersion_v2"}  # with dlsym
torch, out, *kernels = map(pathlib.Path, sys.argv[1:])


def needed():
    """Names of functions, by version; "" has those without one."""
    users = sorted((torch / "lib").glob("lib*.so"))
    listed = subprocess.run(["nm", "-D", "--undefined-only", *users], check=True, text=True, stdout=subprocess.PIPE).stdout
    found = collections.defaultdict(set)
    for name, version in re.findall(r" ((?:__cuda|cu(?!pti)|nccl|nvrtc|nvshmem)\w+)@?(\S*)$", listed, re.M):
        found[version].add(name)
    return found


def stub(name):
    if name in MAKERS:
        return f"long {name}(void** made) {{ static char it[64]; *made = it; return 0; }}"
    if re.match("(cuda|cu|nvrtc|nvml)[A-Z]", name):
        return f'[[gnu::weak]] int {name}() {{ std::fprintf(stderr, "gpu-double: {name} is not modelled\\n"); return 801; }}'
    return f"[[gnu::weak]] long {name}() {{ return 0; }}"


def as_host(kernel):
    text = re.split(r"\n(?:template <class Element>\n)?cudaError_t launch", kernel.read_text())[0]
    text = text.replace("namespace {", f"namespace {kernel.stem}_kernels {{")
    return text + "\n" + "}\n" * (text.count("{") - text.count("}"))


out.mkdir(parents=True, exist_ok=True)
names = needed()
stubs = map(stub, sorted(set.union(LOOKED_UP, *names.values())))
(out / "others.cpp").write_text("\n".join(["#include <cstdio>", 'extern "C" {', *stubs, "}\n"]))
names["libcudart.so.13"] = {"cuda*", "__cuda*"}  # the plug-in needs others than LibTorch
(out / "versions.map").write_text("".join(f"{v} {{ global: {'; '.join(sorted(of))}; }};\n" for v, of in names.items() if v))
for kernel in kernels:
    (out / f"{kernel.stem}_as_host.inc").write_text(as_host(kernel))
