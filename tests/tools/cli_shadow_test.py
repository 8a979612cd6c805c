#!/usr/bin/env python3
"""assay run --shadow: where the error of a program's outputs comes from. Usage: cli_shadow_test.py ASSAY"""
import json
import unittest

from cli_testing import ENDLESS, CliCase, floats

LOST = """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  big = f32[2] constant({1e8, 1e8})
  sum = f32[2] add(big, x)
  ROOT rest = f32[2] subtract(sum, big)
}
"""


class Shadow(CliCase):
    def setUp(self):
        super().setUp()
        self.program, self.inputs = self.file("lost.hlo", LOST), self.npz("in.npz", arg0=floats(1, 8))

    def test_the_rounding_that_lost_it_is_named(self):
        found = json.loads(
            self.expect(0, "run", self.program, "--inputs", self.inputs, "--shadow", "--json").stdout)
        by_name = {instruction["name"]: instruction for instruction in found["instructions"]}
        self.assertEqual(by_name["sum"]["local_ulps"], 0.125)
        self.assertAlmostEqual(by_name["sum"]["share"], 1)
        self.assertEqual((by_name["rest"]["local_ulps"], by_name["rest"]["share"]), (0, None))
        self.assertAlmostEqual(found["outputs"]["out0"]["relative_error"], 1 / 8)
        lines = self.expect(0, "run", self.program, "--inputs", self.inputs,
                            "--shadow").stdout.decode().splitlines()
        self.assertIn("%sum = f32[2] add", lines[2])
        self.assertIn("%rest = f32[2] subtract", lines[3])

    def test_limits_hold(self):
        self.expect(5, "run", self.file("endless.hlo", ENDLESS), "--shadow", "--random-inputs", "1",
                    "--timeout", "0.3", error="timeout")
        self.expect(5, "run", self.file("endless.hlo", ENDLESS), "--shadow", "--random-inputs", "1",
                    "--max-steps", "1000", error="max-steps")
        large = self.file("large.hlo", "HloModule m\nENTRY e {\n  i = f32[1000] iota(), iota_dimension=0\n"
                                       "  ROOT s = f32[1000] sqrt(i)\n}\n")
        self.expect(5, "run", large, "--shadow", "--memory-limit", "50000", error="256 bits")

    def test_what_it_does_not_take(self):
        self.expect(2, "run", self.program, "--inputs", self.inputs, "--shadow", "--engine", "fast",
                    error="--shadow")
        dynamic = self.file("d.hlo", "HloModule m\nENTRY e {\n  x = f32[<=4] parameter(0)\n  ROOT n = f32[<=4] negate(x)\n}\n")
        self.expect(4, "run", dynamic, "--inputs", self.inputs, "--shadow", error="dynamic dimensions")
        self.expect(4, "run", self.program, "--inputs", self.inputs, "--shadow", "--replicas", "2",
                    error="one device")


if __name__ == "__main__":
    unittest.main()
