#!/usr/bin/env python3
"""assay run --trace-nan: programs whose first producer of a NaN is known by hand. The programs of
tests/find/origin/programs are written by make_programs.py there. Usage: cli_origin_test.py ASSAY"""
import json
import pathlib
import struct
import unittest

from cli_testing import CliCase, floats, npy

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "find/origin/programs"
INF, NAN = float("inf"), float("nan")


def matrix(*values):
    return npy("<f4", [2, 3], struct.pack("<6f", *values))


class Trace(CliCase):
    def trace(self, name, *flags, what="nan", **arrays):
        """The report as JSON."""
        program = PROGRAMS / name if isinstance(name, str) else name
        inputs = ["--inputs", self.npz("in.npz", **arrays)] if arrays else []
        return json.loads(self.expect(0, "run", str(program), *inputs, "--trace-what", what, "--json",
                                      *flags).stdout)

    def hlo(self, text):
        return pathlib.Path(self.file("program.hlo", "HloModule m\n" + text))

    def check_first(self, report, name, index, value, operands=None):
        first = report["first"]
        self.assertEqual((first["element"]["name"], first["element"]["index"], first["element"]["value"]),
                         (name, index, value))
        if operands is not None:
            self.assertEqual([(of["name"], of["index"], of["value"]) for of in first["operands"]], operands)

    def path_of(self, output):
        return [(of["name"], of["index"]) for of in output["path"]]

    # ---- one program for each way to make a NaN ----

    def test_scan(self):
        # sqrt'(0) is infinite, and the gradient of the branch not taken is 0; in iteration 1 of the loop that
        # goes backward the element is number 2.
        scalar = npy("<f4", [], struct.pack("<f", 0.3))
        report = self.trace("nan_in_scan.mlir", arg0=floats(4, 1, 0, 2), arg1=scalar)
        first = report["first"]["element"]
        self.assertRegex(first["name"], r"^while\.\d+/it0001/call\.148/multiply\.54$")
        loop = first["name"].split("/")[0]
        self.assertEqual(first["loops"], [{"loop": loop, "iteration": 1, "condition": False}])
        self.assertEqual([of["value"] for of in report["first"]["operands"]], ["0", "inf"])
        output = report["outputs"][0]
        self.assertEqual((output["key"], output["count"], output["index"], output["from_first"]),
                         ("out0", 1, [2], True))
        path = self.path_of(output)
        self.assertEqual(path[0], (first["name"], []))
        updates = [(name, index) for name, index in path if "dynamic-update-slice" in name]
        self.assertEqual([name.split("/")[1] for name, _ in updates], ["it0001", "it0002", "it0003"])
        self.assertEqual([index for _, index in updates], [[2], [2], [2]])
        self.assertEqual(report["others"], [])

    def test_division_by_zero_in_a_masked_gradient(self):
        report = self.trace("masked_gradient.mlir", arg0=floats(1, 0, 2, 3))
        self.check_first(report, "multiply.19", [1], "nan",
                         [("call.18/select.5", [1], "0"), ("divide.15", [1], "inf")])
        self.assertEqual(self.path_of(report["outputs"][0]),
                         [("multiply.19", [1]), ("multiply.20", [1]), ("negate.21", [1]), ("add.24", [1])])
        # The other term of the quotient's rule has 0/0.
        self.assertEqual([(of["element"]["name"], of["element"]["index"]) for of in report["others"]],
                         [("divide.22", [1])])

    def test_log_of_a_negative_mean(self):
        report = self.trace("log_mean.mlir", arg0=floats(-1, -2, 1, 0))
        self.check_first(report, "log.9", [], "nan", [("divide.8", [], "-0.5")])
        self.assertEqual(self.path_of(report["outputs"][0]),
                         [("log.9", []), ("broadcast.10", [0]), ("add.11", [0])])
        self.assertEqual(report["outputs"][0]["count"], 4)

    def test_overflow_of_bf16(self):
        # The largest bf16 is 3.39e38, with the next one 2^128: 3.4e38 is nearer to that.
        inputs = {"arg0": floats(1, 3.4e38, -3.4e38, 2)}
        report = self.trace("bf16_overflow.mlir", what="overflow", **inputs)
        first = report["first"]
        self.assertEqual((first["element"]["name"], first["element"]["index"], first["element"]["value"]),
                         ("convert.2", [1], "inf"))
        self.assertEqual(first["elements"], 2)
        self.assertEqual(first["operands"][0]["name"], "arg0")
        report = self.trace("bf16_overflow.mlir", **inputs)
        self.check_first(report, "subtract.3", [1], "nan",
                         [("convert.2", [1], "inf"), ("convert.2", [1], "inf")])

    def test_softmax_of_a_full_mask(self):
        mask = npy("|b1", [2, 3], bytes([1, 0, 1, 0, 0, 0]))
        report = self.trace("masked_softmax.mlir", arg0=matrix(*range(6)), arg1=mask)
        self.check_first(report, "subtract.22", [1, 0], "nan",
                         [("call.10/select.6", [1, 0], "-inf"), ("broadcast.21", [1, 0], "-inf")])
        self.assertEqual((report["first"]["elements"], report["outputs"][0]["count"]), (3, 3))

    def test_zero_times_infinity(self):
        report = self.trace("zero_times_infinity.mlir", arg0=matrix(1, 2, 3, 0, 0, 0),
                            arg1=matrix(1, 1, 1, 1, 1, INF))
        self.check_first(report, "multiply.3", [1, 2], "nan",
                         [("arg0", [1, 2], "0"), ("arg1", [1, 2], "inf")])
        self.assertEqual(self.path_of(report["outputs"][0]), [("multiply.3", [1, 2]), ("reduce.8", [2])])

    def test_sqrt_at_zero_in_a_gradient(self):
        report = self.trace("norm_gradient.mlir", arg0=floats(0, 0, 0, 0))
        self.check_first(report, "multiply.14", [0], "nan",
                         [("arg0", [0], "0"), ("broadcast.13", [0], "inf")])
        self.assertEqual([of["element"]["name"] for of in report["others"]], ["multiply.15"])
        # The infinity comes from 0.5 / sqrt(0).
        report = self.trace("norm_gradient.mlir", what="inf", arg0=floats(0, 0, 0, 0))
        self.check_first(report, "divide.10", [], "inf", [("constant.9", [], "0.5"), ("sqrt.8", [], "0")])

    def test_padding_with_nan(self):
        report = self.trace("nan_padding.mlir", arg0=floats(1, 2, 3, 4))
        self.check_first(report, "constant.2", [], "nan", [])
        output = report["outputs"][0]
        self.assertEqual((output["count"], output["index"]), (2, [0]))
        self.assertEqual(self.path_of(output), [("constant.2", []), ("pad.3", [0]), ("reduce-window.9", [0])])

    # ---- where it ends ----

    def test_convert_to_integers_drops_it(self):
        report = self.trace("nan_to_int.mlir", arg0=floats(1, -1, 2, 3))
        self.check_first(report, "log.2", [1], "nan", [("arg0", [1], "-1")])
        self.assertEqual(report["outputs"], [])
        self.assertEqual([of["name"] for of in report["ended_at"]], ["convert.3"])

    def test_select_drops_it(self):
        report = self.trace("nan_selected.mlir", arg0=floats(1, -1, 2, 3))
        self.check_first(report, "log.11", [1], "nan", [("arg0", [1], "-1")])
        self.assertEqual(report["outputs"][0]["count"], 0)
        self.assertEqual([of["name"] for of in report["ended_at"]], ["call.13/select.6"])

    def test_minimum_and_maximum_keep_it(self):
        report = self.trace("nan_clipped.mlir", arg0=floats(1, -1, 2, 3))
        self.assertEqual(self.path_of(report["outputs"][0]),
                         [("log.11", [1]), ("call.14/maximum.6", [1]), ("call.14/minimum.9", [1])])
        self.assertEqual(report["ended_at"], [])

    def test_compare_drops_it(self):
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2] parameter(0)
  l = f32[2] log(x)
  c = pred[2] compare(l, l), direction=NE
  n = f32[2] negate(x)
  ROOT s = f32[2] select(c, n, x)
}
"""), arg0=floats(-1, 1))
        self.check_first(report, "l", [0], "nan")
        self.assertEqual([of["name"] for of in report["ended_at"]], ["c"])

    def test_a_slice_that_leaves_it_out_ends_nothing(self):
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2] parameter(0)
  l = f32[2] log(x)
  s = f32[1] slice(l), slice={[1:2]}
  f = f32[1] slice(l), slice={[0:1]}
  i = s32[1] convert(f)
  ROOT t = (f32[1], s32[1]) tuple(s, i)
}
"""), arg0=floats(-1, 1))
        self.assertEqual([of["name"] for of in report["ended_at"]], ["i"])

    # ---- where it comes from ----

    def test_an_argument(self):
        report = self.trace("log_mean.mlir", arg0=floats(1, 2, NAN, 4))
        self.check_first(report, "arg0", [2], "nan", [])
        # Output 0 has it by the mean of all, and walks find the first operand first.
        self.assertEqual(self.path_of(report["outputs"][0]),
                         [("arg0", [2]), ("reduce.6", []), ("divide.8", []), ("log.9", []),
                          ("broadcast.10", [0]), ("add.11", [0])])

    def test_a_branch(self):
        report = self.trace("nan_in_branch.mlir", arg0=floats(-1, 0, 1, 2))
        self.assertRegex(report["first"]["element"]["name"], r"^conditional\.13/sqrt\.10$")
        self.assertEqual(report["first"]["element"]["index"], [0])
        report = self.trace("nan_in_branch.mlir", arg0=floats(1, -1, 1, 2))
        self.assertRegex(report["first"]["element"]["name"], r"^conditional\.13/sqrt\.12$")
        self.assertEqual(report["first"]["operands"][0]["name"], "arg0")

    def test_a_reducer_is_named_as_the_reduce(self):
        report = self.trace(self.hlo("""add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
}
"""), arg0=floats(1, INF, 2, -INF))
        # Infinities are shown first: there are five operand elements.
        self.check_first(report, "sum", [], "nan")
        self.assertEqual([(of["name"], of["index"], of["value"]) for of in report["first"]["operands"][:2]],
                         [("arg0", [1], "inf"), ("arg0", [3], "-inf")])
        self.assertEqual(report["first"]["more_operands"], 1)

    def test_a_fusion_and_its_source_line(self):
        report = self.trace(self.hlo("""f {
  a = f32[2] parameter(0)
  ROOT l = f32[2] log(a), metadata={op_name="jit(f)/log" source_file="model.py" source_line=12}
}
ENTRY e {
  x = f32[2] parameter(0)
  g = f32[2] fusion(x), kind=kLoop, calls=f
  ROOT t = f32[2] transpose(g), dimensions={0}
}
"""), arg0=floats(1, -1))
        self.check_first(report, "g/l", [1], "nan")
        self.assertEqual(report["first"]["element"]["source"], "model.py:12")
        self.assertEqual(self.path_of(report["outputs"][0]), [("g/l", [1]), ("t", [1])])

    def test_moves_keep_track_of_the_element(self):
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2,3] parameter(0)
  l = f32[2,3] log(x)
  i = s32[2] constant({2, 0})
  g = f32[2,2] gather(l, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={2,1}
  zero = f32[] constant(0)
  p = f32[3,2] pad(g, zero), padding=1_0x0_0
  r = f32[3,2] reverse(p), dimensions={0}
  ROOT c = f32[3,4] concatenate(r, r), dimensions={1}
}
"""), arg0=matrix(1, 1, 1, 1, 1, -1))
        # l[1,2] -> g[1,0] -> p[2,0] -> r[0,0] -> c[0,0] and c[0,2].
        self.assertEqual(self.path_of(report["outputs"][0]),
                         [("l", [1, 2]), ("g", [1, 0]), ("p", [2, 0]), ("r", [0, 0]), ("c", [0, 0])])
        self.assertEqual(report["outputs"][0]["count"], 2)

    def test_sort_and_scatter(self):
        report = self.trace(self.hlo("""less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER
}
last {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] log(x)
  s = f32[3] sort(y), dimensions={0}, to_apply=less
  i = s32[3,1] constant({{4}, {0}, {2}})
  zeros = f32[5] constant({0, 0, 0, 0, 0})
  ROOT out = f32[5] scatter(zeros, i, s), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last
}
"""), arg0=floats(1, -1, 2))
        # Sorted it is the last, which goes to element 2.
        self.assertEqual(self.path_of(report["outputs"][0]),
                         [("y", [1]), ("s", [2]), ("out", [2])])

    def test_devices(self):
        program = self.hlo("""add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  l = f32[2] log(x)
  ROOT r = f32[2] all-reduce(l), replica_groups={}, to_apply=add
}
""")
        report = self.trace(program, "--replicas", "2",
                            **{"r0p0/arg0": floats(1, 1), "r1p0/arg0": floats(1, -1)})
        self.check_first(report, "r1p0/l", [1], "nan")
        self.assertEqual(report["first"]["element"]["device"], "r1p0")
        for output in report["outputs"]:
            device = output["key"].split("/")[0]
            self.assertEqual(self.path_of(output), [("r1p0/l", [1]), (f"{device}/r", [1])])

    def test_outputs_that_share_a_path(self):
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2] parameter(0)
  l = f32[2] log(x)
  n = f32[2] negate(l)
  a = f32[2] abs(n)
  ROOT t = (f32[2], f32[2], f32[2]) tuple(a, n, a)
}
"""), arg0=floats(1, -1))
        self.assertEqual([self.path_of(output) for output in report["outputs"]],
                         [[("l", [1]), ("n", [1]), ("a", [1])], [("l", [1]), ("n", [1])],
                          [("l", [1]), ("n", [1]), ("a", [1])]])

    def test_the_first_is_found_behind_another(self):
        # The sum has NaNs of two logarithms; a walk by first operands meets the later one.
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2] parameter(0)
  first = f32[2] log(x)
  y = f32[2] sqrt(x)
  ROOT s = f32[2] add(y, first)
}
"""), arg0=floats(-1, 1))
        self.assertEqual(self.path_of(report["outputs"][0]), [("first", [0]), ("s", [0])])
        self.assertTrue(report["outputs"][0]["from_first"])
        self.assertEqual([of["element"]["name"] for of in report["others"]], ["y"])

    def test_an_output_of_another_producer(self):
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2] parameter(0)
  first = f32[2] log(x)
  i = s32[2] convert(first)
  y = f32[2] sqrt(x)
  ROOT t = (s32[2], f32[2]) tuple(i, y)
}
"""), arg0=floats(-1, 1))
        output = report["outputs"][0]
        self.assertEqual((output["key"], output["from_first"]), ("out1", False))
        self.assertEqual(self.path_of(output), [("y", [0])])
        self.assertEqual([of["name"] for of in report["ended_at"]], ["i"])

    def test_a_select_has_the_operand_that_it_chose(self):
        report = self.trace(self.hlo("""ENTRY e {
  x = f32[2] parameter(0)
  p = pred[2] constant({false, true})
  l = f32[2] log(x)
  r = f32[2] sqrt(x)
  ROOT s = f32[2] select(p, l, r)
}
"""), arg0=floats(-1, 1))
        self.check_first(report, "l", [0], "nan")
        self.assertEqual(self.path_of(report["outputs"][0]), [("r", [0]), ("s", [0])])
        self.assertEqual([of["name"] for of in report["ended_at"]], ["s"])

    def test_bits_that_are_a_nan(self):
        # 0x7fc00000 is a NaN of f32; 0x7ff8 << 48 one of f64, whose upper half is 0x7ff80000, another of f32.
        program = self.hlo("""ENTRY e {
  x = u32[2,2] parameter(0)
  f = f32[2,2] bitcast-convert(x)
  d = f64[2] bitcast-convert(f)
  h = f32[2,2] bitcast-convert(d)
  ROOT t = (f64[2], f32[2,2]) tuple(d, h)
}
""")
        bits = struct.pack("<4I", 0, 0x7fc00000, 0, 0x7ff80000)
        report = self.trace(program, arg0=npy("<u4", [2, 2], bits))
        self.check_first(report, "f", [0, 1], "nan", [("arg0", [0, 1], "2143289344")])
        self.assertEqual(self.path_of(report["outputs"][0]), [("f", [1, 1]), ("d", [1])])
        self.assertEqual(self.path_of(report["outputs"][1]), [("f", [1, 1]), ("d", [1]), ("h", [1, 1])])
        # 0x7fc00000 << 32 is a finite f64, of which h makes a NaN again.
        self.assertEqual([(of["element"]["name"], of["element"]["index"]) for of in report["others"]],
                         [("h", [0, 1])])

    def test_windows(self):
        report = self.trace(self.hlo("""both {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  s = f32[] add(a, c)
  i = s32[] add(b, d)
  ROOT t = (f32[], s32[]) tuple(s, i)
}
ENTRY e {
  x = f32[4] parameter(0)
  l = f32[4] log(x)
  n = s32[4] iota(), iota_dimension=0
  zero = f32[] constant(0)
  none = s32[] constant(0)
  ROOT w = (f32[2], s32[2]) reduce-window(l, n, zero, none), window={size=2 stride=2}, to_apply=both
}
"""), arg0=floats(1, 1, 1, -1))
        self.assertEqual(self.path_of(report["outputs"][0]), [("l", [3]), ("w{0}", [1])])

    # ---- limits ----

    def test_steps_for_which_there_is_no_room_are_counted(self):
        lines = ["  i = f32[1000] iota(), iota_dimension=0", "  n = f32[1000] negate(i)",
                 "  l0 = f32[1000] log(n)"]
        lines += [f"  l{k} = f32[1000] cosine(l{k - 1})" for k in range(1, 12)]
        program = self.hlo("ENTRY e {\n" + "\n".join(lines) + "\n  ROOT r = f32[1000] negate(l11)\n}\n")
        report = self.trace(program, "--memory-limit", "40000")
        self.check_first(report, "l0", [1], "nan")
        # 20,000 bytes hold n, l0 and two more.
        self.assertEqual(report["left_out"], 10)
        output = report["outputs"][0]
        self.assertEqual((output["from_first"], output["complete"]), (False, False))
        text = self.expect(0, "run", str(program), "--trace-nan", "--memory-limit", "40000").stdout.decode()
        self.assertIn("10 steps left out, by the limits on their number and on memory", text)
        self.expect(5, "run", str(program), "--trace-nan", "--memory-limit", "5000", error="memory")

    # ---- other kinds ----

    def test_subnormal_results(self):
        report = self.trace(self.hlo("ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] multiply(x, x)\n"
                                     "  ROOT z = f32[2] negate(y)\n}\n"),
                            what="subnormal", arg0=floats(1, 2.0**-70))
        self.check_first(report, "y", [1], "7.17465e-43")
        self.assertEqual(self.path_of(report["outputs"][0]), [("y", [1]), ("z", [1])])

    def test_integers_that_a_conversion_does_not_reach(self):
        report = self.trace(self.hlo("ENTRY e {\n  x = f32[2] parameter(0)\n"
                                     "  ROOT y = s8[2] convert(x)\n}\n"),
                            what="overflow", arg0=floats(127.5, 128))
        self.check_first(report, "y", [1], "127")

    def test_infinities_of_constants_are_no_overflow(self):
        mask = npy("|b1", [2, 3], bytes([1, 0, 1, 1, 1, 1]))
        report = self.trace("masked_softmax.mlir", what="inf", arg0=matrix(*range(6)), arg1=mask)
        self.assertIsNone(report["first"])

    # ---- text and usage ----

    def test_text(self):
        inputs = self.npz("in.npz", arg0=floats(1, -1, 2, 3))
        lines = self.expect(0, "run", str(PROGRAMS / "nan_selected.mlir"), "--inputs", inputs,
                            "--trace-nan").stdout.decode().splitlines()
        self.assertEqual(lines, [
            "the first NaN: %log.11 = f32[4] log, element [1], is nan",
            "  of %arg0 = f32[4] parameter, element [1], is -1",
            "out0: none of 4 elements is NaN",
            "no output has the first one; it ends at",
            "  %call.13/select.6 = f32[4] select"])
        lines = self.expect(0, "run", str(PROGRAMS / "nan_clipped.mlir"), "--inputs", inputs,
                            "--trace-nan").stdout.decode().splitlines()
        self.assertEqual(lines[2:], [
            "out0: 1 of 4 elements is NaN; out0[1] comes from the first, by",
            "  %log.11 = f32[4] log, element [1], is nan",
            "  %call.14/maximum.6 = f32[4] maximum, element [1], is nan",
            "  %call.14/minimum.9 = f32[4] minimum, element [1], is nan"])
        inputs = self.npz("in.npz", arg0=floats(1, 1, 2, 3))
        self.expect(0, "run", str(PROGRAMS / "nan_clipped.mlir"), "--inputs", inputs, "--trace-nan",
                    output="no NaN in the run\nout0: none of 4 elements is NaN\n")

    def test_usage(self):
        program = str(PROGRAMS / "nan_clipped.mlir")
        self.expect(2, "run", program, "--trace-what", "huge", error="--trace-what")
        self.expect(2, "run", program, "--trace-nan", "--engine", "fast", error="--engine")
        self.expect(2, "run", program, "--trace-nan", error="takes inputs")


if __name__ == "__main__":
    unittest.main()
