#!/usr/bin/env python3
"""Files, flags and profiles are looked at before anything is computed, in every command: the programs of
these tests never end, and each mistake is told at once. Usage: cli_arguments_test.py ASSAY"""
import os
import unittest

from cli_testing import ENDLESS, CliCase, floats, npy

# A loop without end behind a parameter, with a result that files can hold.
LOOP = """HloModule m
c {
  a = (pred[], f32[2]) parameter(0)
  ROOT g = pred[] get-tuple-element(a), index=0
}
b {
  d = (pred[], f32[2]) parameter(0)
  ROOT e = (pred[], f32[2]) copy(d)
}
ENTRY e {
  x = f32[2] parameter(0)
  t = pred[] constant(true)
  s = (pred[], f32[2]) tuple(t, x)
  w = (pred[], f32[2]) while(s), condition=c, body=b
  ROOT r = f32[2] get-tuple-element(w), index=1
}
"""


class Arguments(CliCase):
    def setUp(self):
        super().setUp()
        self.program = self.file("w.hlo", LOOP)
        self.inputs = self.npz("in.npz", arg0=floats(1, 2))
        self.given = (self.program, "--inputs", self.inputs)

    def at_once(self, code, *args, error):
        """What is computed would be ended, with another message."""
        before = sorted(os.listdir(self.folder.name))
        limit = () if args[0] in ("audit", "print", "plan", "verify",
                                  "ops") or args[1] == "update" else ("--timeout", "10")
        self.expect(code, *args, *limit, error=error)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_run(self):
        missing = self.path("none.npz")
        self.at_once(5, "run", self.program, "--inputs", missing,
                     error="none.npz: error: can't open: No such file or directory")
        self.at_once(5, "run", *self.given, "--output", self.path("no/o.npz"),
                     error="no/o.npz: error: can't create a file beside")
        self.at_once(5, "run", *self.given, "--output", self.folder.name, error="can't write: Is a directory")
        self.at_once(5, "run", *self.given, "--trace", self.path("no/t.json"),
                     error="no/t.json: error: can't create a file")
        self.at_once(2, "run", *self.given, "--engine", "quick", error="--engine")
        self.at_once(5, "run", self.program, "--shadow", "--inputs", missing, error="can't open")
        self.at_once(5, "run", *self.given, "--load-ops", self.path("none.so"), error="none.so")
        self.at_once(5, "run", *self.given, "--plugin", self.path("none.so"), error="none.so")
        self.at_once(5, "run", *self.given, "--plugin", self.path("none.so"), "--plugin-option", "x",
                     error="want NAME=VALUE")
        self.at_once(5, "run", *self.given, "--ffi", "nonsense", error="nonsense")

    def test_diff_with_a_program(self):
        good, missing = self.npz("out.npz", out0=floats(1, 2)), self.path("none.npz")
        wrong_type, wrong_size = self.npz("t.npz", out0=npy("<f8", [1], bytes(8))), self.npz(
            "s.npz", out0=floats(1, 2, 3))
        for profile in ((), ("--profile", "xla-cpu")):
            self.at_once(5, "diff", *self.given, "--actual", missing, *profile,
                         error="none.npz: error: can't open: No such file")
            self.at_once(5, "diff", self.program, "--inputs", missing, "--actual", good, *profile,
                         error="can't open")
            self.at_once(5, "diff", *self.given, "--actual", wrong_type, *profile,
                         error="t.npz: error: 'out0': found '<f8' [1]")
            self.at_once(5, "diff", *self.given, "--actual", wrong_size, *profile,
                         error="s.npz: error: 'out0': found '<f4' [3]")
            self.at_once(5, "diff", *self.given, "--actual", self.file("x.npz", "hello"), *profile,
                         error="x.npz: error: ")
            self.at_once(2, "diff", *self.given, "--actual", good, *profile, "--types", "out5=bf16",
                         error="'out5'")
            self.at_once(5, "diff", *self.given, "--plugin", self.path("none.so"), *profile, error="none.so")
        self.at_once(5, "diff", *self.given, "--actual", good, "--profile", "no-such", error="no-such")
        self.at_once(5, "diff", *self.given, "--actual", good, "--profile", "xla-cpu", "--html",
                     self.path("no/r.html"), error="no/r.html: error: can't create a file")
        self.at_once(2, "diff", *self.given, "--actual", good, "--rtol", "much", error="--rtol")

    def test_diff_of_files(self):
        good, missing = self.npz("out.npz", out0=floats(1, 2)), self.path("none.npz")
        self.at_once(5, "diff", missing, good, error="none.npz: error: can't open")
        self.at_once(5, "diff", good, missing, error="none.npz: error: can't open")

    def test_diff_of_partitioned_programs(self):
        missing = self.path("none")
        self.at_once(5, "diff", "--spmd", missing, self.program, "--inputs", self.inputs,
                     error="none: error: can't open")
        self.at_once(5, "diff", "--spmd", self.program, missing, "--inputs", self.inputs,
                     error="none: error: can't open")
        self.at_once(5, "diff", "--spmd", self.program, self.program, "--inputs", missing,
                     error="none: error: can't open")

    def test_bench(self):
        self.at_once(5, "bench", self.program, "--inputs", self.path("none.npz"),
                     error="none.npz: error: can't open")
        self.at_once(5, "bench", *self.given, "--trace", self.path("no/t.json"),
                     error="no/t.json: error: can't create a file")
        self.at_once(2, "bench", *self.given, "--engine", "quick", error="--engine")

    def test_audit(self):
        self.at_once(5, "audit", self.program, "--inputs", self.path("none.npz"),
                     error="none.npz: error: can't open")
        self.at_once(5, "audit", self.path("none.hlo"), error="none.hlo: error: can't open")

    def test_golden_record(self):
        self.at_once(5, "golden", "record", self.program, "--inputs", self.path("none.npz"),
                     error="can't open")
        self.at_once(5, "golden", "record", *self.given, "--output", self.path("no/g.hlo"),
                     error="can't create a file beside")
        self.at_once(5, "golden", "record", *self.given, "--profile", "no-such", error="no-such")

    def test_golden_check(self):
        golden = self.file("g.hlo",
                           "// oracle: assay\n// arg0: f32[2] {1, 2}\n// out0: f32[2] {1, 2}\n" + LOOP)
        self.at_once(5, "golden", "check", self.path("none.hlo"), error="none.hlo")
        self.at_once(5, "golden", "check", golden, "--actual", self.path("none.npz"),
                     error="none.npz: error: can't open")
        self.at_once(2, "golden", "check", golden, "--engine", "quick", error="--engine")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_golden_update_without_rights(self):
        self.update_in(0o555)

    def test_golden_update(self):
        self.at_once(5, "golden", "update", self.path("none.hlo"), error="none.hlo")

    def update_in(self, mode):
        folder = self.path("goldens")
        os.mkdir(folder)
        golden = self.file("goldens/g.hlo", "// oracle: assay\n// out0: pred[] 0\n" + ENDLESS)
        os.chmod(folder, mode)
        self.addCleanup(os.chmod, folder, 0o755)
        self.at_once(5, "golden", "update", golden, error="can't create a file beside")

    def test_commands_that_compute_nothing(self):
        missing = self.path("none.hlo")
        for command in ("verify", "print", "plan"):
            self.at_once(5, command, missing, error="none.hlo: error: can't open: No such file or directory")
        self.at_once(2, "plan", self.program, "--engine", "quick", error="--engine")
        self.at_once(2, "print", self.program, "--to", "wasm", error="--to")
        self.at_once(5, "ops", "--compatible", self.path("a.json"), self.path("b.json"),
                     error="a.json: error: can't open")
        self.at_once(5, "ops", "--load-ops", self.path("none.so"), error="none.so")


if __name__ == "__main__":
    unittest.main()
