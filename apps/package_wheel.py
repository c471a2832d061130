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

LAUNCHER = '''"""Hydra trains many deep-learning models at once; this package starts its program."""
import importlib.util
import os
import pathlib
import sys


def main():
    here = pathlib.Path(__file__).parent
    torch = importlib.util.find_spec("torch")  # not imported: that would take seconds
    if torch is None:
        sys.exit("hydra: the package torch is missing; install it by: pip install 'torch=={torch}'")
    libraries = pathlib.Path(torch.origin).parent / "lib"
    if libraries.parent.parent != here.parent:  # elsewhere than the program looks
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(libraries), os.environ.get("LD_LIBRARY_PATH")]))
    os.execv(here / "bin" / "hydra", ["hydra", *sys.argv[1:]])
'''


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
    (package / "__init__.py").write_text(LAUNCHER.replace("{torch}", torch))
    (package / "__main__.py").write_text("from hydra_train import main\n\nmain()\n")
    shutil.copytree("apps/python/hydra_export", STAGE / "hydra_export", ignore=shutil.ignore_patterns("__pycache__"))

    major, minor = platform.libc_ver()[1].split(".")[:2]
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    info = STAGE / f"hydra_train-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: hydra-train\nVersion: {version}\n"
        "Summary: Trains many deep-learning models, each larger than device memory, on a few devices at once\n"
        f"License-File: LICENSE\nRequires-Python: >=3.9\nRequires-Dist: torch=={torch}\nRequires-Dist: safetensors\n")
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: hydra\nRoot-Is-Purelib: false\nTag: {tag}\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nhydra = hydra_train:main\n")
    shutil.copy("LICENSE", info)
    pathlib.Path("dist").mkdir(exist_ok=True)
    print(run(sys.executable, "-m", "wheel", "pack", "--dest-dir", "dist", str(STAGE)).strip().splitlines()[-1])


if __name__ == "__main__":
    main()
