#!/usr/bin/env python3
"""Where time goes, by `assay bench --steps`, `--trace` and `--perf-map`. Usage: cli_profile_test.py ASSAY"""
import json
import os
import subprocess
import unittest

from cli_testing import ASSAY, CONSTANT, ENDLESS, CliCase

# Ten iterations of a product.
LOOP = """HloModule m
body {
  p = (s32[], f32[40,40]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  y = f32[40,40] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  product = f32[40,40] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = (s32[], f32[40,40]) tuple(j, product)
}
condition {
  p = (s32[], f32[40,40]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ten = s32[] constant(10)
  ROOT c = pred[] compare(i, ten), direction=LT
}
ENTRY e {
  x = f32[40,40] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[40,40]) tuple(zero, x)
  w = (s32[], f32[40,40]) while(t), condition=condition, body=body
  ROOT r = f32[40,40] get-tuple-element(w), index=1
}
"""


class Profile(CliCase):
    def test_bench_times_steps(self):
        program, inputs = self.file("l.hlo", LOOP), ("--random-inputs", "1")
        value = json.loads(self.expect(0, "bench", program, *inputs, "--steps", "--json").stdout)
        self.assertGreater(value["median_s"], 0)
        self.assertEqual(set(value["peaks"]), {"copy_bytes_per_s", "cached_copy_bytes_per_s",
                                               "f32_flops_per_s", "f64_flops_per_s"})
        for peak in value["peaks"].values():
            self.assertGreater(peak, 1e8)
        steps = {step["name"]: step for step in value["steps"]}
        self.assertLessEqual(sum(step["self_s"] for step in steps.values()), value["steps_run_s"])
        dot = steps["product"]
        self.assertEqual((dot["calls"], dot["op"], dot["shape"], dot["computation"]),
                         (10, "dot", "f32[40,40]", "body"))
        self.assertEqual((dot["bytes"], dot["flops"], dot["functions"]), (2 * 6400, 2 * 40**3, 0))
        self.assertEqual(dot["tested"], 10 * 1600)
        self.assertEqual(steps["w"]["tested"], 0)  # its steps' are theirs
        self.assertLessEqual(dot["tier3"], dot["tier2"])
        self.assertEqual(dot["tier2_share"], float(f"{dot['tier2'] / dot['tested']:.3g}"))
        floor = max(dot["bytes"] / value["peaks"]["cached_copy_bytes_per_s"],
                    dot["flops"] / value["peaks"]["f32_flops_per_s"])
        self.assertAlmostEqual(dot["roofline_share"] * dot["self_s"] / 10 / floor, 1, places=2)
        self.assertIsNone(steps["w"]["roofline_share"])
        self.expect(0, "bench", program, *inputs, "--steps", output="%product = f32[40,40] dot")

    # ---- traces ----

    def test_trace(self):
        program, path = self.file("l.hlo", LOOP), self.path("trace.json")
        for command in ("run", "bench"):
            self.expect(0, command, program, "--random-inputs", "1", "--engine", "reference", "--trace", path)
            with open(path) as file:
                trace = json.load(file)
            events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
            # Entry: x is a parameter; zero, t, w, r. Body: i, y, one, j, product, s; condition: i, ten, c.
            self.assertEqual(len(events), 1 + 4 + 10 * 6 + 11 * 3)
            self.assertEqual((trace["otherData"]["events"], trace["otherData"]["dropped_events"]),
                             (len(events), 0))
            # each is rounded to a nanosecond
            run, end = events[0], lambda event: event["ts"] + event["dur"] + 0.002
            self.assertEqual(run["name"], "run")
            loop = next(event for event in events if event["name"] == "w")
            for event in events[1:]:
                self.assertGreaterEqual(event["ts"], 0)
                self.assertLessEqual(end(event) - 0.002, end(run))
                if event["args"]["computation"] != "e":
                    self.assertGreaterEqual(event["ts"] + 0.002, loop["ts"])
                    self.assertLessEqual(end(event) - 0.002, end(loop))
            dot = next(event for event in events if event["name"] == "product")
            self.assertEqual((dot["args"]["flops"], dot["args"]["bytes"]), (2 * 40**3, 2 * 6400))
            self.assertEqual((dot["args"]["kernel"], dot["args"]["shape"]), ("reference", "f32[40,40]"))
            os.remove(path)

    def test_trace_of_a_long_loop_is_cut(self):
        loop = LOOP.replace("constant(10)", "constant(20000)").replace("f32[40,40]", "f32[2,2]")
        program = self.file("l.hlo", loop)
        path = self.path("trace.json")
        self.expect(0, "run", program, "--random-inputs", "1", "--engine", "reference", "--trace", path,
                    error="events; 130003 more are left out")
        # Of 20,000 iterations of 6 events and 20,001 of 3, 50,000 stay.
        with open(path) as file:
            trace = json.load(file)
        self.assertEqual(trace["otherData"]["dropped_events"], 20000 * 6 + 20001 * 3 - 50000)
        self.assertEqual(trace["traceEvents"][-1]["name"], "r")

    def test_trace_by_its_old_name(self):
        program, path = self.file("c.hlo", CONSTANT), self.path("trace.json")
        for command in ("run", "bench"):
            self.expect(0, command, program, "--profile", path,
                        error="note: --profile of run and bench is now --trace")
            with open(path) as file:
                self.assertTrue(json.load(file)["traceEvents"])
            os.remove(path)
            self.expect(2, command, program, "--profile", path, "--trace", self.path("other.json"),
                        error="--trace")
        for flags in (("--shadow",), ("--plugin", "lib.so")):
            for name in ("--trace", "--profile"):
                self.expect(2, "run", program, *flags, name, path, error=name)
        self.assertEqual(os.listdir(self.folder.name), ["c.hlo"])

    def test_trace_that_cannot_be_written(self):
        program = self.file("c.hlo", CONSTANT)
        for command in ("run", "bench"):
            self.expect(5, command, program, "--trace", self.path("none/trace.json"), error="none/trace.json")
        self.expect(3, "run", self.file("bad.hlo", "?"), "--trace", self.path("t.json"), error="error")
        self.expect(5, "run", self.file("w.hlo", ENDLESS), "--max-steps", "9", "--trace",
                    self.path("t.json"), error="steps")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["bad.hlo", "c.hlo", "w.hlo"])

    def test_profile_flags_are_in_the_help(self):
        for command in ("run", "bench"):
            for flag in ("--trace", "--perf-map"):
                self.expect(0, command, "--help", output=flag)
        self.expect(0, "bench", "--help", output="--steps")
        self.expect(2, "plan", self.file("c.hlo", CONSTANT), "--trace", "x.json")

    def test_perf_map_names_generated_code(self):
        body = "\n".join(f"  a{i + 1} = f32[100000] {op}(a{i}, x)"
                         for i, op in enumerate(["multiply", "add", "subtract"]))
        program = self.file("f.hlo", f"HloModule m\nENTRY e {{\n  x = f32[100000] parameter(0)\n  a0 = f32[100000] negate(x)\n{body}\n"
                                     "  ROOT out = f32[100000] abs(a3)\n}\n")
        for flags in ((), ("--perf-map",)):
            process = subprocess.Popen(
                [ASSAY, "run", program, "--random-inputs", "1", "--output", self.path("o.npz"), *flags])
            path = f"/tmp/perf-{process.pid}.map"
            self.assertEqual(process.wait(timeout=60), 0)
            self.assertEqual(os.path.exists(path), bool(flags))
        if b"  jit  " not in self.expect(0, "plan", program).stdout:
            return  # no AVX2
        with open(path) as file:
            lines = [line.split() for line in file]
        os.remove(path)
        self.assertEqual([line[2] for line in lines], ["assay_fused_negate_multiply_add_subtract_abs/out"])
        self.assertGreater(int(lines[0][0], 16), 4096)
        self.assertGreater(int(lines[0][1], 16), 16)


if __name__ == "__main__":
    unittest.main()
