#!/usr/bin/env python3
"""generate.py LIBTORCH HYDRA OUT: sources of the double that are made from others.

lib*.so.*.cpp, .map   libraries with all functions that LibTorch takes from NVIDIA's, which do nothing
rest.cpp              what the double lacks of the runtime, the driver and the management library: "not supported"
*_as_host.inc         Hydra's kernels without their launches"""
import pathlib, re, subprocess, sys

LIBRARIES = {  # prefix of the functions: soname
    "cublasLt": "libcublasLt.so.13", "cublas": "libcublas.so.13", "cudnn": "libcudnn.so.9", "cufft": "libcufft.so.12",
    "curand": "libcurand.so.10", "cusolver": "libcusolver.so.12", "cusparseLt": "libcusparseLt.so.0",
    "cusparse": "libcusparse.so.12", "nccl": "libnccl.so.2", "nvshmem": "libnvshmem_host.so.3", "cuFile": "libcufile.so.0"}
MAKERS = {"cublasCreate_v2", "cublasLtCreate", "cudnnCreate", "cusolverDnCreate", "cusparseCreate"}  # of handles
FOUND_BY_NAME = ["nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v3",
                 "nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetNvLinkRemoteDeviceType",
                 "nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlSystemGetCudaDriverVersion_v2"]
USERS = ["torch_cuda", "torch_cuda_linalg", "torch_nvshmem", "c10_cuda", "torch_cpu", "caffe2_nvrtc"]
torch, hydra, out = map(pathlib.Path, sys.argv[1:])


def needed():
    files = [torch / f"lib/lib{name}.so" for name in USERS]
    listed = subprocess.run(["nm", "-D", "--undefined-only", *(f for f in files if f.exists())], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if " U " in line or " w " in line}


def library_of(name):
    return max((p for p in LIBRARIES if name.lstrip("_").startswith(p)), key=len, default=None)


def stub(name):
    if name in MAKERS:
        return f"long {name}(void** made) {{ static char it[64]; *made = it; return 0; }}"
    return f"long {name}() {{ return 0; }}"


def write(name, lines):
    (out / name).write_text("".join(f"{line}\n" for line in lines))


def as_host(name):
    text = (hydra / f"runtime/device/cuda/{name}.cu").read_text()
    text = re.split(r"\n(?:template <class Element>\n)?cudaError_t launch", text)[0]
    text = text.replace("namespace {", f"namespace {name}_kernels {{")
    return text + "\n" + "}\n" * (text.count("{") - text.count("}"))


out.mkdir(parents=True, exist_ok=True)
names = sorted(needed())
for prefix, soname in LIBRARIES.items():
    write(f"{soname}.cpp", ['extern "C" {', *(stub(n) for n in names if library_of(n) == prefix), "}"])
    write(f"{soname}.map", [f"{'NVSHMEM' if prefix == 'nvshmem' else soname} {{ global: *; }};"])
rest = [n for n in names if re.match("(_*cuda|cu|nvrtc)[A-Z]", n) and not library_of(n)] + FOUND_BY_NAME
write("rest.cpp", ["#include <cstdio>", 'extern "C" {', *(
    f'[[gnu::weak]] int {n}() {{ std::fprintf(stderr, "gpu-double: {n} is not modelled\\n"); return 801; }}' for n in rest), "}"])
write("libcudart.so.13.map", ["libcudart.so.13 { global: *; };"])
for kernel in ("keyed_mask", "update"):
    (out / f"{kernel}_as_host.inc").write_text(as_host(kernel))
