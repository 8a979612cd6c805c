#!/usr/bin/env python3
"""`assay golden record`, `check` and `update`. Usage: cli_golden_test.py ASSAY"""
import os
import signal
import subprocess
import time
import unittest

from cli_testing import ADD, ASSAY, CONSTANT, ENDLESS, CliCase, floats

GOOD = "// oracle: hand\n// out0: f32[2] {1, 2.5}\n" + CONSTANT
FAILING = GOOD.replace("2.5} \n", "2}\n").replace("out0: f32[2] {1, 2.5}", "out0: f32[2] {1, 2}")
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
  b = f32[1] reshape(s)
  ROOT t = (f32[1], f32[4]) tuple(b, x)
}
"""
RNG = """HloModule m
ENTRY e {
  low = f32[] constant(0)
  high = f32[] constant(1)
  ROOT r = f32[3] rng(low, high), distribution=rng_uniform
}
"""


class Golden(CliCase):
    def test_a_golden_is_recorded_checked_and_updated(self):
        program = self.file("a.hlo", ADD)
        inputs = self.npz("in.npz", arg0=floats(1, 2))
        golden = self.path("g.hlo")
        self.expect(0, "golden", "record", program, "--inputs", inputs, "--output", golden)
        self.expect(0, "golden", "check", golden, output="1 passed, 0 failed")
        with open(golden) as recorded:
            text = recorded.read()
        self.assertIn("// arg0: f32[2]", text)
        wrong = text.replace("add(x, x)", "multiply(x, x)").replace(
            "// arg0: f32[2] {0x1p+0, ", "// arg0: f32[2] {0x1p+2, ")
        self.assertNotEqual(wrong, text)
        self.file("g.hlo", wrong)
        self.expect(1, "golden", "check", golden, output="FAILED")
        self.expect(0, "golden", "update", golden, output="+ // out0: f32[2]")
        self.expect(0, "golden", "check", golden)
        self.file("g.hlo", wrong.replace("oracle: assay", "oracle: hand"))
        self.expect(1, "golden", "update", golden, error="hand")

    def test_check_uses_the_engine_it_is_given(self):
        program = self.file("t.hlo", "HloModule m\nENTRY e {\n  x = f32[5000] parameter(0)\n  ROOT y = f32[5000] tanh(x)\n}\n")
        golden = self.path("g.hlo")
        self.expect(0, "golden", "record", program, "--random-inputs", "1", "--output", golden)
        for engine in ("exact", "reference"):
            self.expect(0, "golden", "check", golden, "--engine", engine)
        if b"\n  f32 " not in self.expect(0, "plan", program, "--engine", "fast").stdout:
            return  # no AVX2
        # Within a bound of the exact values, and not their bits.
        self.expect(1, "golden", "check", golden, "--engine", "fast", output="1 ulp")

    # ---- results of backends ----

    def test_a_golden_with_a_profile_takes_what_conforms(self):
        program = self.file("s.hlo", SUM)
        inputs = self.npz("in.npz", arg0=floats(1, 2, 3, 4))
        os.makedirs(self.path("goldens"))
        golden = self.path("goldens/s.hlo")
        self.expect(0, "golden", "record", program, "--inputs", inputs, "--profile", "strict", "--output",
                    golden)
        with open(golden) as recorded:
            text = recorded.read()
        self.assertRegex(text, r"^// oracle: assay\n// generator: assay \d+\.\d+\.\d+\n// profile: strict\n// arg0: ")
        self.assertRegex(text, r"\n// out0: f32\[1\] \{0x1\.4p\+3\}\n// out1: .*\n// radius\.out0: f32\[1\] \{0x1\..*\}\nHloModule")
        self.expect(0, "golden", "check", golden, output="1 passed, 0 failed")
        self.expect(0, "golden", "update", golden)

        def check(code, total, *rest, **expected):
            actual = self.npz("s.npz", out0=floats(total), **{f"out{k + 1}": a for k, a in enumerate(rest)})
            for where in (golden, self.path("goldens")):
                for outputs in (actual, self.path("")) if where != golden else (actual,):
                    self.expect(code, "golden", "check", where, "--actual", outputs, **expected)

        x = floats(1, 2, 3, 4)
        check(0, 10, x, output="1 conform, 0 do not")
        check(0, 10.000002, x)
        check(1, 10.0001, x, output="out0: 1 element, 0 inside, 1 outside, 0 undecided\n    [0]: exact 10, actual 10.0001")
        check(1, 10, floats(1, 2, 3, 4.0000005), output="[3]: exact 4")
        check(1, 10, output="out1: the backend gave no such output")
        check(1, 10, floats(1, 2), output="out1")

        # Values that were changed by hand are found by a run, and written again with their radii.
        self.file("goldens/s.hlo", text.replace("0x1.4p+3", "0x1p+3"))
        self.expect(1, "golden", "check", golden, output="FAILED")
        self.expect(0, "golden", "update", golden, output="+ // radius.out0: f32[1]")
        with open(golden) as updated:
            self.assertEqual(updated.read(), text)

    def test_actual_outputs_and_what_is_wrong_with_them(self):
        good = self.file("good.hlo", GOOD)
        outputs = self.npz("out.npz", out0=floats(1, 2.5))
        self.expect(1, "golden", "check", good, "--actual", outputs, output="names no profile")
        self.expect(5, "golden", "check", good, "--actual", self.path("none.npz"), error="can't open")
        self.expect(2, "golden", "check", good, good, "--actual", outputs,
                    error="--actual of 2 goldens is a folder")
        radii = GOOD.replace("// out0", "// profile: strict\n// radius.out0: f32[2] {0, inf}\n// out0")
        self.expect(0, "golden", "check", self.file("r.hlo", radii), "--actual",
                    self.npz("o.npz", out0=floats(1, 7)))
        self.expect(1, "golden", "check", self.file("r.hlo", radii), "--actual",
                    self.npz("o.npz", out0=floats(2, 7)))
        self.expect(1, "golden", "check", self.file("t.hlo", radii.replace("// profile: strict\n", "")),
                    output="no profile is named")
        self.expect(1, "golden", "check", self.file("u.hlo", radii.replace("f32[2] {0, inf}", "f32[1] {0}")),
                    output="radius.out0")
        program = self.file("a.hlo", ADD)
        self.expect(5, "golden", "record", program, "--random-inputs", "1", "--profile", "nobody",
                    error="is neither a profile")

    # ---- what can't be read ----

    def test_a_golden_that_is_not_there_is_no_failed_check(self):
        good, failing, none = self.file("good.hlo",
                                        GOOD), self.file("failing.hlo", FAILING), self.path("none.hlo")
        for command in ("check", "update"):
            message = self.expect(5, "golden", command, none).stderr.decode()
            self.assertEqual(message, f"{none}: error: can't open: No such file or directory\n")
        self.expect(5, "golden", "check", none, good, output="1 passed, 0 failed\n", error="none.hlo")
        self.expect(1, "golden", "check", failing, good, output="1 passed, 1 failed\n")
        result = self.expect(5, "golden", "check", failing, none, good, output="1 passed, 1 failed\n",
                             error="none.hlo")
        self.assertTrue(result.stdout.decode().startswith(f"FAILED {failing}\n"))
        ours = self.file("ours.hlo", FAILING.replace("hand", "assay"))
        self.expect(5, "golden", "update", none, ours, output="+ // out0: f32[2] {0x1p+0, 0x1.4p+1}",
                    error="none.hlo")
        self.expect(0, "golden", "check", ours)

    def test_a_directory_without_goldens(self):
        empty, good = self.path("empty"), self.file("good.hlo", GOOD)
        os.makedirs(os.path.join(empty, "programs"))
        self.file("empty/programs/p.hlo", CONSTANT)  # not walked into
        self.file("empty/p.txt", GOOD)
        for command in ("check", "update"):
            self.expect(5, "golden", command, empty, error=f"{empty}: error: no golden found")
        self.expect(5, "golden", "check", empty, good, output="1 passed, 0 failed\n", error=empty)

    def test_links_in_a_directory(self):
        os.makedirs(self.path("all/below"))
        self.file("all/below/good.hlo", GOOD)
        os.symlink("below/good.hlo", self.path("all/link.hlo"))
        os.symlink("..", self.path("all/below/up"))  # not followed
        os.mkfifo(self.path("all/pipe.hlo"))  # nor read
        self.expect(0, "golden", "check", self.path("all"), output="2 passed, 0 failed\n")
        os.symlink("nowhere", self.path("all/to_nowhere.hlo"))
        os.symlink("round.hlo", self.path("all/round.hlo"))
        os.symlink("round", self.path("all/round"))  # no golden's name
        self.expect(5, "golden", "check", self.path("all"), output="2 passed, 0 failed\n",
                    error=["to_nowhere.hlo: error", "round.hlo: error"])

    def test_a_directory_that_cannot_be_read(self):
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        os.makedirs(self.path("all/closed"))
        self.file("all/good.hlo", GOOD)
        os.chmod(self.folder.name, 0o755)
        os.chmod(self.path("all/closed"), 0)
        try:
            self.call("--version", **user)
        except PermissionError:
            self.skipTest("the program lies where another user can't run it")
        self.expect(5, "golden", "check", self.path("all"), output="1 passed, 0 failed\n",
                    error="closed: error: can't read", **user)

    def test_a_path_cannot_move_the_cursor(self):
        result = self.expect(1, "golden", "check", self.file("\x1b[2J.hlo", FAILING), output="FAILED")
        self.assertNotIn(b"\x1b", result.stdout)

    # ---- record ----

    def test_record_keeps_the_limits(self):
        endless = self.file("w.hlo", ENDLESS)
        self.expect(5, "golden", "record", endless, "--max-steps", "1000", error="--max-steps")
        self.expect(5, "golden", "record", endless, "--timeout", "0.2", error="timeout")
        large = self.file("b.hlo", "HloModule m\nENTRY e {\n  z = f32[] constant(1)\n  ROOT b = f32[1000] broadcast(z), dimensions={}\n}\n")
        self.expect(5, "golden", "record", large, "--memory-limit", "1000", error="memory")
        self.expect(0, "golden", "record", large, "--memory-limit", "100000")

    def test_record_writes_the_seed_down(self):
        program, golden = self.file("r.hlo", RNG), self.path("g.hlo")
        texts = set()
        for flags in ((), ("--seed", "7"), ("--seed", "18446744073709551615")):
            self.expect(0, "golden", "record", program, *flags, "--output", golden)
            with open(golden) as recorded:
                texts.add(recorded.read().replace(f"// options: {' '.join(flags)}\n", ""))
            self.expect(0, "golden", "check", golden)
        self.assertEqual(len(texts), 3)

    def test_a_golden_is_recorded_anew(self):
        program = self.file("p.hlo",
                            FAILING.replace("HloModule", "// A remark: kept.\n// refuse: 3 x\nHloModule"))
        self.expect(0, "golden", "record", program, "--output", self.path("g.hlo"))
        with open(self.path("g.hlo")) as recorded:
            self.assertEqual(recorded.read(), "// oracle: assay\n// out0: f32[2] {0x1p+0, 0x1.4p+1}\n// A remark: kept.\n" + CONSTANT)
        self.expect(0, "golden", "check", self.path("g.hlo"))

    def test_what_no_golden_holds_is_refused(self):
        self.expect(3, "golden", "record", self.file("n.hlo", "\n// note: x\n" + CONSTANT),
                    error="n.hlo:2:1: error: golden: unknown key 'note'")

    def test_a_golden_holds_probes(self):
        probe = self.file("p.mlir", """func.func @main() -> tensor<f32> {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %p = interpreter.probe %x, probe_id = "a" : tensor<f32>
  return %p : tensor<f32>
}
""")
        self.expect(0, "golden", "record", probe, "--output", self.path("probe_golden.mlir"))
        with open(self.path("probe_golden.mlir")) as recorded:
            self.assertIn("// probe/a.0: f32[] 0x1p+0\n", recorded.read())
        self.expect(0, "golden", "check", self.path("probe_golden.mlir"))

    # ---- interruption ----

    def test_interrupt(self):
        golden = self.file("w.hlo", "// oracle: assay\n" + ENDLESS)
        for args in (("check", golden), ("update", golden), ("record", golden)):
            process = subprocess.Popen([ASSAY, "golden", *args], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=10)
            self.assertEqual((process.returncode, output), (5, b""), errors)
            self.assertIn(b"w.hlo", errors)
            self.assertIn(b"interrupted", errors)


if __name__ == "__main__":
    unittest.main()
