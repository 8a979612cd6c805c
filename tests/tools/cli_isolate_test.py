#!/usr/bin/env python3
"""assay diff --isolate: the first wrong instruction of a backend is named. Usage:
cli_isolate_test.py ASSAY"""
import json
import sys
import unittest

from cli_testing import ASSAY, CliCase, floats

# A backend with one fault: Assay, given the program with some of its text replaced. Nothing is replaced in
# what "without" is part of.
FAULTY = """import re, subprocess, sys
pattern, replacement, without, assay, program, inputs, outputs = sys.argv[1:]
text = open(program).read()
if not without or without not in text:
    text = re.sub(pattern, replacement, text)
open(outputs + ".hlo", "w").write(text)
sys.exit(subprocess.run([assay, "run", outputs + ".hlo", "--inputs", inputs, "--output", outputs]).returncode)
"""

PROGRAM = """HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  turned = f32[4] tanh(x)
  v = f32[4] add(turned, x)
  ROOT r = (s32[], f32[4]) tuple(next, v)
}
condition {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
fused {
  p = f32[4] parameter(0)
  e = f32[4] exponential(p)
  ROOT l = f32[4] negate(e)
}
positive {
  p = f32[4] parameter(0)
  ROOT root = f32[4] sqrt(p)
}
negative {
  p = f32[4] parameter(0)
  ROOT magnitude = f32[4] abs(p)
}
called {
  p = f32[4] parameter(0)
  ROOT logarithm = f32[4] log(p)
}
ENTRY main {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  fzero = f32[] constant(0)
  state = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(state), condition=condition, body=body
  y = f32[4] get-tuple-element(loop), index=1
  total = f32[] reduce(y, fzero), dimensions={0}, to_apply=sum
  f = f32[4] fusion(y), kind=kLoop, calls=fused
  is = pred[] compare(total, fzero), direction=GT
  c = f32[4] conditional(is, y, f), true_computation=positive, false_computation=negative
  d = f32[4] call(c), to_apply=called
  k = f32[4] iota(), iota_dimension=0
  over = pred[4] compare(y, k), direction=GE
  w = f32[4] select(over, y, k)
  ROOT out = (f32[4], f32[4], f32[], f32[4]) tuple(d, f, total, w)
}
"""


class Isolate(CliCase):
    def setUp(self):
        super().setUp()
        self.faulty = self.file("faulty.py", FAULTY)
        self.program = self.file("program.hlo", PROGRAM)
        self.inputs = self.npz("in.npz", arg0=floats(0.5, 1, 1.5, 2))

    def backend(self, pattern="", replacement="", without=""):
        words = " ".join("'" + word.replace("'", "'\\''") + "'"
                         for word in (sys.executable, self.faulty, pattern, replacement,
                                                                             without, ASSAY))
        return words + " {program} {inputs} {outputs}"

    def isolate(self, code, *fault, more=(), **expected):
        return self.expect(code, "diff", self.program, "--inputs", self.inputs, "--backend",
                           self.backend(*fault), "--profile", "strict", "--isolate", *more, **expected)

    def first_wrong(self, *fault):
        return json.loads(self.isolate(1, *fault, more=["--json"]).stdout)["isolate"]["first_wrong"]

    def test_a_backend_without_faults_conforms(self):
        shown = self.isolate(0, output="isolated: 16 instructions: 16 conform, 0 violate").stdout.decode()
        self.assertNotIn("note:", shown)
        found = json.loads(self.isolate(0, more=["--json"]).stdout)["isolate"]
        self.assertEqual(found["first_wrong"], None)
        # The entry computation, and then what it calls at once.
        self.assertEqual(found["backend_runs"], 2)
        names = {(i["inside"], i["name"]): i for i in found["instructions"]}
        self.assertEqual(names["loop", "turned"]["runs"], 5)
        self.assertEqual(names["loop", "turned"]["result"]["elements"], 20)
        self.assertEqual(names["c", "root"]["runs"], 1)
        self.assertNotIn(("c", "magnitude"), names)

    def test_the_first_wrong_instruction_is_named(self):
        for pattern, replacement, name, inside in (
            (r"tanh\((.*)\)", r"sine(\1)", "turned", "loop"),
            (r"exponential\(", "exponential-minus-one(", "e", "f"),
            (r"sqrt\(", "cbrt(", "root", "c"),
            (r"log\(", "log-plus-one(", "logarithm", "d"),
            (r"direction=GE", "direction=LT", "over", ""),
            (r"select\((\S+), (\S+), (\S+)\)", r"select(\1, \3, \2)", "w", ""),
            (r"direction=LT", "direction=LE", "less", "loop"),
            (r"(%s\S* = f32\[\]) add\(", r"\1 maximum(", "total", ""),
        ):
            with self.subTest(name):
                wrong = self.first_wrong(pattern, replacement)
                self.assertEqual((wrong["name"], wrong["inside"], wrong["verdict"]),
                                 (name, inside, "violates"))

    def test_the_first_wrong_turn_is_told(self):
        # tanh is wrong where its argument is large, which it is from iteration 2 on.
        wrong = self.first_wrong(r"(%turned\S* = f32\[4\]\S*) tanh\((\S+)\)",
                                 r"%big = f32[] constant(3.5)\n  %bigs = f32[4]{0} broadcast(%big), dimensions={}\n"
                                 r"  %over.9 = pred[4]{0} compare(\2, %bigs), direction=GT\n"
                                 r"  %right = f32[4]{0} tanh(\2)\n  \1 select(%over.9, \2, %right)")
        self.assertEqual((wrong["name"], wrong["turn"]), ("turned", 2))
        self.assertEqual(wrong["result"]["worst"][0]["actual"][:2], "3.")

    def test_what_is_wrong_only_with_others_differs(self):
        # Only where a program holds both.
        found = json.loads(self.isolate(1, r"exponential\(", "exponential-minus-one(", "alone",
                                        more=["--json"]).stdout)["isolate"]
        self.assertEqual(found["first_wrong"], None)
        self.assertEqual(found["first_differs"]["name"], "e")
        shown = self.isolate(1, r"exponential\(", "exponential-minus-one(", "alone").stdout.decode()
        self.assertIn("first that differs, and is right when run alone: %e = f32[4] exponential, in %f",
                      shown)

    def test_a_backend_that_shows_no_values_runs_instructions_alone(self):
        only_alone = f"if grep -q '^HloModule m_values' {{program}}; then echo too many >&2; exit 3; fi; "
        backend = only_alone + self.backend(r"exponential\(", "exponential-minus-one(")
        shown = self.expect(1, "diff", self.program, "--inputs", self.inputs, "--backend", backend,
                            "--profile", "strict", "--isolate").stdout.decode()
        self.assertIn("first wrong instruction: %e = f32[4] exponential, in %f", shown)
        self.assertIn("run alone on exact ones: the backend ended with exit code 3, want 0; it wrote: too many", shown)

    def test_what_is_left_out_is_named(self):
        self.program = self.file("rng.hlo", "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[] constant(0)\n"
                                 "  b = f32[] constant(1)\n  r = f32[4] rng(a, b), distribution=rng_uniform\n"
                                 "  ROOT s = f32[4] add(r, x)\n}\n")
        self.isolate(0, output="left out: %r = f32[4] rng: it has a side effect, or draws numbers of its own")

    def test_usage(self):
        self.expect(2, "diff", self.program, "--inputs", self.inputs, "--profile", "strict", "--actual",
                    self.inputs, "--isolate", error="diff --isolate takes a --profile, and the backend")
        self.expect(2, "diff", self.program, "--inputs", self.inputs, "--backend", self.backend(),
                    "--isolate", error="diff --isolate takes a --profile, and the backend")

    def test_a_backend_of_stablehlo_gets_nothing_else(self):
        """The programs that are made for it come in the form of the one that is compared."""
        program = self.file("p.mlir", "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                            "  %e = stablehlo.exponential %x : tensor<4xf32>\n"
                            "  %t = stablehlo.tanh %e : tensor<4xf32>\n  return %t : tensor<4xf32>\n}\n")
        picky = self.file("picky.py", FAULTY.replace(
            "if not without", "if 'HloModule' in text:\n  sys.exit('no StableHLO')\nif not without").replace(
                '".hlo"', '".mlir"'))
        backend = f"{sys.executable} {picky} stablehlo.tanh stablehlo.logistic '' {ASSAY} " \
            "{program} {inputs} {outputs}"
        report = json.loads(self.expect(1, "diff", program, "--random-inputs", "1", "--profile", "strict",
                                        "--isolate", "--json", "--backend", backend).stdout)
        verdicts = [(one["op"], one["verdict"]) for one in report["isolate"]["instructions"]]
        self.assertEqual(verdicts, [("exponential", "conforms"), ("tanh", "violates")])
        self.assertEqual(report["isolate"]["notes"], [])


if __name__ == "__main__":
    unittest.main()
