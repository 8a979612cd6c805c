#!/usr/bin/env python3
"""assay run --why: what is behind an element of an output. Usage: cli_why_test.py ASSAY"""
import json
import struct
import unittest

from cli_testing import CliCase, floats, npy


def matrix(*values):
    return npy("<f4", [2, 3], struct.pack("<6f", *values))


LOST = """ENTRY e {
  x = f32[2] parameter(0)
  big = f32[2] constant({1e8, 1e8})
  sum = f32[2] add(big, x)
  ROOT rest = f32[2] subtract(sum, big)
}
"""


class Why(CliCase):
    def program(self, text):
        return self.file("program.hlo", "HloModule m\n" + text)

    def why(self, text, element, *flags, **arrays):
        """The report as JSON, its nodes by name and index."""
        inputs = self.npz("in.npz", **arrays)
        report = json.loads(self.expect(0, "run", self.program(text), "--inputs", inputs, "--why", element,
                                        "--json", *flags).stdout)
        return report, [(node["element"]["name"], node["element"]["index"], node["element"]["value"])
                        for node in report["nodes"]]

    def test_a_dot(self):
        report, nodes = self.why("""ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[3] parameter(1)
  d = f32[2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT n = f32[2] negate(d)
}
""", "out0[1]", arg0=matrix(9, 9, 9, 3, -1, 0), arg1=floats(1, 2.5, 7))
        # 3 * 1 - 1 * 2.5 + 0 * 7 = 0.5, of magnitude 5.5.
        self.assertEqual(nodes, [("n", [1], "-0.5"), ("d", [1], "0.5"), ("arg0", [1, 0], "3"),
                                 ("arg1", [0], "1"), ("arg0", [1, 1], "-1"), ("arg1", [1], "2.5"),
                                 ("arg0", [1, 2], "0"), ("arg1", [2], "7")])
        self.assertEqual(report["nodes"][1]["sum"],
                         {"terms": 3, "magnitude": 5.5, "factor": 11, "largest": [3, -2.5, 0]})
        self.assertEqual(report["nodes"][1]["children"], [2, 3, 4, 5, 6, 7])

    def test_the_largest_terms_of_a_reduce(self):
        text = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] OP(a, b)
}
ENTRY e {
  x = f32[5] parameter(0)
  c = f32[] constant(0)
  ROOT sum = f32[] reduce(x, c), dimensions={0}, to_apply=add
}
"""
        report, nodes = self.why(text.replace("OP", "add"), "out0", arg0=floats(1, -8, 2, 4, 3))
        self.assertEqual(nodes, [("sum", [], "2"), ("arg0", [1], "-8"), ("arg0", [3], "4"),
                                 ("arg0", [4], "3")])
        self.assertEqual(report["nodes"][0]["sum"],
                         {"terms": 5, "magnitude": 18, "factor": 9, "largest": [-8, 4, 3]})
        self.assertEqual(report["nodes"][0]["more_children"], 3)
        report, nodes = self.why(text.replace("OP", "maximum"), "out0", arg0=floats(1, -8, 2, 4, 3))
        self.assertEqual(nodes[:2], [("sum", [], "4"), ("arg0", [3], "4")])
        self.assertIsNone(report["nodes"][0]["sum"])

    def test_digits_lost(self):
        # Floats near 1e8 are 8 apart: the sum is 1/8 ulp off, and the difference, 0, is 1 off: all digits.
        report, nodes = self.why(LOST, "out0[0]", arg0=floats(1, 8))
        self.assertEqual(nodes, [("rest", [0], "0"), ("sum", [0], "1e+08"), ("big", [0], "1e+08"),
                                 ("arg0", [0], "1")])
        errors = [node["error_ulps"] for node in report["nodes"]]
        self.assertEqual(errors[:2], [2.0**149, 0.125])
        self.assertAlmostEqual(report["nodes"][0]["digits_lost"], 45.154, 3)
        self.assertEqual(report["nodes"][1]["digits_lost"], 0)
        # 8 is representable beside it.
        self.assertEqual(self.why(LOST, "out0[1]", arg0=floats(1, 8))[0]["nodes"][0]["error_ulps"], 0)

    def test_errors_of_iterations(self):
        # Floats from 2^24 on are 2 apart: 2^24 + 1 is rounded back, so that each iteration loses half an ulp.
        report, nodes = self.why("""c {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(i, three), direction=LT
}
one {
  q = f32[] parameter(0)
  k = f32[] constant(1)
  ROOT more = f32[] add(q, k)
}
b {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  n = s32[] constant(1)
  next = s32[] add(i, n)
  y = f32[] call(x), to_apply=one
  ROOT t = (s32[], f32[]) tuple(next, y)
}
ENTRY e {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[]) tuple(zero, x)
  ROOT loop = (s32[], f32[]) while(t), condition=c, body=b
}
""", "out1", arg0=npy("<f4", [], struct.pack("<f", 2.0**24)))
        errors = {node["element"]["name"]: node["error_ulps"] for node in report["nodes"]}
        self.assertEqual({name: error for name, error in errors.items() if name.endswith("more")},
                         {"loop/it0002/y/more": 1.5, "loop/it0001/y/more": 1, "loop/it0000/y/more": 0.5})

    def test_loops_and_branches(self):
        report, nodes = self.why("""c {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  two = s32[] constant(2)
  ROOT less = pred[] compare(i, two), direction=LT
}
b {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  twice = f32[2] add(x, x)
  ROOT t = (s32[], f32[2]) tuple(next, twice)
}
no {
  q = f32[2] parameter(0)
  ROOT r = f32[2] negate(q)
}
yes {
  v = f32[2] parameter(0)
  ROOT w = f32[2] sqrt(v)
}
ENTRY e {
  x = f32[2] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[2]) tuple(zero, x)
  loop = (s32[], f32[2]) while(t), condition=c, body=b
  y = f32[2] get-tuple-element(loop), index=1
  yes_or_no = pred[] constant(true)
  ROOT s = f32[2] conditional(yes_or_no, y, y), true_computation=yes, false_computation=no
}
""", "out0[1]", arg0=floats(1, 4))
        self.assertEqual([name for name, _, _ in nodes],
                         ["s/w", "loop/it0001/twice", "loop/it0000/twice", "arg0"])
        self.assertEqual([value for _, _, value in nodes], ["4", "16", "8", "4"])
        self.assertEqual(report["nodes"][1]["element"]["loops"],
                         [{"loop": "loop", "iteration": 1, "condition": False}])
        self.assertEqual([node["error_ulps"] for node in report["nodes"][:3]], [0, 0, 0])

    def test_text(self):
        inputs = self.npz("in.npz", arg0=floats(1, 4))
        text = self.expect(0, "run", self.program("""ENTRY e {
  x = f32[2] parameter(0)
  s = f32[2] add(x, x)
  ROOT m = f32[2] multiply(s, s)
}
"""), "--inputs", inputs, "--why", "out0[1]").stdout.decode()
        self.assertEqual(text, "%m = f32[2] multiply, element [1], is 64\n"
                               "  %s = f32[2] add, element [1], is 8\n"
                               "    %arg0 = f32[2] parameter, element [1], is 4\n"
                               "    %arg0 = f32[2] parameter, element [1], is 4\n"
                               "  %s = f32[2] add, element [1], is 8 (above)\n")
        text = self.expect(0, "run", self.program(LOST), "--inputs", self.npz("b.npz", arg0=floats(1, 8)),
                           "--why", "out0[0]").stdout.decode()
        self.assertTrue(text.startswith("%rest = f32[2] subtract, element [0], is 0; 7.14e+44 ulps off, "
                                        "45.2 digits lost\n"), text)

    def test_what_is_not_shown_is_counted(self):
        # A chain of 300 instructions: 200 elements are shown.
        lines = ["  x = f32[2] parameter(0)", "  y0 = f32[2] negate(x)"]
        lines += [f"  y{k} = f32[2] negate(y{k - 1})" for k in range(1, 300)]
        lines[-1] = lines[-1].replace("  y299", "  ROOT y299")
        report, nodes = self.why("ENTRY e {\n" + "\n".join(lines) + "\n}\n", "out0[0]", arg0=floats(1, 2))
        self.assertEqual((len(nodes), nodes[-1][0]), (200, "y100"))
        self.assertEqual(report["nodes"][-1]["more_children"], 1)

    def test_elements_of_other_devices(self):
        text = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  sum = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  part = f32[2] reduce-scatter(x), replica_groups={{1,0}}, dimensions={0}, to_apply=add
  all = f32[8] all-gather(x), replica_groups={{1,0}}, dimensions={0}
  turned = f32[4] all-to-all(x), replica_groups={{0,1}}, dimensions={0}
  sent = f32[4] collective-permute(x), source_target_pairs={{0,1}}
  told = f32[4] collective-broadcast(x), replica_groups={{1,0}}
  ROOT r = (f32[4], f32[2], f32[8], f32[4], f32[4], f32[4]) tuple(sum, part, all, turned, sent, told)
}
"""
        arrays = {"r0p0/arg0": floats(1, 2, 3, 4), "r1p0/arg0": floats(5, 6, 7, 8)}
        for element, wanted in (
                ("r0p0/out0[2]", [("r0p0/sum", [2], "10"), ("r1p0/arg0", [2], "7"), ("r0p0/arg0", [2], "3")]),
                # Device 0 is the second one of its group, and has the second part.
                ("r0p0/out1[1]", [("r0p0/part", [1], "12"), ("r1p0/arg0", [3], "8"),
                                  ("r0p0/arg0", [3], "4")]),
                ("r1p0/out2[5]", [("r1p0/all", [5], "2"), ("r0p0/arg0", [1], "2")]),
                ("r1p0/out3[0]", [("r1p0/turned", [0], "3"), ("r0p0/arg0", [2], "3")]),
                ("r1p0/out3[3]", [("r1p0/turned", [3], "8"), ("r1p0/arg0", [3], "8")]),
                ("r1p0/out4[1]", [("r1p0/sent", [1], "2"), ("r0p0/arg0", [1], "2")]),
                ("r0p0/out4[1]", [("r0p0/sent", [1], "0")]),  # nobody sends
                ("r0p0/out5[3]", [("r0p0/told", [3], "8"), ("r1p0/arg0", [3], "8")]),
        ):
            report, nodes = self.why(text, element, "--replicas", "2", **arrays)
            self.assertEqual(nodes, wanted, element)
        report, _ = self.why(text, "r0p0/out0[2]", "--replicas", "2", **arrays)
        self.assertEqual(report["nodes"][0]["sum"],
                         {"terms": 2, "magnitude": 10, "factor": 1, "largest": [7, 3]})

    def test_devices_have_no_shadow(self):
        report, nodes = self.why("""ENTRY e {
  x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x)
}
""", "r1p0/out0[0]", "--replicas", "2", **{"r0p0/arg0": floats(1, 1), "r1p0/arg0": floats(2, 2)})
        self.assertEqual(nodes, [("r1p0/n", [0], "-2"), ("r1p0/arg0", [0], "2")])
        self.assertIn("one device", report["no_shadow"])

    def test_without_a_device_it_is_the_first(self):
        _, nodes = self.why("ENTRY e {\n  r = u32[] replica-id()\n  x = f32[2] parameter(0)\n"
                            "  ROOT n = f32[2] negate(x)\n}\n", "out0[1]", "--replicas", "2",
                            **{"r0p0/arg0": floats(1, 3), "r1p0/arg0": floats(2, 2)})
        self.assertEqual(nodes[0], ("r0p0/n", [1], "-3"))

    def test_elements_beyond_run_time_sizes(self):
        program = self.program("ENTRY e {\n  x = f32[<=4] parameter(0)\n  ROOT n = f32[<=4] negate(x)\n}\n")
        inputs = self.npz("in.npz", arg0=floats(1, 2))
        self.expect(0, "run", program, "--inputs", inputs, "--why", "out0[1]", output="is -2")
        self.expect(5, "run", program, "--inputs", inputs, "--why", "out0[2]",
                    error="out0 has the run-time sizes [2], and no element [2]")
        self.expect(2, "run", program, "--inputs", inputs, "--why", "out0[4]", error="no element [4]")

    def test_usage(self):
        program, inputs = self.program(LOST), self.npz("in.npz", arg0=floats(1, 8))
        for element, error in [("out7", "'out7' is no output of the program, which has out0"),
                               ("out0[2]", "out0 is f32[2], which has no element [2]"),
                               ("out0[0,0]", "out0 is f32[2], which has no element [0,0]"),
                               ("out0", "which has no element []"),
                               ("out0[x]", "'x' is no index"),
                               ("out0[0", "'out0[0' is no element")]:
            self.expect(2, "run", program, "--inputs", inputs, "--why", element, error=error)


if __name__ == "__main__":
    unittest.main()
