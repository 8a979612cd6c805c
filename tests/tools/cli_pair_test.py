#!/usr/bin/env python3
"""assay diff of two programs: docs/find.md. Usage: cli_pair_test.py ASSAY"""
import json
import unittest

from cli_testing import ADD, ENDLESS, CliCase, floats

DIVIDE = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  c = f32[] constant(7.3)
  b = f32[4] broadcast(c), dimensions={}
  ROOT q = f32[4] divide(x, b), metadata={op_name="div"}
}
"""
# By the inverse, which is rounded.
MULTIPLY = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  c.1 = f32[] constant(0.1369863)
  b.1 = f32[4] broadcast(c.1), dimensions={}
  ROOT p = f32[4] multiply(x, b.1), metadata={op_name="div"}
}
"""
STABLEHLO = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<7.3> : tensor<4xf32>
  %q = stablehlo.divide %x, %c : tensor<4xf32>
  return %q : tensor<4xf32>
}
"""
# Two layers, whose instructions come from one line of source.
LAYERS = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  c = f32[] constant(7.3)
  b = f32[4] broadcast(c), dimensions={}
  q.1 = f32[4] divide(x, b), metadata={op_name="jit(f)/div"}
  y = f32[4] exponential(q.1)
  ROOT q.2 = f32[4] divide(y, b), metadata={op_name="jit(f)/div"}
}
"""
TUPLE = """HloModule m
ENTRY e {
  t = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(t), index=0
  c = f32[] constant(7.3)
  b = f32[4] broadcast(c), dimensions={}
  q = f32[4] divide(x, b)
  ROOT r = (f32[4]) tuple(q)
}
"""


class DiffOfPrograms(CliCase):

    def setUp(self):
        super().setUp()
        self.divide = self.file("divide.hlo", DIVIDE)
        self.multiply = self.file("multiply.hlo", MULTIPLY)
        self.inputs = self.npz("in.npz", arg0=floats(1.7, 2.9, 3.3, 101))

    def test_forms(self):
        """Text, proto, StableHLO and tuples of the same arrays: the same bits."""
        proto = self.file("divide.bin", self.expect(0, "print", self.divide, "--to", "pb").stdout)
        for other in (proto, self.file("divide.mlir", STABLEHLO), self.file("tuple.hlo", TUPLE)):
            self.expect(0, "diff", self.divide, other, "--inputs", self.inputs, output="all equal")
            self.expect(0, "diff", self.divide, other, "--random-inputs", "3", output="all equal")

    def test_one_of_several_layers(self):
        """The counterpart is the instruction of the same layer, though both have the same op_name."""
        first = self.file("first.hlo", LAYERS)
        second = self.file("second.hlo", LAYERS.replace("q.1 = f32[4] divide", "q.1 = f32[4] multiply"))
        self.expect(1, "diff", first, second, "--inputs", self.inputs,
                    output="first difference: %q.1 = f32[4] multiply\n"
                           "  in the first program, by name: %q.1 = f32[4] divide\n")

    def test_difference(self):
        result = self.expect(1, "diff", self.divide, self.multiply, "--inputs", self.inputs,
                             output="first difference: %p = f32[4] multiply\n"
                                    "  in the first program, by op_name: %q = f32[4] divide\n")
        self.assertIn("of 4 elements differ, by up to 1 ulp\n", result.stdout.decode())
        self.expect(0, "diff", self.divide, self.multiply, "--inputs", self.inputs, "--ulps", "1")
        found = json.loads(self.expect(1, "diff", self.divide, self.multiply, "--inputs", self.inputs,
                                       "--json").stdout)
        self.assertFalse(found["conforms"])
        self.assertFalse(found["same_bits"])
        pair = found["first_difference"]["pair"]
        self.assertEqual((pair["first"]["name"], pair["second"]["name"], pair["matched_by"]),
                         ("q", "p", "op_name"))
        self.assertEqual(found["outputs"]["out0"]["max_ulps"], 1)

    def test_profile(self):
        self.expect(0, "diff", self.divide, self.multiply, "--inputs", self.inputs, "--profile", "xla-cpu",
                    output="4 elements, by the bounds of either 4 inside, 0 outside, 0 undecided\n")
        wrong = self.file("wrong.hlo", DIVIDE.replace("7.3", "7.31"))
        self.expect(1, "diff", self.divide, wrong, "--inputs", self.inputs, "--profile", "xla-cpu",
                    output="by the bounds of either 0 inside, 4 outside, 0 undecided\n")
        found = json.loads(self.expect(1, "diff", self.divide, wrong, "--inputs", self.inputs, "--profile",
                                       "xla-cpu", "--json").stdout)
        self.assertEqual(found["outputs"]["out0"]["bounds"]["by_second"]["outside"], 4)
        self.assertEqual(found["first_difference"]["pair"]["second"]["name"], "c")

    def test_first_outside(self):
        """What differs first is rounding, what is wrong comes later."""
        both = {}
        for name, text, of, op in (("right", DIVIDE, "q", "sine"), ("wrong", MULTIPLY, "p", "cosine")):
            both[name] = self.file(name + ".hlo", text.replace("  ROOT ", "  ").replace(
                "\n}", f"\n  a = f32[4] add({of}, {of})\n  ROOT s = f32[4] {op}(a)\n}}"))
        result = self.expect(1, "diff", both["right"], both["wrong"], "--inputs", self.inputs, "--profile",
                             "xla-cpu", output="first difference: %p = f32[4] multiply\n")
        found = json.loads(self.expect(1, "diff", both["right"], both["wrong"], "--inputs", self.inputs,
                                       "--profile", "xla-cpu", "--json").stdout)
        self.assertIsNone(found["first_difference"]["outside"])  # another opcode: no counterpart by its name
        self.assertNotIn("first one outside", result.stdout.decode())
        shifted = self.file("shifted.hlo", MULTIPLY.replace("  ROOT ", "  ").replace(
            "\n}", "\n  w = f32[4] multiply(p, p)\n  a = f32[4] add(w, w)\n  ROOT s = f32[4] sine(a)\n}"))
        self.expect(1, "diff", both["right"], shifted, "--inputs", self.inputs, "--profile", "xla-cpu",
                    output="first one outside of its counterpart's bounds: %a = f32[4] add\n")

    def test_other_interface(self):
        add = self.file("add.hlo", ADD)
        self.expect(3, "diff", self.divide, add, "--random-inputs", "1",
                    error="parameter 0 of the second program is f32[2], want f32[4] as in the first")
        several = self.file("several.hlo", DIVIDE.replace("HloModule m", "HloModule m, num_partitions=2"))
        self.expect(3, "diff", self.divide, several, "--random-inputs", "1", error="diff --spmd")

    def test_usage(self):
        self.expect(2, "diff", self.divide, self.inputs, error="and " + self.inputs + " is an .npz file")
        for flag in (["--isolate"], ["--html", self.path("page.html")], ["--types", "out0=f32"]):
            self.expect(2, "diff", self.divide, self.multiply, *flag,
                        error="diff of two programs: " + flag[0])
        self.expect(2, "diff", self.divide, self.multiply, "--profile", "strict", "--ulps", "1",
                    "--inputs", self.inputs, error="either a --profile or tolerances")
        self.expect(2, "diff", self.divide, self.multiply, error="--inputs")
        self.expect(3, "diff", self.divide, self.file("bad.hlo", "HloModule m\nENTRY e {"), "--inputs",
                    self.inputs, error="bad.hlo")
        self.expect(5, "diff", self.divide, self.path("missing.hlo"), "--inputs", self.inputs,
                    error="missing.hlo")

    def test_limits(self):
        endless = self.file("endless.hlo", ENDLESS)
        self.expect(5, "diff", endless, endless, "--timeout", "0.5", error="timeout")


if __name__ == "__main__":
    unittest.main()
