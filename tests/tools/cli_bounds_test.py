#!/usr/bin/env python3
"""assay diff --profile: is a difference a bug, or rounding? Usage: cli_bounds_test.py ASSAY"""
import json
import struct
import unittest

from cli_testing import CliCase, floats, npy

SUM = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(x, z), dimensions={0}, to_apply=add
  b = f32[2] broadcast(s), dimensions={}
  ROOT t = (f32[2], f32[4]) tuple(b, x)
}
"""


class Bounds(CliCase):
    def diff(self, code, *outputs, profile="strict", more=(), **expected):
        program, inputs = self.file("sum.hlo", SUM), self.npz("in.npz", arg0=floats(1, 2, 3, 4))
        actual = self.npz("out.npz", **{f"out{k}": array for k, array in enumerate(outputs)})
        return self.expect(code, "diff", program, "--inputs", inputs, "--actual", actual, "--profile", profile, *more, **expected)

    def test_rounding_is_no_violation(self):
        shown = self.diff(0, floats(10, 10.000002), floats(1, 2, 3, 4)).stdout.decode()
        self.assertIn("out0: 2 elements, 2 inside, 0 outside, 0 undecided; inside up to", shown)
        self.assertIn("out1: 4 elements, 4 inside, 0 outside, 0 undecided\n", shown)

    def test_a_violation_is_shown(self):
        shown = self.diff(1, floats(10, 10.0001), floats(1, 2, 3, 4.0000005)).stdout.decode()
        self.assertIn("out0: 2 elements, 1 inside, 1 outside", shown)
        self.assertIn("outside [1]: exact 10, actual 10.0001", shown)
        self.assertIn("outside [3]: exact 4, actual 4.00000048 (1 ulps), bound +-0, inf of it", shown)

    def test_a_missing_output_is_a_violation(self):
        self.diff(1, floats(10, 10), output="out1: the backend gave no such output")

    def test_json(self):
        found = json.loads(self.diff(1, floats(10, 10.0001), floats(1, 2, 3, 4), more=["--json"]).stdout)
        self.assertFalse(found["conforms"])
        self.assertEqual(found["outputs"]["out0"]["outside"], 1)
        self.assertEqual(found["outputs"]["out0"]["worst"][0]["index"], [1])
        self.assertEqual(found["outputs"]["out1"]["inside"], 4)

    def test_what_is_not_known_is_no_violation(self):
        program = self.file("c.hlo", "HloModule m\nENTRY e {\n  x = f32[1,1] parameter(0)\n"
                                     "  ROOT c = f32[1,1] cholesky(x), lower=true\n}\n")
        one = npy("<f4", [1, 1], struct.pack("<f", 4))
        inputs, actual = self.npz("c.npz", arg0=one), self.npz("o.npz", out0=one)
        shown = self.expect(0, "diff", program, "--inputs", inputs, "--actual", actual, "--profile", "strict").stdout.decode()
        self.assertIn("out0: 1 elements, 0 inside, 0 outside, 1 undecided\n", shown)
        self.assertIn("undecided from '%c = cholesky' on: no rule", shown)

    def test_profiles_from_files(self):
        profile = self.file("p.profile", "inherit strict\naccumulate f32 bf16\n")
        self.diff(0, floats(10, 10.1), floats(1, 2, 3, 4), profile=profile)
        profile = self.file("q.profile", "ulps fly * 1\n")
        self.diff(5, floats(10, 10.1), floats(1, 2, 3, 4), profile=profile, error="line 1: 'fly' is no operation")
        self.diff(5, floats(1), floats(1), profile="nobody", error="'nobody' is neither a profile (strict, xla-cpu,")

    def test_wrong_usage(self):
        program = self.file("sum.hlo", SUM)
        self.expect(2, "diff", program, "--profile", "strict", error="--actual OUT.npz")
        self.diff(2, floats(1), more=["--rtol", "1"], error="either a --profile or tolerances")

    def test_dynamic_dimensions_and_several_devices_are_refused(self):
        program = self.file("d.hlo", "HloModule m\nENTRY e {\n  x = f32[<=4] parameter(0)\n  ROOT n = f32[<=4] negate(x)\n}\n")
        inputs, actual = self.npz("i.npz", arg0=floats(1, 2)), self.npz("a.npz", out0=floats(-1, -2))
        self.expect(4, "diff", program, "--inputs", inputs, "--actual", actual, "--profile", "strict", error="dynamic dimensions")
        program, inputs = self.file("sum.hlo", SUM), self.npz("s.npz", arg0=floats(1, 2, 3, 4))
        self.expect(4, "diff", program, "--inputs", inputs, "--actual", actual, "--profile", "strict", "--replicas", "2",
                    error="2 devices")


if __name__ == "__main__":
    unittest.main()
