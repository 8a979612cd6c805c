#!/usr/bin/env python3
"""assay audit: where a program depends on what is left open. Usage: cli_audit_test.py ASSAY"""
import json
import struct
import unittest

from cli_testing import CliCase, npy

DIVIDE = """HloModule m
ENTRY e {
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  ROOT q = s32[3] divide(x, y)
}
"""


def ints(*values):
    return npy("<i4", [len(values)], struct.pack(f"<{len(values)}i", *values))


class Audit(CliCase):
    def audit(self, code, *more, divisor=(1, 0, 0), **expected):
        inputs = self.npz("in.npz", arg0=ints(7, 8, 9), arg1=ints(*divisor))
        return self.expect(code, "audit", self.file("d.hlo", DIVIDE), "--inputs", inputs, *more,
                           **expected).stdout.decode()

    def test_the_text_alone(self):
        shown = self.expect(0, "audit", self.file("d.hlo", DIVIDE)).stdout.decode()
        self.assertIn("integer-division-by-zero: x / 0 and x rem 0 of integers\n", shown)
        self.assertIn(" StableHLO: implementation-defined (Errors)\n XLA:CPU:   -1 (all ones), and x (measured)\n", shown)
        self.assertIn(" may depend:\n", shown)
        self.assertRegex(shown, r"  \S*d.hlo:5:8: '%q = divide'\n")
        self.assertIn("integer-division-overflow", shown)
        self.assertTrue(
            shown.endswith("read without inputs: --inputs or --random-inputs say where it does\n"))

    def test_values(self):
        shown = self.audit(0)
        self.assertRegex(shown, r" depends:\n  \S*d.hlo:5:8: '%q = divide': 2 of 3; first \[1\]: 8, 0\n")
        self.assertNotIn("integer-division-overflow", shown)
        self.assertTrue(shown.endswith("with other values 1 more may depend (--json lists them)\n"))

    def test_nothing_found(self):
        self.assertEqual(self.audit(0, divisor=(1, 2, 3)),
                         "nothing found: on these inputs no value depends on what is left open\n"
                         "with other values 2 more may depend (--json lists them)\n")
        program = self.file("c.hlo", "HloModule m\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n")
        self.assertEqual(self.expect(0, "audit", program).stdout,
                         b"nothing found: on these inputs no value depends on what is left open\n")
        program = self.file("n.hlo", "HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT n = f32[] negate(x)\n}\n")
        self.assertEqual(self.expect(0, "audit", program).stdout,
                         b"nothing found: no instruction depends on what is left open\n")

    def test_json(self):
        found = json.loads(self.audit(0, "--json"))
        self.assertTrue(found["ran"])
        self.assertEqual(found["instructions"], 3)
        self.assertEqual([f["status"] for f in found["findings"]], ["depends", "did not depend"])
        self.assertEqual(found["findings"][0], {
            "point": "integer-division-by-zero", "status": "depends", "instruction": "q", "op": "divide",
            "computation": "e",
            "line": 5, "column": 8, "by_text": "may", "note": "", "runs": 1, "runs_met": 1, "count": 2,
            "of": 3, "first": {"run": 0, "what": "[1]: 8, 0"}})
        self.assertEqual(set(found["points"]), {"integer-division-by-zero", "integer-division-overflow"})
        self.assertEqual(set(found["points"]["integer-division-by-zero"]),
                         {"open", "stablehlo", "xla_cpu", "xla_gpu", "assay"})
        text = json.loads(self.expect(0, "audit", self.file("d.hlo", DIVIDE), "--json").stdout)
        self.assertFalse(text["ran"])
        self.assertEqual([f["status"] for f in text["findings"]], ["may depend", "may depend"])

    def test_limits_and_usage(self):
        self.audit(5, "--max-steps", "1", error="steps (--max-steps): more than the limit of 1")
        self.audit(5, "--memory-limit", "16", error="memory")
        self.audit(2, "--random-inputs", "1")
        self.expect(3, "audit", self.file("bad.hlo", "HloModule"))
        self.expect(0, "audit", self.file("d.hlo", DIVIDE), "--random-inputs", "1")

    def test_several_devices(self):
        inputs = self.npz(
            "two.npz", **{"r0p0/arg0": ints(1, 2, 3), "r1p0/arg0": ints(1, 2, 3), "r0p0/arg1": ints(1, 0, 3),
                                        "r1p0/arg1": ints(0, 0, 0)})
        shown = self.expect(0, "audit", self.file("d.hlo", DIVIDE), "--inputs", inputs, "--replicas",
                            "2").stdout.decode()
        self.assertIn("1 of 3; first [1]: 2, 0", shown)


if __name__ == "__main__":
    unittest.main()
