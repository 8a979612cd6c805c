#!/usr/bin/env python3
"""assay run --values and the comparison of such files. Usage: cli_values_test.py ASSAY"""
import shlex
import struct
import unittest
import zipfile

from cli_testing import ADD, ASSAY, CliCase, floats

LOOP = """HloModule m
c {
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
ENTRY e {
  x = f32[2] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[2]) tuple(zero, x)
  loop = (s32[], f32[2]) while(t), condition=c, body=b
  y = f32[2] get-tuple-element(loop), index=1
  ROOT s = f32[2] sqrt(y)
}
"""
STABLEHLO = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.sqrt %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""


class Values(CliCase):
    def setUp(self):
        super().setUp()
        self.loop, self.inputs = self.file("loop.hlo", LOOP), self.npz("in.npz", arg0=floats(1, 4))
        self.values = self.path("values.npz")

    def run_values(self, *args, program=None, code=0, **options):
        return self.expect(code, "run", program or self.loop, "--inputs", self.inputs, "--values",
                           self.values, *args, **options)

    def names(self, path=None):
        with zipfile.ZipFile(path or self.values) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]

    def test_members_are_in_the_order_of_the_run(self):
        self.run_values()
        self.assertEqual(self.names(), [
            "loop/cond0000/less", "loop/it0000/next", "loop/it0000/twice", "loop/cond0001/less",
            "loop/it0001/next", "loop/it0001/twice", "loop/cond0002/less", "loop{0}", "loop{1}", "s"])
        self.check_floats("loop/it0001/twice", 4, 16)

    def test_results_have_the_same_bytes(self):
        self.run_values("--output", self.path("a.npz"))
        self.expect(0, "run", self.loop, "--inputs", self.inputs, "--output", self.path("b.npz"))
        with open(self.path("a.npz"), "rb") as a, open(self.path("b.npz"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_only(self):
        self.run_values("--only", "it0001/(next|twice)")
        self.assertEqual(self.names(), ["loop/it0001/next", "loop/it0001/twice"])
        self.run_values("--only", "(", code=2, error="'(' is not a regular expression")
        self.expect(2, "run", self.loop, "--inputs", self.inputs, "--only", "x", error="--values")

    def test_names_of_stablehlo_are_those_that_print_shows(self):
        program = self.file("p.mlir", STABLEHLO)
        printed = self.expect(0, "print", program).stdout.decode()
        self.run_values(program=program)
        self.assertEqual(len(self.names()), 2)
        for name in self.names():
            self.assertIn(f"%{name} = ", printed)

    def test_what_memory_does_not_hold_is_counted(self):
        self.run_values("--memory-limit", "300", error="3 values left out, 'loop{0}' the first")
        self.assertEqual(self.names()[-1], "loop/cond0002/less")

    def test_what_does_not_run_is_counted(self):
        program = self.file("dead.hlo", "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n"
                                        "  d = f32[2] sqrt(x)\n  ROOT n = f32[2] negate(x)\n}\n")
        self.run_values(program=program, error="1 instruction of the program did not run")
        self.assertEqual(self.names(), ["n"])

    def test_flags_that_it_does_not_take(self):
        for flags in (["--engine", "fast"], ["--shadow"], ["--crosscheck", "full"]):
            self.run_values(*flags, code=2, error="--values")
        self.run_values("--output", self.values, code=2, error="--output and --values are one file")

    def test_files_are_compared_in_the_order_of_the_run(self):
        self.run_values()
        other = self.path("other.npz")
        with zipfile.ZipFile(self.values) as source, zipfile.ZipFile(other, "w") as copy:
            for name in reversed(source.namelist()):
                data = source.read(name)
                if name in ("s.npy", "loop{1}.npy"):
                    data = data[:-4] + struct.pack("<f", 3)
                if name != "loop/it0000/next.npy":
                    copy.writestr(name, data)
            copy.writestr("more.npy", floats(1))
        lines = self.expect(1, "diff", self.values, other).stdout.decode().splitlines()
        self.assertEqual(lines[0], "loop/it0000/next: missing in the second set")
        self.assertTrue(lines[1].startswith("loop{1}: "), lines)
        self.assertTrue(lines[2].startswith("s: ") and "ulp" in lines[2], lines)
        self.assertEqual(lines[3:], [
            "more: missing in the first set",
            "9 values compared, 2 outside the tolerance; 1 in the first set only, 1 in the second only",
            "first, in the order of the first set: loop{1}"])
        self.expect(0, "diff", self.values, self.values, output="10 values compared, 0 outside")

    def check_floats(self, member, *values):
        self.assertEqual(self.read_npz(self.values)[member + ".npy"][-4 * len(values):],
                         struct.pack(f"<{len(values)}f", *values))

    # ---- beside a backend ----

    def test_a_backend_s_values_have_the_same_names(self):
        backend = f"{shlex.quote(ASSAY)} run {{program}} --inputs {{inputs}} --output {{outputs}}"
        self.expect(0, "diff", self.loop, "--inputs", self.inputs, "--backend", backend, "--values",
                    self.values, error="3 values of the backend are not there")
        names = self.names()
        self.assertEqual(names[:3], ["exact/loop/cond0000/less", "exact/loop/it0000/next",
                                     "actual/loop/it0000/next"])
        members = self.read_npz(self.values)
        for name in names:
            if name.startswith("actual/"):
                self.assertEqual(members[f"{name}.npy"], members[f"{name.replace('actual', 'exact')}.npy"])
        self.assertEqual(sum(name.startswith("actual/") for name in names), 7)

    def test_a_backend_that_is_wrong_inside(self):
        # It takes sqrt for what should be add.
        wrong = f"sed 's/add(\\(.*\\), .*)/sqrt(\\1)/' {{program}} > {shlex.quote(self.path('w.hlo'))} && " \
                f"{shlex.quote(ASSAY)} run {shlex.quote(self.path('w.hlo'))} --inputs {{inputs}} " \
                f"--output {{outputs}}"
        program = self.file("add.hlo", ADD.replace("ROOT y = f32[2] add(x, x)",
                                                   "y = f32[2] add(x, x)\n  ROOT n = f32[2] negate(y)"))
        self.expect(1, "diff", program, "--inputs", self.inputs, "--backend", wrong, "--values",
                    self.values)
        self.check_floats("exact/y", 2, 8)
        self.check_floats("actual/y", 1, 2)
        self.check_floats("actual/n", -1, -2)

    def test_values_want_a_backend(self):
        self.run_values()
        self.expect(2, "diff", self.values, self.values, "--values", self.path("v.npz"),
                    error="diff writes values with --backend or --plugin")


if __name__ == "__main__":
    unittest.main()
