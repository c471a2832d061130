#!/usr/bin/env python3
"""apps/bench/gpu: the evaluator of timelines, the file of results and its tables, on inputs made by hand.   gpu_results.py ROOT"""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(ROOT / "apps/bench/gpu"))

import bench
import device_parts
import machine
import results
import timeline
from programs import Outcome
from shapes import SHAPES, peak_of
from workload import Workload


def trace(folder, spans):
    """A Chrome trace: (process, thread, name, begin, end, detail) in milliseconds, each track numbered as Hydra numbers them."""
    tracks = sorted({s[:2] for s in spans})
    processes = sorted({p for p, _ in tracks})
    events = []
    for tid, (process, thread) in enumerate(tracks, 1):
        where = {"pid": processes.index(process) + 1, "tid": tid, "ph": "M"}
        for what, name in (("process_name", process), ("thread_name", thread)):
            events.append({**where, "name": what, "args": {"name": name}})
    for process, thread, name, begin, end, detail in spans:
        events.append({"ph": "X", "pid": processes.index(process) + 1, "tid": tracks.index((process, thread)) + 1, "name": name,
                       "ts": begin * 1e3, "dur": (end - begin) * 1e3, "args": {"detail": detail}})
    file = pathlib.Path(folder) / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    return timeline.read_spans(file)


def update(step, end):
    return ("host", "optimizer", "step_shard", end - 1, end, f"update of gpt 2 0 step {step}")


RUN = [("gpu:0", "compute", "execute_shard", 0, 10, ""), ("gpu:0", "compute", "execute_shard", 20, 30, ""),
       ("gpu:0", "compute", "execute_shard", 30, 40, ""), ("gpu:0", "h2d", "prefetch_shard", 0, 4, ""),
       ("gpu:0", "h2d", "prefetch_shard", 18, 26, ""), ("gpu:0", "d2h", "demote_shard", 28, 32, ""),
       ("gpu:0", "d2h", "demote_shard", 40, 45, ""), ("gpu:1", "compute", "execute_shard", 0, 45, ""),
       ("host", "optimizer", "step_shard", 9, 11, "norms of gpt 2 1 step 0"), update(0, 12), update(1, 43), update(2, 50)]


class Timeline(unittest.TestCase):
    def evaluate(self, spans, warm):
        with tempfile.TemporaryDirectory() as folder:
            return timeline.evaluate(trace(folder, spans), "gpu:0", warm)

    def test_copies_are_hidden_where_the_same_device_computes(self):
        found = self.evaluate(RUN, warm=0)
        self.assertAlmostEqual(found["h2d"]["time_s"], 0.012)
        self.assertAlmostEqual(found["h2d"]["hidden_s"], 0.010)
        self.assertAlmostEqual(found["d2h"]["hidden_share"], 1.0)
        self.assertAlmostEqual(found["hidden_share"], 14 / 16)
        self.assertAlmostEqual(found["busy_share"], 30 / 40)

    def test_warm_steps_are_left_out(self):
        found = self.evaluate(RUN, warm=1)
        self.assertAlmostEqual(found["window_s"], 0.028)
        self.assertEqual(found["h2d"]["copies"], 1)
        self.assertAlmostEqual(found["h2d"]["hidden_share"], 6 / 8)
        self.assertAlmostEqual(found["h2d"]["all_time_s"], 0.012)

    def test_copies_after_the_last_computation_are_reported_separately(self):
        self.assertAlmostEqual(self.evaluate(RUN, warm=1)["after_last_computation_s"], 0.005)

    def test_a_step_lasts_from_update_to_update(self):
        steps = self.evaluate(RUN, warm=1)["step_s"]
        self.assertEqual(list(steps), ["gpt 2"])
        self.assertEqual([round(s, 6) for s in steps["gpt 2"]], [0.031, 0.007])

    def test_without_updates_the_last_unit_ends_a_step(self):
        units = [("model", "m", "shard_completed", t, t, f"model 0 step {n} {unit}")
                 for n, t, unit in ((0, 8, "backward 1"), (0, 10, "backward 0"), (1, 30, "backward 0"))]
        self.assertEqual(timeline.step_ends([timeline.Span(u[2], u[0], u[1], u[3], u[4], u[5]) for u in units]), {"m": [10, 30]})

    def test_copies_that_nothing_hides(self):
        spans = [("gpu:0", "compute", "a", 0, 1, ""), ("gpu:0", "h2d", "b", 1, 3, ""), ("gpu:0", "compute", "c", 3, 4, "")]
        found = self.evaluate(spans, warm=0)
        self.assertEqual((found["h2d"]["hidden_share"], found["d2h"]["hidden_share"]), (0.0, None))

    def test_overlapping_computations_hide_a_copy_once(self):
        self.assertEqual(timeline.overlap((0, 10), timeline.union([(2, 5), (4, 7), (9, 12)])), 6)

    def test_a_device_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(SystemExit, "gpu:7 computed nothing.*gpu:0, gpu:1"), tempfile.TemporaryDirectory() as folder:
            timeline.evaluate(trace(folder, RUN), "gpu:7")


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def add(self, name, rates, status="ok", machine="NVIDIA H200", mode="spill24", tokens=8192):
        measured = {"tokens/s": results.measured(rates, "1/s")} if rates else {}
        results.Results(self.folder.name, {"gpu": machine}).add(
            f"hydra-1.5B-{mode}", name, status, "hydra train w.toml", {"mode": mode, "shape": "1.5B", "tokens": tokens},
            measured=measured, facts={"within budget": False, "evaluation": {}}, why="" if rates else "too large\nby far")

    def rows(self):
        return results.read([self.folder.name])

    def test_repeats_are_put_together(self):
        self.add("8192 tokens", [10, 30])
        self.add("8192 tokens", [20])
        self.add("8192 tokens", [], status="failed")
        merged = results.merged(self.rows())
        self.assertEqual(len(merged), 1)
        self.assertEqual([merged[0]["measured"]["tokens/s"][k] for k in ("median", "least", "most")], [20, 10, 30])

    def test_other_gpus_stay_apart(self):
        self.add("8192 tokens", [10])
        self.add("8192 tokens", [20], machine="NVIDIA H100")
        self.assertEqual(len(results.merged(self.rows())), 2)
        self.assertEqual(len(json.loads((pathlib.Path(self.folder.name) / "results.json").read_text())["machines"]), 2)

    def test_a_table_of_a_shape_has_modes_sizes_and_ratios(self):
        self.add("8192 tokens", [90])
        self.add("8192 tokens", [100], mode="recompute")
        self.add("32768 tokens", [], status="does not fit", tokens=32768)
        text = results.tables(self.rows())
        self.assertIn("1.5B on NVIDIA H200", text)
        self.assertRegex(text, r"(?m)^spill24 +90 +does not fit$")
        self.assertRegex(text, r"(?m)^spill24 / recompute +0\.900 +-$")

    def test_a_table_of_a_part_says_what_is_wrong(self):
        self.add("8192 tokens", [])
        text = results.part_table("hydra-1.5B-spill24", self.rows())
        self.assertIn("NO", text)
        self.assertTrue(text.splitlines()[-1].endswith("ok: too large"))

    def test_another_schema_is_refused(self):
        (pathlib.Path(self.folder.name) / "results.json").write_text('{"schema": 99, "machines": [], "rows": []}')
        with self.assertRaisesRegex(SystemExit, "schema 99"):
            self.rows()


class Shapes(unittest.TestCase):
    def test_shapes_have_the_size_of_their_name(self):
        for name, millions in (("0.5B", 518), ("1.5B", 1548), ("3B", 3019)):
            self.assertEqual(round(SHAPES[name].parameters / 1e6), millions)

    def test_peaks_go_by_the_gpus_name(self):
        self.assertEqual(peak_of("NVIDIA H100 80GB HBM3"), 989.4e12)
        self.assertEqual(peak_of("NVIDIA H100 PCIe"), 756e12)
        self.assertEqual(peak_of("NVIDIA A100-SXM4-80GB"), 312e12)
        self.assertEqual(peak_of("Tesla V100-PCIE-16GB"), 112e12)
        self.assertEqual(peak_of("NVIDIA GeForce RTX 3090"), 71e12)
        self.assertEqual(peak_of("NVIDIA RTX 6000 Ada Generation"), 364.2e12)

    def test_a_name_that_is_part_of_another_is_another_gpu(self):
        self.assertEqual([peak_of(f"NVIDIA {name}") for name in ("L4", "L40", "L40S")], [121e12, 181.05e12, 362.05e12])
        self.assertEqual([peak_of(f"NVIDIA {name}") for name in ("A10", "A10G", "A100 80GB PCIe")], [125e12, 70e12, 312e12])

    def test_a_gpu_that_is_not_in_the_table_has_no_peak(self):
        for name in ("GeForce 256", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA RTX A600", "Quadro RTX 6000", ""):
            self.assertIsNone(peak_of(name), name)

    def test_a_workload_divides_its_tokens(self):
        w = Workload("w", SHAPES["tiny"], 'kind = "cpu"', "3MiB", "1GiB", tokens=1024, micro_batch=8, steps=2, models=2,
                     ablation="sharp = false")
        text = w.text()
        for line in ("batch_size = 32", "micro_batches = 4", "seed = [1, 2]", "sharp = false"):
            self.assertIn(line + "\n", text)


class Budgets(unittest.TestCase):
    def test_a_budget_is_the_size_where_the_gpu_has_room_for_it_and_a_share_of_what_is_free_where_not(self):
        gib = 2**30
        self.assertEqual(machine.budget_of("24GiB", 0.65, 139 * gib), "24GiB")
        self.assertEqual(machine.budget_of("24GiB", 0.65, 23 * gib), f"{int(0.65 * 23 * 1024)}MiB")
        self.assertEqual(machine.budget_of("", 0.9, 20 * gib), f"{18 * 1024}MiB")
        self.assertEqual(machine.budget_of("3MiB", 0.65, None), "3MiB")

    def test_every_budget_fits_every_gpu(self):
        for free in (8, 16, 23, 39, 47, 79, 139):
            for size, share in bench.REAL.budgets.values():
                self.assertLessEqual(machine.to_bytes(machine.budget_of(size, share, free * 2**30)), 0.9 * free * 2**30)

    def check(self, answers):
        """The refusal of `run`, by the output of nvidia-smi about GPUs and free MiB."""
        loader = importlib.machinery.SourceFileLoader("run", str(ROOT / "apps/bench/gpu/run"))
        run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
        loader.exec_module(run)
        with mock.patch.object(run, "said", lambda *c: answers[0]), mock.patch.object(machine, "said", lambda *c: answers[1]):
            run.check_gpu(0)

    def test_a_gpu_without_enough_free_memory_is_refused_with_the_numbers(self):
        self.check(["GPU 0", "24210"])
        for answers, said in ((["", ""], "sees no GPU"), (["GPU 0", "[N/A]"], "does not say how much"),
                              (["GPU 0", "1229"], r"1\.2 GiB free, the parts need 4 GiB: end what else uses it")):
            with self.assertRaisesRegex(SystemExit, said):
                self.check(answers)


CATCH = """Filters: [gpu]
-------------------------------------------------------------------------------
a GPU conforms
  a section
-------------------------------------------------------------------------------
gpu_device.cpp:66
...............................................................................

gpu_device.cpp:70: FAILED:
  REQUIRE( false )

===============================================================================
test cases: 2 | 1 passed | 1 failed
assertions: 9 | 8 passed | 1 failed
"""


class Checks(unittest.TestCase):
    def verdict(self, status, out="", seconds=1.0, stopped=False):
        of = types.SimpleNamespace(a=types.SimpleNamespace(dry_run=False))
        return device_parts.verdict(of, Outcome(status, out, "", seconds, stopped), limit=60)

    def test_a_check_fails_with_the_names_of_its_cases(self):
        self.assertEqual(self.verdict(0), ("ok", ""))
        self.assertEqual(self.verdict(1, CATCH), ("failed", "a GPU conforms"))
        self.assertEqual(self.verdict(-11, "terminated"), ("failed", "terminated"))

    def test_a_check_that_had_less_than_its_time_has_not_failed(self):
        self.assertEqual(self.verdict(-9, seconds=60.1, stopped=True), ("failed", "stopped after 60 s"))
        self.assertEqual(self.verdict(-9, seconds=20.0, stopped=True), ("skipped", "stopped after 20 s"))


if __name__ == "__main__":
    unittest.main()
