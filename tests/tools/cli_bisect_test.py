#!/usr/bin/env python3
"""assay bisect: which pass changed the outputs (docs/find.md). Usage: cli_bisect_test.py ASSAY"""
import json
import os
import unittest

from cli_testing import ENDLESS, CliCase, floats

# x / 7.3, then by the inverse, then by a wrong one.
DIVIDE = """HloModule jit_f
ENTRY e {
  x = f32[4] parameter(0)
  c = f32[] constant(7.3)
  b = f32[4] broadcast(c), dimensions={}
  ROOT q = f32[4] divide(x, b), metadata={op_name="div"}
}
"""
MULTIPLY = """HloModule jit_f
ENTRY e {
  x = f32[4] parameter(0)
  c.1 = f32[] constant(0.1369863)
  b.1 = f32[4] broadcast(c.1), dimensions={}
  ROOT p = f32[4] multiply(x, b.1), metadata={op_name="div"}
}
"""
WRONG = MULTIPLY.replace("0.1369863", "0.137")
# Two devices: x cut, its sum put together.
WHOLE = """HloModule jit_g, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
}
"""
SHARDED = """HloModule jit_g, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2] parameter(0), sharding={devices=[2]<=[2]}
  zero = f32[] constant(0)
  part = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  ROOT sum = f32[] all-reduce(part), to_apply=add, channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true
}
"""
UNKNOWN = """HloModule jit_f
ENTRY e {
  x = f32[4] parameter(0)
  ROOT q = f32[4] custom-call(x), custom_call_target="nobody_knows_it"
}
"""


class BisectDumps(CliCase):

    def setUp(self):
        super().setUp()
        self.inputs = self.npz("in.npz", arg0=floats(1.7, 2.9, 3.3, 101))

    def dumps(self, *steps, name="jit_f", number=0):
        """A folder with one file a step: before optimization, then after pass a, b, c, …"""
        os.makedirs(self.path("dumps"), exist_ok=True)
        for k, text in enumerate(steps):
            step = f"{k:04}.pipeline.after_pass-{' abcdefgh'[k]}.before_x"
            if k == 0:
                step = "before_optimizations"
            self.file(f"dumps/module_{number:04}.{name}.{step}.txt", text)
        return self.path("dumps")

    def found(self, code, *args):
        return json.loads(self.expect(code, "bisect", *args, "--json").stdout)

    def test_rounding(self):
        folder = self.dumps(DIVIDE, DIVIDE, MULTIPLY, MULTIPLY)
        self.expect(0, "bisect", folder, "--inputs", self.inputs, "--profile", "xla-cpu",
                    output="module_0000.jit_f: 4 dumps, 2 distinct, 2 evaluated\n"
                           "first change of bits: pass-b of pipeline (0002)\n"
                           "  before: module_0000.jit_f.0001.pipeline.after_pass-a.before_x.txt\n"
                           "  after: module_0000.jit_f.0002.pipeline.after_pass-b.before_x.txt\n")
        self.expect(0, "bisect", folder, "--inputs", self.inputs, "--profile", "xla-cpu",
                    output="rounding: all outputs stay inside the bounds by profile xla-cpu")
        self.expect(1, "bisect", folder, "--inputs", self.inputs,
                    output="first difference: %p = f32[4] multiply")
        found = self.found(0, folder, "--inputs", self.inputs, "--profile", "xla-cpu")[0]
        self.assertEqual((found["first_change"], found["first_outside"]), ("pass-b", None))
        pair = found["passes"][0]["first_difference"]["pair"]
        self.assertEqual((pair["first"]["name"], pair["second"]["name"]), ("q", "p"))
        self.assertEqual([step["kind"] for step in found["steps"]],
                         ["evaluated", "same bytes", "evaluated", "same bytes"])

    def test_outside(self):
        """The first change is rounding, a later pass is wrong, the next one undoes it."""
        folder = self.dumps(DIVIDE, MULTIPLY, MULTIPLY, WRONG, MULTIPLY)
        result = self.expect(1, "bisect", folder, "--inputs", self.inputs, "--profile", "xla-cpu",
                             output="first outside of the bounds: pass-c of pipeline (0003)\n")
        self.assertIn("bits change again: pass-d of pipeline (0004)\n", result.stdout.decode())
        self.assertNotIn("rounding:", result.stdout.decode())
        found = self.found(1, folder, "--inputs", self.inputs, "--profile", "xla-cpu")[0]
        self.assertEqual((found["first_change"], found["first_outside"]), ("pass-a", "pass-c"))
        self.assertEqual([step["changed"] for step in found["steps"]], [False, True, False, True, True])
        self.assertEqual(found["evaluated"], 3)
        self.assertEqual(found["passes"][1]["first_difference"]["pair"]["second"]["name"], "c.1")

    def test_no_change(self):
        folder = self.dumps(DIVIDE, DIVIDE.replace("q =", "other ="))
        self.expect(0, "bisect", folder, "--random-inputs", "1",
                    output="no pass changes a bit of the outputs\n")

    def test_skipped(self):
        """Programs that Assay does not evaluate are named, and the pass after them is taken."""
        folder = self.dumps(DIVIDE, UNKNOWN, MULTIPLY)
        result = self.expect(1, "bisect", folder, "--inputs", self.inputs,
                             output="skipped module_0000.jit_f.0001.pipeline.after_pass-a.before_x.txt: ")
        self.assertIn("first change of bits: pass-b", result.stdout.decode())
        self.assertIn("before: module_0000.jit_f.before_optimizations.txt", result.stdout.decode())
        folder = self.dumps(UNKNOWN, DIVIDE, MULTIPLY)
        self.expect(1, "bisect", folder, "--inputs", self.inputs,
                    output="compared with module_0000.jit_f.0001.pipeline.after_pass-a.before_x.txt")
        result = self.call("bisect", self.dumps(UNKNOWN, UNKNOWN, UNKNOWN), "--inputs", self.inputs)
        self.assertIn(result.returncode, (4, 5))

    def test_partitioned(self):
        folder = self.dumps(WHOLE, SHARDED, SHARDED.replace("ROOT sum", "ROOT  sum"), name="jit_g")
        self.expect(0, "bisect", folder, "--inputs", self.inputs, "--profile", "xla-cpu", output="")
        wrong = SHARDED.replace("ROOT sum = f32[] all-reduce(part)", "twice = f32[] add(part, part)\n"
                                "  ROOT sum = f32[] all-reduce(twice)")
        result = self.expect(1, "bisect", self.dumps(WHOLE, wrong, wrong, name="jit_g"), "--inputs",
                             self.inputs, "--profile", "xla-cpu",
                             output="outside of the bounds: pass-a of pipeline (0001)\n")
        self.assertIn("the first collective behind which they differ is '%sum = all-reduce', for '%sum = reduce'",
                      result.stdout.decode())
        # A later pass, of programs that are both partitioned.
        found = self.found(1, self.dumps(WHOLE, SHARDED, wrong, name="jit_g"), "--inputs", self.inputs,
                           "--profile", "xla-cpu")[0]
        self.assertEqual(found["first_outside"], "pass-b")

    def test_several_modules(self):
        self.dumps(DIVIDE, MULTIPLY)
        folder = self.dumps(DIVIDE, WRONG, name="jit_h", number=1)
        self.expect(2, "bisect", folder, "--inputs", self.inputs, error="--module REGEX")
        result = self.expect(1, "bisect", folder, "--random-inputs", "2", output="module_0000.jit_f: ")
        self.assertIn("module_0001.jit_h: ", result.stdout.decode())
        self.expect(1, "bisect", folder, "--inputs", self.inputs, "--module", "jit_h",
                    output="module_0001.jit_h: 2 dumps")

    def test_errors(self):
        self.expect(5, "bisect", self.path("none"), "--random-inputs", "1", error="none")
        os.mkdir(self.path("empty"))
        self.expect(5, "bisect", self.path("empty"), error="--xla_dump_hlo_pass_re")
        folder = self.dumps(DIVIDE, MULTIPLY)
        self.expect(5, "bisect", folder, error="want --inputs IN.npz or --random-inputs SEED")
        self.expect(5, "bisect", folder, "--module", "(", "--random-inputs", "1",
                    error="no regular expression")

    def test_time(self):
        """What was found before the time was over is shown."""
        endless = ENDLESS.replace("HloModule m", "HloModule jit_e")
        done = ENDLESS.replace("HloModule m", "HloModule jit_e").replace("constant(true)", "constant(false)")
        folder = self.dumps(done, done, endless, name="jit_e")
        self.expect(5, "bisect", folder, "--timeout", "1", error="timeout",
                    output="module_0000.jit_e: 2 dumps")


# Stops after n passes: pass 5 rounds otherwise, pass 9 is wrong. No program comes out after 7, nor after 30.
COMPILER = """import sys
program, passes, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if passes == 7:
    sys.exit("pass 7 fails")
if passes == 30:
    sys.exit(0)
text = open(program).read()
if passes >= 5:
    text = text.replace("7.3", "0.1369863").replace("divide", "multiply")
if passes >= 9:
    text = text.replace("0.1369863", "0.137")
open(output, "w").write(text)
"""


class BisectCompiler(CliCase):

    def setUp(self):
        super().setUp()
        self.inputs = self.npz("in.npz", arg0=floats(1.7, 2.9, 3.3, 101))
        self.program = self.file("divide.hlo", DIVIDE)
        compiler = self.file("compiler.py", COMPILER)
        self.command = f"python3 {compiler} {{program}} {{n}} {{output}}"

    def bisect(self, code, passes, *args, **more):
        return self.expect(code, "bisect", self.program, "--command", self.command, "--passes", passes,
                           "--inputs", self.inputs, *args, **more)

    def test_first_passes(self):
        result = self.bisect(1, "0:20", "--profile", "xla-cpu",
                             output="first change of bits: after 5 passes, not after 4\n")
        text = result.stdout.decode()
        self.assertIn("first outside of the bounds: after 9 passes, not after 8\n", text)
        self.assertIn("first difference: %c = f32[] constant\n", text)
        found = json.loads(self.bisect(1, "0:20", "--profile", "xla-cpu", "--json").stdout)
        self.assertEqual([found[key]["after"] for key in ("first_change", "first_outside")], [5, 9])
        self.assertLess(found["evaluated"], 12)

    def test_ends_agree(self):
        self.bisect(0, "0:4",
                    output="both ends agree: after 0 and after 4 passes outputs have the program's bits")
        self.bisect(0, "0:8", "--profile", "xla-cpu",
                    output="outputs do not leave the bounds by profile xla-cpu\n")
        self.bisect(1, "10:20", "--profile", "xla-cpu",
                    output="outputs are outside of the bounds by profile xla-cpu\n")

    def test_failures(self):
        """A number of passes without a program is passed by; at an end it is an error."""
        self.bisect(1, "5:9", "--profile", "xla-cpu",
                    output="skipped 7 passes: the compiler ended with exit code 1")
        self.bisect(5, "0:7",
                    error="after 7 passes: the compiler ended with exit code 1, want 0; it wrote: pass 7")
        self.bisect(5, "0:30", error="after 30 passes: the compiler wrote no {output}")

    def test_usage(self):
        self.bisect(2, "4:4", error="want LOW below HIGH")
        self.bisect(2, "4", error="is not LOW:HIGH")
        self.expect(2, "bisect", self.program, "--command", self.command, error="--passes LOW:HIGH")
        self.expect(2, "bisect", self.program, "--passes", "0:4", error="--command")
        self.expect(2, "bisect", self.program, "--command", "true {program} {n}", "--passes", "0:4",
                    error="lacks {output}")

    def test_time(self):
        """The compiler ends with the time."""
        self.command = "sleep 60 # {program} {n} {output}"
        self.bisect(5, "0:4", "--timeout", "0.5", error="timeout")


if __name__ == "__main__":
    unittest.main()
