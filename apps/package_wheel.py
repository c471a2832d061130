#!/usr/bin/env python3
"""Packs build/release into a wheel (apps/package builds first)."""
import pathlib
import platform
import re
import shutil
import subprocess
import sys

BUILD = pathlib.Path("build/release")
STAGE = pathlib.Path("build/package/wheel")
# Part of every system that the wheel is for (glibc and the compiler's runtime), or brought by the torch wheel.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|libc|libm|libdl|librt|libpthread|libutil|libgcc_s|libstdc\+\+)[.-]")
TORCH = re.compile(r"^lib(torch|c10|gomp|nv|cu)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def version_of(pattern, file):
    return re.search(pattern, pathlib.Path(file).read_text())[1]


def needed(file):
    """The libraries of the wheel's own that an executable or library needs, as paths."""
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", run("ldd", str(file)), re.M):
        if SYSTEM.match(name) or TORCH.match(name):
            continue
        if path == "not":
            sys.exit(f"package: {file} needs {name}, which is not there")
        found[name] = path
    return found


def place(source, target, run_path):
    """Copies an executable or library without symbols that nobody needs, looking for others in `run_path`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    target.chmod(0o755)
    run("strip", "--strip-debug", str(target))
    run("patchelf", "--force-rpath", "--set-rpath", run_path, str(target))


def main():
    version = version_of(r"project\(Hydra VERSION ([0-9.]+)", "CMakeLists.txt")
    torch_folder = pathlib.Path(run("cmake", "-P", "cmake/Torch.cmake").split(": ")[-1].strip() or ".")
    torch = version_of(r"__version__ *= *'([0-9.]+)", torch_folder / "version.py")
    shutil.rmtree(STAGE, ignore_errors=True)
    package = STAGE / "hydra_train"

    place(BUILD / "bin/hydra", package / "bin/hydra", "$ORIGIN/../lib:$ORIGIN/../../torch/lib")
    for name, path in needed(BUILD / "bin/hydra").items():
        place(path, package / "lib" / name, "$ORIGIN")
    cuda = BUILD / "lib/hydra/libhydra_cuda.so"
    if cuda.exists():
        place(cuda, package / "lib/hydra/libhydra_cuda.so",
              "$ORIGIN/..:$ORIGIN/../../../torch/lib:$ORIGIN/../../../nvidia/cu13/lib")
    for module in ("hydra_train", "hydra_export", "hydra_ray"):
        shutil.copytree(f"apps/python/{module}", STAGE / module, ignore=shutil.ignore_patterns("__pycache__"),
                        dirs_exist_ok=True)

    major, minor = platform.libc_ver()[1].split(".")[:2]
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    info = STAGE / f"hydra_train-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: hydra-train\nVersion: {version}\n"
        "Summary: Trains many deep-learning models, each larger than device memory, on a few devices at once\n"
        f"License-File: LICENSE\nRequires-Python: >=3.9\nRequires-Dist: torch=={torch}\nRequires-Dist: safetensors\n"
        "Requires-Dist: tomli; python_version < '3.11'\nProvides-Extra: ray\nRequires-Dist: ray>=2.60; extra == 'ray'\n")
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: hydra\nRoot-Is-Purelib: false\nTag: {tag}\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nhydra = hydra_train.launcher:main\n")
    shutil.copy("LICENSE", info)
    pathlib.Path("dist").mkdir(exist_ok=True)
    print(run(sys.executable, "-m", "wheel", "pack", "--dest-dir", "dist", str(STAGE)).strip().splitlines()[-1])


if __name__ == "__main__":
    main()
