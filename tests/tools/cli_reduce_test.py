#!/usr/bin/env python3
"""assay reduce: programs on which a backend with a planted fault is wrong become small ones. Usage:
cli_reduce_test.py ASSAY"""
import os
import shlex
import signal
import subprocess
import sys
import time
import unittest

from cli_testing import ADD, ASSAY, CliCase, floats

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "..", "golden", "programs")

LAYERS = """HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  w = f32[4,4] parameter(1)
  d = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,4] tanh(d)
  n = f32[4,4] negate(t)
  s = f32[4,4] sine(x)
  a = f32[4,4] add(n, s)
  ROOT r = (f32[4,4], f32[4,4]) tuple(a, w)
}
"""


class ReduceTest(CliCase):
    def fake(self, fault):
        words = [sys.executable, os.path.join(HERE, "faulty_backend.py"), ASSAY, fault]
        return f"{shlex.join(words)} {{program}} {{inputs}} {{outputs}} {self.path('invalid')}"

    def reduce(self, program, *args, code=0, inputs=("--random-inputs", "1"), **options):
        return self.expect(code, "reduce", program, *inputs, "--output", self.path("small"), *args, **options)

    def small(self, name="program.hlo", folder="small"):
        with open(os.path.join(self.path(folder), name)) as file:
            return file.read()

    def instructions(self, folder="small"):
        return sum(" = " in line for line in self.small(folder=folder).split("\n"))

    def check_small(self, op, most=5):
        self.assertLessEqual(self.instructions(), most, self.small())
        self.assertIn(f" {op}(", self.small())
        self.assertFalse(os.path.exists(self.path("invalid")))

    def test_a_command_says_what_is_interesting(self):
        self.reduce(self.file("a.hlo", LAYERS), "--while", "grep -q ' tanh(' {program}")
        self.check_small("tanh", 2)
        readme = self.small("README.md")
        self.assertIn("before: 8 instructions", readme)
        # The command shows it again.
        command = next(line for line in readme.split("\n") if line.startswith("    grep"))
        subprocess.run(command, shell=True, check=True)
        self.assertEqual(sorted(os.listdir(self.path("small"))), ["README.md", "inputs.npz", "program.hlo"])

    def test_elements_outside_of_bounds(self):
        self.reduce(self.file("a.hlo", LAYERS), "--while-outside", "--profile", "xla-cpu", "--backend",
                    self.fake("tanh_off"))
        self.check_small("tanh", 2)
        self.assertIn("outside of the bounds", self.small("README.md"))

    def test_programs_of_a_golden(self):
        for name, fault, op in (("fft_convolve", "reverse_nothing", "reverse"),
                                ("spd_solve", "dot_off", "dot")):
            folder, small = os.path.join(PROGRAMS, name), self.path(name)
            check = ("--profile", "xla-cpu", "--backend", self.fake(fault))
            self.expect(0, "reduce", os.path.join(folder, "program.hlo"), "--inputs",
                        os.path.join(folder, "inputs.npz"), "--output", small, "--while-outside", *check)
            self.assertLessEqual(self.instructions(name), 3)
            self.assertIn(f" {op}(", self.small(folder=name))
            # The small program runs on the inputs beside it, and is outside of the bounds.
            self.expect(1, "diff", f"{small}/program.hlo", "--inputs", f"{small}/inputs.npz", *check)
        self.assertFalse(os.path.exists(self.path("invalid")))

    def test_the_result_does_not_depend_on_jobs(self):
        texts = []
        for jobs in ("1", "4"):
            self.expect(0, "reduce", self.file("a.hlo", LAYERS), "--random-inputs", "1", "--jobs", jobs,
                        "--output", self.path("small" + jobs), "--while", "grep -q ' dot(' {program}")
            with open(self.path("small" + jobs) + "/inputs.npz", "rb") as file:
                inputs = file.read()
            readme = self.small("README.md", "small" + jobs).replace("small" + jobs, "small")
            texts.append((self.small(folder="small" + jobs), readme, inputs))
        self.assertEqual(texts[0], texts[1])

    def test_stablehlo_stays_stablehlo(self):
        text = self.expect(0, "print", self.file("a.hlo", LAYERS), "--to", "mlir").stdout
        program = self.file("a.mlir", text)
        self.reduce(program, "--while", "grep -q stablehlo.tanh {program}")
        self.assertEqual(sorted(os.listdir(self.path("small"))),
                         ["README.md", "inputs.npz", "program.hlo", "program.mlir"])
        self.assertIn("stablehlo.tanh", self.small("program.mlir"))
        self.check_small("tanh", 2)

    def test_crashes(self):
        program = self.file("a.hlo", LAYERS.replace("s = f32[4,4] sine(x)", "\n".join([
            "y = f32[2,2,2,2] reshape(x)", "  z = f32[2,2,2,2] transpose(y), dimensions={3,2,1,0}",
            "  s = f32[4,4] reshape(z)"])))
        self.reduce(program, "--while-crash", "--backend", self.fake("transpose_crash"))
        self.check_small("transpose", 2)
        crash = "sh -c 'grep -q dot\\( \"$1\" && kill -ABRT $$; exit 0' sh {program}"
        self.expect(0, "reduce", program, "--random-inputs", "1", "--while-crash", "--command", crash,
                    "--output", self.path("crash"))
        self.assertIn(" dot(", self.small(folder="crash"))
        self.assertLessEqual(self.instructions("crash"), 3)

    def test_messages(self):
        program = self.file("a.hlo", LAYERS)
        fails = ("sh -c 'grep -q tanh\\( \"$1\" && echo no tanh here && exit 3; "
                 "grep -q dot\\( \"$1\" && echo no dot && exit 3; exit 0' sh {program}")
        self.reduce(program, "--while-message", "no tanh", "--command", fails)
        self.check_small("tanh", 2)
        self.reduce(program, "--while-message", "no dot", "--command", fails, code=2,
                    error="is there already")

    def test_isolate_hands_its_finding_on(self):
        program, small = self.file("a.hlo", LAYERS), self.path("small")
        check = ("--profile", "xla-cpu", "--backend", self.fake("tanh_off"))
        self.expect(1, "diff", program, "--random-inputs", "1", *check, "--isolate", "--finding", small)
        self.check_small("tanh", 3)
        self.assertIn("first wrong instruction: %t", self.small("README.md"))
        self.expect(1, "diff", small + "/program.hlo", "--inputs", small + "/inputs.npz", *check)
        self.expect(2, "diff", program, "--random-inputs", "1", *check, "--isolate", "--finding", small,
                    error="is there already")
        self.expect(2, "diff", program, "--random-inputs", "1", *check, "--finding", self.path("other"),
                    error="--finding is what diff --isolate finds")
        # What conforms leaves no folder.
        right = ("--profile", "xla-cpu", "--backend", self.fake("pad_zero"))
        self.expect(0, "diff", program, "--random-inputs", "1", *right, "--isolate", "--finding",
                    self.path("other"))
        self.assertFalse(os.path.exists(self.path("other")))

    def test_engines(self):
        # Sums of the fast engine are rounded several times.
        program = self.file("a.hlo", """HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64,64] sine(x)
  ROOT r = (f32[64,64], f32[64,64]) tuple(s, d)
}
""")
        self.reduce(program, "--while-differs", "--engine", "fast")
        self.assertIn("--engine fast", self.small("README.md"))
        self.assertLessEqual(self.instructions(), 3)

    def test_a_program_that_is_not_interesting(self):
        for args, error in ((("--while", "false {program}"), "the command ended with exit code 1"),
                            (("--while-outside", "--profile", "xla-cpu", "--backend",
                              self.fake("pad_zero")), "no element is outside"),
                            (("--while-crash", "--command", "true {program}"), "does not fail"),
                            (("--while-message", "no words", "--command", "false {program}"), "exit code 1"),
                            (("--while-differs",), "not interesting")):
            self.reduce(self.file("a.hlo", LAYERS), *args, code=1, error=error)
            self.assertFalse(os.path.exists(self.path("small")))

    def test_usage(self):
        program = self.file("a.hlo", ADD)
        for args, error in (((), "reduce takes one of"),
                            (("--while", "true {program}", "--while-differs"),
                             "--while and --while-differs are given"),
                            (("--while", "true"), "a command with {program}"),
                            (("--while-outside", "--profile", "strict"), "takes a --profile, and --backend"),
                            (("--while-outside", "--backend", self.fake("pad_zero")), "takes a --profile"),
                            (("--while-crash",), "takes one of --backend"),
                            (("--while-differs", "--command", "true {program}"), "takes no backend")):
            self.reduce(program, *args, code=2, error=error)
        self.expect(2, "reduce", program, "--random-inputs", "1", "--while", "true {program}",
                    error="reduce takes --output")
        self.expect(2, "reduce", program, "--output", self.path("small"), "--while", "true {program}",
                    error="takes inputs")

    def test_what_takes_too_long_is_not_interesting(self):
        slow = "sh -c 'grep -q sine\\( \"$1\" || sleep 60; exit 0' sh {program}"
        self.reduce(self.file("a.hlo", LAYERS), "--while", slow, "--try-timeout", "0.3", "--timeout", "20")
        self.assertIn(" sine(", self.small())

    def test_the_best_so_far_is_written(self):
        program = self.file("a.hlo", LAYERS)
        slow = "sleep 0.2; grep -q ' tanh(' {program}"
        self.reduce(program, "--while", slow, "--timeout", "1")
        self.assertIn("out of time", self.small("README.md"))
        self.assertIn(" tanh(", self.small())
        process = subprocess.Popen([ASSAY, "reduce", program, "--random-inputs", "1", "--output",
                                    self.path("interrupted"), "--while", slow], stdout=subprocess.PIPE)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"interrupted", out)
        self.assertIn("interrupted", self.small("README.md", "interrupted"))

    def test_a_folder_is_written_whole_or_not_at_all(self):
        self.expect(5, "reduce", self.file("a.hlo", LAYERS), "--random-inputs", "1", "--while",
                    "grep -q ' tanh(' {program}", "--output", self.path("none/small"))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.hlo"])


if __name__ == "__main__":
    unittest.main()
