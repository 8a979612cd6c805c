#!/usr/bin/env python3
"""assay diff --profile: is a difference a bug, or rounding? Usage: cli_bounds_test.py ASSAY"""
import json
import os
import signal
import struct
import subprocess
import time
import unittest

from cli_testing import ASSAY, CliCase, floats, npy

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
  b = f32[2] broadcast(s), dimensions={}
  ROOT t = (f32[2], f32[4]) tuple(b, x)
}
"""


# x -> 3.9 x (1 - x), 200 times.
# The eigenvalue of a matrix of one element, by an operation without a rule.
EIGENVALUE = """HloModule m
ENTRY e {
  x = f32[1,1] parameter(0)
  c = (f32[1], f32[1], c64[1,1], c64[1,1], s32[]) custom-call(x), custom_call_target="lapack_sgeev_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={compute_left = 78 : ui8, compute_right = 78 : ui8}
  ROOT w = f32[1] get-tuple-element(c), index=0
}
"""

LOGISTIC_MAP = """HloModule m
body {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  r = f32[] constant(3.9)
  e = f32[] constant(1)
  y = f32[] subtract(e, x)
  xy = f32[] multiply(x, y)
  z = f32[] multiply(r, xy)
  ROOT t = (s32[], f32[]) tuple(j, z)
}
test {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(200)
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[]) tuple(zero, x)
  w = (s32[], f32[]) while(s), condition=test, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
}
"""


DOT = """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""


def floats1(value):
    """A scalar."""
    return npy("<f4", [], struct.pack("<f", value))


class Bounds(CliCase):
    def diff(self, code, *outputs, profile="strict", more=(), **expected):
        program, inputs = self.file("sum.hlo", SUM), self.npz("in.npz", arg0=floats(1, 2, 3, 4))
        actual = self.npz("out.npz", **{f"out{k}": array for k, array in enumerate(outputs)})
        return self.expect(code, "diff", program, "--inputs", inputs, "--actual", actual, "--profile",
                           profile, *more, **expected)

    def test_rounding_is_no_violation(self):
        shown = self.diff(0, floats(10, 10.000002), floats(1, 2, 3, 4)).stdout.decode()
        self.assertIn("out0: 2 elements, 2 inside, 0 outside, 0 undecided; inside up to", shown)
        self.assertIn("out1: 4 elements, 4 inside, 0 outside, 0 undecided\n", shown)

    def test_a_violation_is_shown(self):
        shown = self.diff(1, floats(10, 10.0001), floats(1, 2, 3, 4.0000005)).stdout.decode()
        self.assertIn("out0: 2 elements, 1 inside, 1 outside", shown)
        self.assertIn("outside [1]: exact 10, actual 10.0001", shown)
        self.assertIn("outside [3]: exact 4, actual 4.00000048 (1 ulps), bound +-0, inf of it", shown)

    def test_a_missing_output_is_a_violation(self):
        self.diff(1, floats(10, 10), output="out1: the backend gave no such output")

    def test_json(self):
        found = json.loads(self.diff(1, floats(10, 10.0001), floats(1, 2, 3, 4), more=["--json"]).stdout)
        self.assertFalse(found["conforms"])
        self.assertEqual(found["outputs"]["out0"]["outside"], 1)
        self.assertEqual(found["outputs"]["out0"]["worst"][0]["index"], [1])
        self.assertEqual(found["outputs"]["out1"]["inside"], 4)

    def test_what_is_not_known_is_estimated(self):
        program = self.file("c.hlo", EIGENVALUE)
        matrix = npy("<f4", [1, 1], struct.pack("<f", 2))
        two, four = (npy("<f4", [1], struct.pack("<f", value)) for value in (2, 4))
        inputs, right = self.npz("c.npz", arg0=matrix), self.npz("o.npz", out0=two)
        wrong = self.npz("w.npz", out0=four)

        def diff(code, actual, *more):
            command = ("diff", program, "--inputs", inputs, "--actual", actual, "--profile", "strict", *more)
            return self.expect(code, *command).stdout.decode()

        shown = diff(0, right)
        self.assertIn("out0: 1 element, 0 inside, 0 outside, 1 plausible, 0 implausible, 0 undecided\n",
                      shown)
        self.assertIn("estimated by 16 samples", shown)
        self.assertIn("'%c = custom-call' has no rule: sampled by the profile's ulps", shown)
        self.assertIn("out0: nothing is proven of 1 plausible element from '%c = custom-call' on: no rule",
                      shown)
        self.assertNotIn("undecided from", shown)
        self.assertIn("  next: the rule that is missing is that of 'custom-call' (docs/adding_an_op.md); check every other "
                      f"instruction alone: assay diff {program} --inputs {inputs} --backend 'YOUR_BACKEND {{program}} "
                      "{inputs} {outputs}' --profile strict --isolate\n", shown)
        shown = diff(1, wrong, "--samples", "3")
        self.assertIn("0 plausible, 1 implausible, 0 undecided\n", shown)
        self.assertIn("  implausible [0]: exact 2, actual 4 (8388608 ulps), 2 off where ", shown)
        self.assertIn("out0: nothing is proven of 1 implausible element from", shown)
        diff(0, wrong, "--proven-only")
        shown = diff(0, wrong, "--samples", "0")
        self.assertIn("out0: 1 element, 0 inside, 0 outside, 1 undecided\n", shown)
        self.assertIn("out0: nothing is proven of 1 undecided element from", shown)
        self.assertIn("estimate them: --samples 16", shown)
        found = json.loads(diff(1, wrong, "--json", "--seed", "5"))
        output = found["outputs"]["out0"]
        self.assertEqual((output["plausible"], output["implausible"], output["undecided"]), (0, 1, 0))
        self.assertEqual((output["farthest"][0]["exact"], output["farthest"][0]["actual"]), ("2", "4"))
        self.assertEqual((found["samples"], found["multiple"], found["conforms"]), (16, 16, False))
        self.assertEqual(found["sampled_by_ulps"], [{"instruction": "c", "op": "custom-call"}])
        far = output["farthest"][0]
        self.assertEqual(far["distance"], 2)
        self.assertAlmostEqual(far["share"], far["distance"] / far["allowed"])
        self.assertEqual(output["nearest_to_implausible"], None)
        reason = found["reasons"][0]
        expected = {"output": "out0", "instruction": "c", "op": "custom-call", "inside": "", "turn": None,
                    "plausible": 0, "implausible": 1, "undecided": 0, "lacks_rule": True,
                    "samples_part": None}
        self.assertEqual({k: reason[k] for k in expected}, expected)
        again = json.loads(diff(1, wrong, "--json", "--seed", "5"))
        self.assertEqual(found, again)

    def test_a_chaotic_loop_is_undecided_and_its_first_instruction_named(self):
        program = self.file("logistic.hlo", LOGISTIC_MAP)
        one = npy("<f4", [], struct.pack("<f", 0.3))
        inputs, actual = self.npz("l.npz", arg0=one), self.npz("m.npz", out0=one)
        command = ("diff", program, "--inputs", inputs, "--actual", actual, "--profile", "xla-cpu")
        shown = self.expect(0, *command).stdout.decode()
        self.assertIn("out0: 1 element, 0 inside, 0 outside, 0 plausible, 0 implausible, 1 undecided\n",
                      shown)
        self.assertIn("out0: the samples disagree wildly on 1 element: correct backends differ by up to 0.",
                      shown)
        self.assertRegex(shown, "out0: nothing is proven of 1 undecided element from '%(xy|z|y) = (multiply|subtract)' in "
                                "'%w', iteration 1[0-9] on: ")
        self.assertRegex(shown, "\n  the samples part at '%(xy|z|y) = (multiply|subtract)' in '%w', iteration [2-7][0-9]: its "
                                "elements differ by up to 0")
        found = json.loads(self.expect(0, *command, "--json").stdout)["reasons"][0]
        self.assertEqual(found["samples_part"]["inside"], "w")
        self.assertGreater(found["samples_part"]["turn"], found["turn"])
        page = self.path("l.html")
        self.expect(0, *command, "--html", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("<h3>Why nothing is proven of 1 output</h3>", text)
        self.assertRegex(text, "<dd>1 undecided element from &#39;%")
        self.assertIn("the samples part at", text)

    def test_tolerances_are_written(self):
        tolerances = self.path("tolerances.npz")
        self.diff(0, floats(10, 10.000002), floats(1, 2, 3, 4), more=["--tolerances", tolerances])
        arrays = self.read_npz(tolerances)
        self.assertEqual(sorted(arrays), sorted(f"{what}/out{k}.npy" for what in ("exact", "bound", "spread")
                                                for k in range(2)))
        bound = struct.unpack("<2d", arrays["bound/out0.npy"][-16:])
        # Four additions, one of them of the start value, of terms whose sum is 10: 4 u 10, and less than
        # twice that.
        self.assertTrue(all(4 * 2**-24 * 10 <= b < 8 * 2**-24 * 10 for b in bound), bound)
        self.assertEqual(struct.unpack("<4d", arrays["bound/out1.npy"][-32:]), (0, 0, 0, 0))
        spread = struct.unpack("<2d", arrays["spread/out0.npy"][-16:])
        self.assertTrue(all(0 <= s <= b for s, b in zip(spread, bound)), spread)
        inputs = self.npz("in.npz", arg0=floats(1, 2, 3, 4))
        self.expect(2, "diff", inputs, inputs, "--tolerances", tolerances, error="with a --profile only")
        self.diff(2, floats(1), floats(1), more=["--tolerances", self.path("out.npz")], error="which is read")

    def test_a_violation_names_the_command_that_isolates(self):
        shown = self.diff(1, floats(10, 10.0001), floats(1, 2, 3, 4)).stdout.decode()
        self.assertRegex(shown, "next: which instruction is wrong\\? assay diff .*sum.hlo --inputs .*in.npz --backend "
                                "'YOUR_BACKEND {program} {inputs} {outputs}' --profile strict --isolate\n$")

    def test_profiles_from_files(self):
        profile = self.file("p.profile", "inherit strict\naccumulate f32 bf16\n")
        self.diff(0, floats(10, 10.1), floats(1, 2, 3, 4), profile=profile)
        profile = self.file("q.profile", "ulps fly * 1\n")
        self.diff(5, floats(10, 10.1), floats(1, 2, 3, 4), profile=profile,
                  error="line 1: 'fly' is not an operation")
        self.diff(5, floats(1), floats(1), profile="nobody",
                  error="'nobody' is neither a profile (strict, xla-cpu,")

    def test_wrong_usage(self):
        program = self.file("sum.hlo", SUM)
        self.expect(2, "diff", program, "--profile", "strict", error="--actual OUT.npz")
        self.diff(2, floats(1), more=["--rtol", "1"], error="either a --profile or tolerances")

    def test_dynamic_dimensions_are_refused(self):
        program = self.file("d.hlo", "HloModule m\nENTRY e {\n  x = f32[<=4] parameter(0)\n  ROOT n = f32[<=4] negate(x)\n}\n")
        inputs, actual = self.npz("i.npz", arg0=floats(1, 2)), self.npz("a.npz", out0=floats(-1, -2))
        self.expect(4, "diff", program, "--inputs", inputs, "--actual", actual, "--profile", "strict",
                    error="dynamic dimensions")

    def test_outputs_of_several_devices(self):
        program, inputs = self.file("sum.hlo", SUM), self.npz("s.npz", arg0=floats(1, 2, 3, 4))

        def diff(code, **outputs):
            actual = self.npz("a.npz", **{key.replace("_", "/"): value for key, value in outputs.items()})
            command = ("diff", program, "--inputs", inputs, "--actual", actual, "--profile", "strict",
                       "--replicas", "2")
            return self.expect(code, *command).stdout.decode()

        shown = diff(0, out0=floats(10, 10), out1=floats(1, 2, 3, 4))
        self.assertIn("r0p0/out0: 2 elements, 2 inside", shown)
        self.assertIn("r1p0/out0: 2 elements, 2 inside", shown)
        shown = diff(1, r0p0_out0=floats(10, 10), r1p0_out0=floats(10, 10.1), out1=floats(1, 2, 3, 4))
        self.assertIn("r0p0/out0: 2 elements, 2 inside", shown)
        self.assertIn("r1p0/out0: 2 elements, 1 inside, 1 outside", shown)


class RunsBackend(CliCase):
    """--backend: a command gives the outputs, or says why not; nothing of it is left."""
    EXACT = f"{ASSAY} run {{program}} --inputs {{inputs}} --output {{outputs}}"

    def setUp(self):
        super().setUp()
        self.temporary = self.path("temporary files")
        os.mkdir(self.temporary)
        self.environment = dict(os.environ, TMPDIR=self.temporary)
        self.program = self.file("it's a sum.hlo", SUM)
        self.inputs = self.npz("in.npz", arg0=floats(1, 2, 3, 4))

    def diff(self, code, backend, *more, profile="strict", inputs=None, **expected):
        inputs = inputs or ("--inputs", self.inputs)
        more = (*more, "--profile", profile) if profile else more
        result = self.expect(code, "diff", self.program, *inputs, "--backend", backend, *more,
                             env=self.environment, **expected)
        self.assertEqual(os.listdir(self.temporary), [])
        return result

    def test_its_outputs_are_compared(self):
        for inputs in (("--random-inputs", "3"), ("--inputs", self.inputs)):
            self.diff(0, self.EXACT, inputs=inputs,
                      output="out1: 4 elements, 4 inside, 0 outside, 0 undecided")
        wrong = self.npz("wrong.npz", out0=floats(10, 11), out1=floats(1, 2, 3, 4))
        self.diff(1, f"cp {wrong} {{outputs}}", output="out0: 2 elements, 1 inside, 1 outside")
        found = json.loads(self.diff(1, f"echo noise; cp {wrong} {{outputs}}", "--json").stdout)
        self.assertEqual(found["outputs"]["out0"]["outside"], 1)
        lacks = self.npz("lacks.npz", out1=floats(1, 2, 3, 4))
        self.diff(1, f"cp {lacks} {{outputs}}", output="out0: the backend gave no such output")

    def test_without_a_profile_in_ulps(self):
        self.diff(0, self.EXACT, profile=None, output="out0: ")
        wrong = self.npz("wrong.npz", out0=floats(10, 10.000001), out1=floats(1, 2, 3, 4))
        self.diff(1, f"cp {wrong} {{outputs}}", profile=None, output="1 ulp")
        self.diff(0, f"cp {wrong} {{outputs}}", "--ulps", "1", profile=None)

    def test_a_program_from_a_pipe_is_written(self):
        self.expect(0, "diff", "-", "--inputs", self.inputs, "--backend", self.EXACT, "--profile", "strict",
                    input=SUM.encode(), env=self.environment)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_failures_are_told_in_its_own_words(self):
        for backend, *errors in (
            ("echo oh >&2; exit 7 # {outputs}", "ended with exit code 7, want 0", "it wrote: oh"),
            ("echo gone; kill -9 $$ # {outputs}", "ended by signal 9", "it wrote: gone"),
            ("echo asleep; : {outputs}", "the backend wrote no {outputs}", "it wrote: asleep"),
            ("echo garbage > {outputs}", "outputs of the backend"),
            ("no_such_command {outputs}", "exit code 127", "not found"),
            (f"cp {self.npz('shape.npz', out0=floats(1))} {{outputs}}", "outputs of the backend", "out0"),
            ("head -c 300000 /dev/zero | tr '\\0' x; exit 1 # {outputs}", "exit code 1"),
        ):
            for profile in ("strict", None):
                said = self.diff(5, backend, profile=profile, error=errors).stderr
                self.assertLess(len(said), 6000)

    def test_what_it_leaves_running_is_ended(self):
        mark = self.path("mark")
        self.diff(5, f"(sleep 3; touch {mark}) & exit 1 # {{outputs}}", error="exit code 1")
        begin = time.monotonic()
        self.diff(5, f"(sleep 30; touch {mark}) & sleep 30; : {{outputs}}", "--timeout", "0.5",
                  error="timeout after 0.5 seconds")
        self.assertLess(time.monotonic() - begin, 5)
        time.sleep(3)
        self.assertFalse(os.path.exists(mark))

    def test_ctrl_c_ends_it(self):
        begun, mark = self.path("begun"), self.path("mark")
        for twice in (False, True):
            process = subprocess.Popen(
                [ASSAY, "diff", self.program, "--inputs", self.inputs, "--profile", "strict", "--backend",
                                        f"trap '' INT TERM; touch {begun}; sleep 4; touch {mark}; : {{outputs}}"],
                                       env=self.environment, stderr=subprocess.PIPE)
            while not os.path.exists(begun) and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            if twice:
                process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=30)[1].decode()
            self.assertEqual(process.returncode, 5)
            self.assertIn("interrupted", errors)
            self.assertEqual(os.listdir(self.temporary), [])
            os.remove(begun)
        time.sleep(4)
        self.assertFalse(os.path.exists(mark))

    def test_usage(self):
        self.diff(2, "true", error="takes a command with {outputs}")
        self.diff(2, self.EXACT, "--actual", self.inputs, error="--actual")
        self.diff(2, self.EXACT, "--rtol", "1", error="either a --profile or tolerances")
        self.diff(2, self.EXACT, "--json", profile=None, error="with a --profile only")
        self.expect(2, "diff", self.program, "--backend", self.EXACT, error="arg0")
        self.expect(2, "diff", self.program, "--backend", self.EXACT, "--profile", "strict", error="arg0")
        self.expect(2, "diff", self.inputs, self.inputs, "--backend", self.EXACT, error="diff takes either")
        self.expect(2, "diff", self.program, self.program, "--spmd", "--backend", self.EXACT,
                    error="diff --spmd takes")

    def test_what_a_backend_is_not_given(self):
        self.diff(4, self.EXACT, "--replicas", "2", error="a backend runs programs of 1 device; this has 2")
        infeed = self.file("i.hlo", "HloModule m\nENTRY e {\n  t = token[] after-all()\n  i = (f32[2], token[]) infeed(t)\n"
                                    "  ROOT x = f32[2] get-tuple-element(i), index=0\n}\n")
        given = self.npz("infeed.npz", infeed0=floats(1, 2))
        self.expect(4, "diff", infeed, "--inputs", given, "--backend", self.EXACT,
                    error="arguments only: no infeed")

    # ---- profiles ----

    def test_profile_show(self):
        shown = self.expect(0, "profile", "show", "xla-gpu-tf32", output="device NVIDIA H200\n").stdout
        for line in ("driver 580.159.04", "ulps tanh f32 6", "dot_input_bits f32 11",
                     "tensor_core_bits bf16 25", "underflows logistic *", "contracts yes"):
            self.assertIn("\n" + line + "\n", shown.decode())
        # What is shown is a profile.
        again = self.expect(0, "profile", "show", self.file("again.profile", shown)).stdout
        self.assertEqual(again, shown)
        value = json.loads(self.expect(0, "profile", "show", "xla-gpu", "--json").stdout)
        self.assertEqual((value["profile"], value["variants"]), ("xla-gpu", ["xla-gpu-tf32"]))
        self.assertEqual(value["origin"]["backend"], "XLA:GPU of JAX 0.11.2, CUDA 13")
        self.assertIn({"op": "tanh", "type": "f32", "ulps": 6}, value["ulps"])
        self.expect(5, "profile", "show", "nobody", error="is neither a profile (strict, ")
        self.expect(2, "profile", "show", error="PROFILE")
        self.expect(2, "profile", error="subcommand")
        self.expect(2, "profile", "list", error="unknown command 'profile list'")

    def test_a_variant_is_tried_where_elements_are_outside(self):
        program = self.file("d.hlo", DOT)
        inputs = self.npz("in.npz", arg0=floats(1.0009765625 + 2**-12, 0), arg1=floats(1, 1))
        cut, wrong = self.npz("cut.npz", out0=floats1(1.0009765625)), self.npz("wrong.npz", out0=floats1(1.1))
        diff = ("diff", program, "--inputs", inputs, "--profile")
        self.expect(0, *diff, "xla-gpu-tf32", "--actual", cut)
        self.expect(1, *diff, "xla-gpu", "--actual", cut,
                    output="by profile xla-gpu-tf32 no element is outside: dots and convolutions may have f32 operands "
                           "cut to 11 significant bits, sums of f32 products cut at 25 fraction bits (%d)\n")
        shown = self.expect(1, *diff, "xla-gpu", "--actual", wrong).stdout
        self.assertNotIn(b"by profile", shown)
        value = json.loads(self.expect(1, *diff, "xla-gpu", "--actual", wrong, "--json").stdout)
        self.assertEqual([(v["profile"], v["outside"]) for v in value["variants"]], [("xla-gpu-tf32", 1)])
        self.assertEqual(value["profile_origin"]["date"], "2026-11-26")
        mine = self.file("mine.profile", "device mine\ninherit xla-gpu\n")
        value = json.loads(self.expect(1, *diff, mine, "--actual", wrong, "--json").stdout)
        self.assertEqual((value["variants"], value["profile_origin"]), ([], {"device": "mine"}))
        page = self.path("page.html")
        self.expect(1, *diff, "xla-gpu", "--actual", cut, "--html", page)
        with open(page) as file:
            self.assertIn("<dt>Profile device</dt><dd>NVIDIA H200</dd>", file.read())


if __name__ == "__main__":
    unittest.main()
