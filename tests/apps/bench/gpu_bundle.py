#!/usr/bin/env python3
"""apps/bench/gpu/bundle: made from a build, unpacked elsewhere, tried without anything of this machine but LibTorch and the system.
With BUILD/lib/gpu_double, tests for GPUs run in it, too.   gpu_bundle.py ROOT BUILD LIBTORCH"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TORCH, BUILD, ROOT = (pathlib.Path(sys.argv.pop()).resolve() for _ in range(3))
sys.path.insert(0, str(ROOT / "apps"))

from package_wheel import SYSTEM
from package_wheel import TORCH as TORCHS

DOUBLE = BUILD / "lib/gpu_double"
MOST_BYTES = 25e6


def bundle(*arguments):
    return subprocess.run([ROOT / "apps/bench/gpu/bundle", *arguments], capture_output=True, text=True)


class NoBuild(unittest.TestCase):
    def test_a_build_without_the_plug_in_is_refused_with_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            done = bundle("--build", folder, f"{folder}/bundle.tar.gz")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "bin/gpu_tests.*libhydra_cuda.so missing: cmake --preset release.*HYDRA_CUDA=ON")
            self.assertEqual(os.listdir(folder), [])


@unittest.skipUnless((BUILD / "lib/hydra/libhydra_cuda.so").exists(), "this build has no CUDA plug-in")
class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = pathlib.Path(folder.name) / "bundle.tar.gz"
        made = bundle("--build", BUILD, cls.file)
        assert made.returncode == 0, made.stderr
        print(made.stdout, end="")
        subprocess.run(["tar", "xf", cls.file, "-C", folder.name], check=True)
        cls.place = pathlib.Path(folder.name) / "hydra-gpu"

    def start(self, *command, **environment):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.place), "OMP_NUM_THREADS": "1", **environment}
        return subprocess.run([self.place / command[0], *command[1:]], capture_output=True, text=True, env=env, cwd="/")

    def succeed(self, *command, **environment):
        done = self.start(*command, HYDRA_TORCH=str(TORCH), **environment)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_it_is_one_small_file(self):
        self.assertLess(self.file.stat().st_size, MOST_BYTES)

    def test_its_page_has_no_gaps(self):
        page = (self.place / "README.md").read_text()
        self.assertRegex(page, r"glibc 2\.\d+ or newer")
        self.assertRegex(page, r"PyTorch 2\.11\.\d+ for CUDA 13\b")
        self.assertNotIn("{", page)

    def test_programs_have_their_libraries_beside_them(self):
        env = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": f"{TORCH}/lib:{self.place}/lib"}
        for program in (self.place / "programs").iterdir():
            text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, env=env).stdout
            found = dict(re.findall(r"^\s*(\S+) => (\S+)", text, re.M))
            strangers = {name: path for name, path in found.items()
                         if not SYSTEM.match(name) and not TORCHS.match(name) and not path.startswith(str(self.place))}
            self.assertEqual(strangers, {}, program.name)

    def test_they_start_and_every_test_for_gpus_is_in_a_check(self):
        self.succeed("first", "--dry-run", "--output", f"{self.place}/tests")
        log = (self.place / "tests/log.txt").read_text()
        for program in ("runtime_tests", "gpu_tests"):
            listed = self.start(f"bin/{program}", "--list-test-names-only", "[gpu]", HYDRA_TORCH=str(TORCH)).stdout.splitlines()
            self.assertGreater(len(listed), 4)
            self.assertEqual([name for name in listed if name not in log], [])

    def test_it_trains(self):
        out = self.succeed("apps/bench/gpu/run", "--dry-run", "--sizes", "8k", "hydra-0.5B-resident")
        self.assertRegex(out, r"64 tokens: ok  tokens/s")
        self.assertRegex(self.succeed("second", "--list"), "hydra-1.5B-spill24")

    def test_another_pytorch_is_refused(self):
        done = self.start("bin/hydra", "--version", HYDRA_TORCH="/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"PyTorch 2\.11\.\d+ is needed, python3 has none: pip install torch==2\.11")

    def test_a_gpu_that_is_not_there_is_said_and_the_tests_are_skipped(self):
        if pathlib.Path("/dev/nvidia0").exists():
            self.skipTest("a GPU is there")
        done = self.start("first", "--output", f"{self.place}/none", HYDRA_TORCH=str(TORCH))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"devices: failed.*\(.+\)")
        self.assertRegex(done.stdout, r"steps: skipped  \(no GPU can be used\)")

    @unittest.skipUnless(DOUBLE.is_dir(), "no double of a GPU")
    def test_tests_for_gpus_pass_on_a_double(self):
        out = self.succeed("first", "--output", f"{self.place}/double", "--tests", "devices,kernels,losses", "--limit", "36000",
                           HYDRA_LD_FIRST=str(DOUBLE))
        for check in ("devices", "kernels", "losses"):
            self.assertRegex(out, rf"(?m)^  {check}: ok")


if __name__ == "__main__":
    unittest.main(verbosity=2)
