#!/usr/bin/env python3
"""Drives the command `assay` through its contract: exit codes, messages, files. Usage: cli_test.py ASSAY"""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import unittest

from cli_testing import ADD, ASSAY, CONSTANT, ENDLESS, CliCase, floats, npy

BUSY = ENDLESS.replace("ROOT d = pred[] parameter(0)", "p = pred[] parameter(0)\n  ROOT d = pred[] copy(p)")


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    """A length-delimited field of a protocol buffer."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


class Cli(CliCase):
    def test_run_prints_results(self):
        self.expect(0, "run", self.file("c.hlo", CONSTANT), output="out0 f32[2]")

    def test_run_writes_results(self):
        inputs = self.npz("in.npz", arg0=floats(1, 2.5))
        result = self.expect(0, "run", self.file("a.hlo", ADD), "--inputs", inputs, "--output",
                             self.path("out.npz"))
        self.assertEqual(result.stdout, b"")
        content = self.read_npz(self.path("out.npz"))
        self.assertEqual(list(content), ["out0.npy"])
        self.assertTrue(content["out0.npy"].endswith(struct.pack("<2f", 2, 5)))
        self.assertIn(b"'<f4'", content["out0.npy"])

    def test_equal_runs_give_equal_files(self):
        program = self.file("a.hlo", ADD)
        for name in ("1.npz", "2.npz"):
            self.expect(0, "run", program, "--random-inputs", "3", "--output", self.path(name))
        with open(self.path("1.npz"), "rb") as one, open(self.path("2.npz"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    # ---- several programs in a file ----

    def test_each_module_of_a_text(self):
        module = "HloModule %s\n\nENTRY e {\n  ROOT c = f32[] constant(%s)\n}\n\n"
        program = self.file("two.hlo", module % ("first", 1) + module % ("second", 2))
        broken = self.file("broken.hlo", module % ("first", 1) + module % ("second", "x"))
        self.expect(0, "verify", program)
        self.expect(3, "verify", broken, error="broken.hlo:10:27: ")
        self.expect(0, "verify", broken, "--module", "first")
        printed = self.expect(0, "print", program).stdout.decode()
        self.assertEqual(printed.count("HloModule"), 2)
        self.expect(0, "print", self.file("again.hlo", printed), output=printed)
        text = self.expect(0, "print", program, "--to", "mlir").stdout.decode()
        self.expect(0, "run", self.file("two.mlir", text), "--module", "second", output="out0 f32[]\n2.")
        self.expect(0, "run", program, "--module", "second", output="out0 f32[]\n2.")
        for command in (["run"], ["print", "--to", "pb"], ["plan"], ["bench"]):
            self.expect(2, command[0], program, *command[1:],
                        error="holds 2 programs, first, second: --module NAME")
        self.expect(2, "run", program, "--module", "third", error="holds 2 programs")

    # ---- test programs ----

    def test_a_failing_check_ends_the_run(self):
        program = """func.func @main() {
  %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %a, dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %a, dense<[1, 0, 0]> : tensor<3xi32>
  return
}
"""
        passing = program.replace("[1, 0, 0]", "[1, 2, 3]")
        self.expect(0, "run", self.file("good.mlir", passing))
        bad = self.file("bad.mlir", program)
        message = "bad.mlir:4:3: error: check.expect_eq_const: 2 of 3 elements differ, the first at [1]: found 2, want 0"
        self.expect(1, "run", bad, error=message)
        self.expect(0, "verify", bad)
        for form in ("hlo", "pb"):
            printed = self.file("bad." + form, self.expect(0, "print", "--to", form, bad).stdout)
            self.expect(1, "run", printed, error="found 2, want 0")

    def test_a_file_of_several_programs_runs_each(self):
        part = "func.func @f() {\n  %a = stablehlo.constant dense<5> : tensor<i8>\n" \
               "  check.expect_eq_const %a, dense<WANT> : tensor<i8>\n  return\n}\n"
        parts = [part.replace("WANT", wanted) for wanted in ("5", "6", "5", "7")]
        path = self.file("many.mlir", "// nothing\n\n// -----\n\n" + "\n// -----\n\n".join(parts))
        self.expect(1, "run", path, error=["many.mlir:15:3: error: check.expect_eq_const: found 5, want 6",
                                           "many.mlir:31:3: error: check.expect_eq_const: found 5, want 7"])
        self.expect(0, "verify", path)
        self.expect(2, "run", path, "--json", error="many.mlir holds 4 programs")
        self.expect(0, "run", self.file("good.mlir", "\n// -----\n".join([parts[0]] * 2)))
        broken = self.file("broken.mlir", "\n// -----\n".join([parts[0], parts[0].replace("return", "?")]))
        self.expect(3, "run", broken, error="broken.mlir:11:3: error")
        self.expect(3, "verify", broken, error="broken.mlir:11:3: error")

    def test_probes_and_prints(self):
        program = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = interpreter.probe %x, probe_id = "a\\22b" : tensor<2xf32>
  %q = interpreter.print %p : tensor<2xf32>
  return %q : tensor<2xf32>
}
"""
        path = self.file("p.mlir", program)
        inputs = self.npz("in.npz", arg0=floats(1, 2.5))
        self.expect(0, "run", path, "--inputs", inputs, "--output", self.path("out.npz"),
                    output="f32[2]\n[ 1. 2.5]")
        self.assertEqual(sorted(self.read_npz(self.path("out.npz"))), ["out0.npy", 'probe/a"b.0.npy'])
        result = self.call("run", path, "--inputs", inputs, "--json")
        self.assertEqual(list(json.loads(result.stdout)["outputs"]), ["out0", 'probe/a"b.0'])
        self.assertIn(b"[ 1. 2.5]", result.stderr)
        # A name can't move the terminal's cursor or cut a file's name short.
        escape = self.file("e.mlir", program.replace("22", "1B[2J"))
        self.assertNotIn(b"\x1b", self.expect(0, "run", escape, "--inputs", inputs).stdout)
        zero = self.file("z.mlir", program.replace("22", "00"))
        self.expect(3, "run", zero, "--inputs", inputs, error="zero byte")

    def test_a_tuple_has_a_key_for_each_leaf(self):
        program = """HloModule m
ENTRY e {
  p = (bf16[1], (pred[2], token[])) parameter(0)
  b = bf16[1] get-tuple-element(p), index=0
  i = (pred[2], token[]) get-tuple-element(p), index=1
  ROOT r = (bf16[1], (pred[2], token[])) tuple(b, i)
}
"""
        inputs = self.npz("in.npz", arg0__0=npy("|V2", [1], b"\x80\x3f"), arg0__1__0=npy("|b1", [2], b"\1\0"))
        self.expect(0, "run", self.file("t.hlo", program), "--inputs", inputs, "--output",
                    self.path("out.npz"))
        content = self.read_npz(self.path("out.npz"))
        self.assertEqual(sorted(content), ["out0.npy", "out1.0.npy"])
        self.assertIn(b"'|V2'", content["out0.npy"])
        self.assertTrue(content["out0.npy"].endswith(b"\x80\x3f"))
        self.assertIn(b"'|b1'", content["out1.0.npy"])

    def test_infeed_and_outfeed(self):
        program = """HloModule m
ENTRY e {
  t = token[] after-all()
  i = (f32[1], token[]) infeed(t)
  x = f32[1] get-tuple-element(i), index=0
  o = token[] outfeed(x, t), outfeed_shape=f32[1]
  ROOT r = f32[1] negate(x)
}
"""
        program = self.file("f.hlo", program)
        inputs = self.npz("in.npz", infeed0=floats(4))
        result = self.expect(0, "run", program, "--inputs", inputs, "--json")
        outputs = json.loads(result.stdout)["outputs"]
        self.assertEqual(outputs["out0"]["data"], [-4])
        self.assertEqual(outputs["outfeed0"]["data"], [4])
        self.expect(5, "run", program, error="infeed exhausted")

    def test_json(self):
        program = ("HloModule m\nENTRY e {\n  a = f32[3] constant({1, nan, -inf})\n  b = c64[1] constant({(1, 2)})\n"
                   "  c = pred[0] constant({})\n  ROOT r = (f32[3], c64[1], pred[0]) tuple(a, b, c)\n}\n")
        result = self.expect(0, "run", self.file("j.hlo", program), "--json")
        value = json.loads(result.stdout, parse_constant=lambda name: self.fail(f"{name} is no JSON"))
        self.assertEqual(value["outputs"]["out0"]["shape"], [3])
        self.assertEqual(value["outputs"]["out0"]["data"][0], 1)
        self.assertEqual(value["outputs"]["out2"]["data"], [])
        self.assertGreater(value["steps"], 0)

    def test_standard_input(self):
        self.expect(0, "run", "-", input=CONSTANT.encode(), output="out0 f32[2]")
        self.expect(0, "verify", "-", input=CONSTANT.encode())
        self.expect(3, "verify", "-", input=b"HloModule", error="-:1:")

    def test_memory_and_step_limits(self):
        program = self.file("b.hlo", "HloModule m\nENTRY e {\n  z = f32[] constant(1)\n"
                                     "  ROOT b = f32[1000,1000] broadcast(z), dimensions={}\n}\n")
        self.expect(5, "run", program, "--memory-limit", "1000000", error="memory")
        self.expect(0, "run", program, "--memory-limit", "5000000", "--output", self.path("o.npz"))
        self.expect(5, "run", self.file("w.hlo", ENDLESS), "--max-steps", "1000", error="--max-steps")

    # ---- inputs that do not fit ----

    def test_without_inputs_the_parameters_are_listed(self):
        self.expect(2, "run", self.file("a.hlo", ADD),
                    error=["arg0", "f32[2]", "--inputs", "--random-inputs"])

    def test_inputs_that_do_not_fit(self):
        program = self.file("a.hlo", ADD)
        for arrays, error in (({}, "'arg0' is missing"), ({"arg1": floats(1, 2)}, "'arg0' is missing"),
                              ({"arg0": floats(1, 2), "arg7": floats(1)}, "'arg7'"),
                              ({"arg0": floats(1, 2, 3)}, "arg0"),
                              ({"arg0": npy("<f8", [2], b"\0" * 16)}, "arg0"),
                              ({"arg0": npy("<f4", [2], b"\0" * 7)}, "arg0")):
            self.expect(5, "run", program, "--inputs", self.npz("in.npz", **arrays), error=error)

    def test_damaged_files(self):
        program = self.file("a.hlo", ADD)
        with open(self.npz("good.npz", arg0=floats(1, 2)), "rb") as good:
            data = good.read()
        for name, content in (("empty", b""), ("half", data[:len(data) // 2]), ("text", b"hello"),
                              ("bits", data.replace(b"NUMPY", b"NUMPX")), ("zeros", bytes(1000))):
            self.expect(5, "run", program, "--inputs", self.file(f"{name}.npz", content), error=f"{name}.npz")
        self.expect(5, "run", program, "--inputs", self.path("none.npz"), error="none.npz")
        self.expect(5, "run", program, "--inputs", self.folder.name)

    # ---- outputs that can't be written ----

    def test_output_that_cannot_be_written(self):
        program = self.file("c.hlo", CONSTANT)
        self.expect(5, "run", program, "--output", "/dev/full", error="/dev/full")
        self.expect(5, "run", program, "--output", self.path("no/folder/o.npz"), error="o.npz")
        self.expect(5, "run", program, "--output", self.folder.name)
        self.assertEqual(os.listdir(self.folder.name), ["c.hlo"])
        self.assertTrue(os.path.exists("/dev/full"))

    def test_standard_output_that_cannot_be_written(self):
        program = self.file("c.hlo", CONSTANT)
        for args in (("run", program), ("run", program, "--json"), ("print", program), ("plan", program),
                     ("ops",)):
            with open("/dev/full", "wb") as full:
                self.expect(5, *args, stdout=full, error="standard output")
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "wb") as closed:
                self.expect(5, *args, stdout=closed, error="standard output")

    # ---- programs that are refused ----

    def test_errors_show_the_place(self):
        text = ADD.replace("add(x, x)", "add(x, y2)")
        result = self.expect(3, "verify", self.file("e.hlo", text),
                             error=f"{self.path('e.hlo')}:4:26: error: ")
        lines = result.stderr.decode().splitlines()
        self.assertEqual(lines[1].strip(), "ROOT y = f32[2] add(x, y2)")
        self.assertEqual(lines[1].index("y2"), lines[2].index("^"))
        self.assertEqual(result.stdout, b"")

    def test_invalid_programs(self):
        nested = "(" * 100000
        for name, content in (("empty", ""), ("nul", b"HloModule m\0\nENTRY e {}\n"), ("zeros", bytes(100)),
                              ("word", "hello"),
                              ("shape", f"HloModule m\nENTRY e {{\n  ROOT p = {nested} parameter(0)\n}}\n"),
                              ("literal", f"HloModule m\nENTRY e {{\n  ROOT p = f32[] constant({'{' * 100000}\n}}\n"),
                              ("attribute", f"HloModule m, frontend_attributes={'{' * 100000}\n"),
                              ("cut", ADD[:-2]), ("bytes", bytes(range(128, 256))),
                              ("shapes", ADD.replace("f32[2] add", "f32[3] add")),
                              ("unused", ADD.replace("  ROOT", "  n = f32[9] negate(x)\n  ROOT"))):
            path = self.file(f"{name}.hlo", content)
            for command in ("verify", "run", "print", "plan"):
                self.expect(3, command, path, error=f"{name}.hlo")

    def test_escapes_in_names_are_shown_escaped(self):
        result = self.expect(3, "verify", self.file(
            "x.hlo", b"HloModule m\nENTRY e {\n  ROOT \x1b[31m = f32[] parameter(0)\n}\n"))
        self.assertNotIn(b"\x1b", result.stderr)

    def test_verify_prints_nothing_when_fine(self):
        result = self.expect(0, "verify", self.file("a.hlo", ADD))
        self.assertEqual(result.stdout, b"")

    def test_missing_program(self):
        self.expect(5, "verify", self.path("none.hlo"), error="none.hlo")
        self.expect(5, "verify", self.folder.name)

    def test_what_is_not_supported(self):
        unknown = CONSTANT.replace("constant({1, 2.5})", 'custom-call(), custom_call_target="acme"')
        self.expect(4, "run", self.file("u.hlo", unknown), error=["u.hlo:3:", "no custom call target acme"])

    # ---- protocol buffers ----

    def test_protos_run_verify_plan_and_print(self):
        written = self.expect(0, "print", self.file("c.hlo", CONSTANT), "--to", "pb").stdout
        text = self.expect(0, "print", self.path("c.hlo")).stdout
        # XLA dumps: the name decides nothing.
        for name in ("module_0001.m.before_optimizations.hlo.pb", "module_0001.m.before_optimizations.txt",
                     "c"):
            for content in (written, field(1, written), field(1, field(1, written))):
                program = self.file(name, content)
                self.expect(0, "run", program, output="out0 f32[2]")
                self.expect(0, "verify", program)
                self.expect(0, "plan", program)
                self.assertEqual(self.expect(0, "print", program).stdout, text)
                self.assertEqual(self.expect(0, "print", program, "--to", "pb").stdout, written)
        golden = self.expect(0, "golden", "record", self.path("c")).stdout
        self.expect(0, "golden", "check", self.file("g.hlo", golden), output="1 passed")

    def test_a_snapshot_brings_inputs_and_outputs(self):
        module = self.expect(0, "print", self.file("a.hlo", ADD), "--to", "pb").stdout
        shape = b"\x10\x0b\x1a\x01\x02\x2a\x03\x0a\x01\x00"  # f32[2]{0}

        def literal(*values):
            return field(1, shape) + field(8, struct.pack(f"<{len(values)}f", *values))

        head = field(1, field(1, module)) + field(2, literal(1, 2.5))
        os.mkdir(self.path("goldens"))
        good = self.file("goldens/jit_f.snapshot.0.pb", head + field(3, literal(2, 5)))
        self.expect(0, "run", good, output="[2. 5.]")
        self.expect(0, "run", good, "--inputs", self.npz("in.npz", arg0=floats(3, 4)), output="[6. 8.]")
        self.expect(0, "golden", "check", self.path("goldens"), output="1 passed, 0 failed")
        bad = self.file("bad.pb", head + field(3, literal(2, 5.5)))
        self.expect(1, "golden", "check", bad, output="expected 5.5, actual 5")
        self.expect(1, "golden", "check", self.file("none.pb", head), output="not an HloSnapshot")
        wrong = self.file("wrong.pb",
                          field(1, field(1, module)) + field(2, literal(1, 2)) + field(2, literal(1, 2)))
        self.expect(5, "run", wrong, error="arg1")

    def test_hostile_protos_are_refused_quickly_and_in_little_memory(self):
        good = self.expect(0, "print", self.file("a.hlo", ADD), "--to", "pb").stdout
        levels, size = [], 2
        for _ in range(100_000):
            levels.append(b"\x10\x0d\x22" + varint(size))
            size += len(levels[-1])
        shape = b"".join(reversed(levels)) + b"\x10\x0b"
        instruction = field(1, b"i") + field(2, b"tuple") + field(3, shape)
        for content in (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", good + b"\x28" + b"\xff" * 20,
                        field(3, field(2, instruction)), good + field(3, b"\x12\x00" * 2_000_000),
                        good[:-1], good[:100]):
            program = self.file("x.pb", content)
            with subprocess.Popen([ASSAY, "verify", program], stderr=subprocess.PIPE) as process:
                message = process.stderr.read().decode(errors="replace")
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 3, message)
            self.assertLess(used.ru_utime + used.ru_stime, 1)
            self.assertLess(used.ru_maxrss, 256 * 1024)

    def test_wrong_usage(self):
        program = self.file("a.hlo", CONSTANT)
        for args in ((), ("fly",), ("run",), ("run", program, "--color"),
                     ("run", program, "--engine", "steam"),
                     ("run", program, "--max-steps", "0"), ("run", program, "--timeout", "-1"),
                     ("verify", program, program),
                     ("run", program, "--max-steps", "99999999999999999999"),
                     ("run", program, "--seed", "18446744073709551616"),
                     ("run", program, "--random-inputs", "-1"), ("run", program, "--memory-limit", "1.5"),
                     ("golden",), ("golden", "check"), ("run", program, "--jobs", "0"),
                     ("run", program, "--jobs", "1025"),
                     ("print", program, "--to", "pdf"), ("ops", "fly"), ("diff", program),
                     ("run", program, "--crosscheck", "x"),
                     ("run", program, "--inputs", "a.npz", "--random-inputs", "1")):
            self.expect(2, *args)

    def test_wrong_usage_says_what_is_wrong(self):
        program = self.file("a.hlo", CONSTANT)
        for args, error in ((("fly",), "assay: error: unknown command 'fly'; see assay --help"),
                            ((), "assay: error: A subcommand is required"),
                            (("run",), "assay: error: PROGRAM is required"),
                            (("run", program, "--engine", "steam"), "assay: error: --engine: steam not in"),
                            (("run", program, "--timeout", "nan"),
                             "--timeout: 'nan' is not a number of seconds"),
                            (("run", program, "--timeout", "1e300"), "at most 1e9"),
                            (("run", program, "--timeout", "0"), "more than 0"),
                            (("diff", "a.npz", "b.npz", "--rtol", "nan"),
                             "--rtol: 'nan' is not a number that is at least 0"),
                            (("diff", "a.npz", "b.npz", "--atol", "-1"), "--atol: '-1'"),
                            (("diff", "a.npz", "b.npz", "--ulps", "-1"), "--ulps: '-1'")):
            self.expect(2, *args, error=error)
        self.expect(0, "run", program, "--timeout", "1e3")

    def test_flags_without_a_meaning_are_refused(self):
        program = self.file("a.hlo", CONSTANT)
        limits = (("--seed", "7"), ("--max-steps", "9"), ("--memory-limit", "9"), ("--timeout", "9"))
        engine = (("--engine", "exact"), ("--cpu", "baseline"))
        kernels = (("--crosscheck", "full"), ("--repro-dir", "r"), ("--jobs", "2"))
        inputs = (("--inputs", "a.npz"), ("--random-inputs", "1"))
        devices = (("--replicas", "1"), ("--partitions", "1"))
        accepted = {("run",): limits + engine + kernels + inputs[1:] + devices,
                    ("bench",): limits + engine + kernels + inputs[1:] + devices,
                    ("plan",): engine + devices, ("golden", "record"): limits + inputs[1:] + devices,
                    ("golden", "check"): limits[1:] + engine + kernels,
                    ("golden", "update"): (), ("verify",): (), ("print",): ()}
        golden = self.file("g.hlo", "// oracle: hand\n// out0: f32[2] {1, 2.5}\n" + CONSTANT)
        for command, flags in accepted.items():
            path = golden if command[0] == "golden" and command[1] != "record" else program
            for flag in limits + engine + kernels + inputs + devices:
                if flag in flags:
                    self.expect(0, *command, path, *flag)
                elif not (flag[0] == "--inputs" and inputs[1] in flags):
                    self.expect(2, *command, path, *flag, error=["expected: ", flag[0]])

    def test_no_file_has_no_name(self):
        program, npz = self.file("a.hlo", CONSTANT), self.npz("o.npz", out0=floats(1, 2.5))
        for args, flag in ((("run", ""), "PROGRAM"), (("run", program, "--inputs", ""), "--inputs"),
                           (("golden", "check", ""), "PATH"),
                           (("diff", npz, ""), "SECOND"), (("diff", program, "--actual", ""), "--actual"),
                           (("run", program, "--output", ""), "--output"), (("run", program, "--trace", ""),
                                                                            "--trace"),
                           (("golden", "record", program, "--output", ""), "--output")):
            self.expect(2, *args, error=f"{flag}: '' names no file")
        for args in (("run", program, "--output", "-"), ("bench", program, "--trace", "-"), ("golden",
                                                                                             "record",
                                                                                             program,
                                                                                             "--output",
                                                                                             "-")):
            self.expect(2, *args, error="'-' names no file to write", cwd=self.folder.name)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.hlo", "o.npz"])

    def test_an_error_names_its_file_once(self):
        program, none = self.file("a.hlo", ADD), self.path("none")
        for args in (("run", none), ("verify", none), ("run", program, "--inputs", none), ("plan", none),
                     ("diff", none, none), ("run", program, "--inputs", self.file("none.npz", "hello"))):
            message = self.expect(5, *args).stderr.decode()
            self.assertTrue(message.startswith(args[-1] + ": error: "), message)
            self.assertEqual(message.count(args[-1]), 1)
        two = self.npz("two.npz", arg0=floats(1, 2), arg1=floats(3))
        message = self.expect(5, "run", program, "--inputs", two).stderr.decode()
        self.assertEqual(message, f"{two}: error: 'arg1' is not a parameter of the program, which takes arg0\n")

    def test_without_inputs_every_command_asks_for_them(self):
        program, actual = self.file("a.hlo", ADD), self.npz("out.npz", out0=floats(2, 4))
        for args in (("run", program), ("diff", program, "--actual", actual), ("golden", "record", program)):
            self.expect(2, *args,
                        error=[program + " takes inputs", "arg0  f32[2]", "--inputs", "--random-inputs"])

    # ---- the other commands ----

    def test_help_and_version(self):
        self.expect(0, "--help", output="Assay")
        self.expect(0, "--version", output="assay ")
        for command in ("run", "verify", "print", "plan", "bench", "diff", "golden", "ops"):
            self.expect(0, command, "--help", output="--help")

    def test_an_operation_as_json(self):
        gather = json.loads(self.expect(0, "ops", "gather", "--json").stdout)
        self.assertEqual([gather[key] for key in ("op", "builder", "stablehlo")],
                         ["gather", "Gather", "gather"])
        self.assertEqual((gather["min_operands"], gather["max_operands"]), (2, 2))
        self.assertIn({"name": "slice_sizes", "required": True}, gather["attributes"])
        self.assertIn({"name": "indices_are_sorted", "required": False}, gather["attributes"])
        self.assertEqual(gather["engines"]["exact"], ["native"])
        self.assertEqual(gather["rules"], [f"Gather-C{n}" for n in range(1, 12)])
        root = pathlib.Path(__file__).resolve().parents[2]
        self.assertIn(gather["section"], (root / "docs/spec/operations-shape.md").read_text())
        tuple_ = json.loads(self.expect(0, "ops", "tuple", "--json").stdout)
        self.assertIsNone(tuple_["max_operands"])
        self.expect(2, "ops", "fly", "--json", error="there is no registered operation 'fly'")

    def test_ops_lists_every_operation(self):
        lines = self.expect(0, "ops").stdout.decode().splitlines()
        self.assertEqual(len(lines), 133)
        self.assertEqual(len({line.split()[0] for line in lines}), 133)
        self.expect(0, "ops", "gather", output="offset_dims")
        engines = {line.split()[0]: line.split()[1] for line in lines}
        self.assertEqual(engines["convolution"], "reference,exact,fast,gpu,gpu-fast")
        for op in ("add", "gather", "iota", "sort"):
            self.assertEqual(engines[op], "reference,exact,gpu,gpu-fast")
        self.assertEqual(engines["while"], "reference,exact")
        self.assertEqual(engines["rng"], "reference")
        self.expect(0, "ops", "sort",
                    output="engines           reference,exact,gpu,gpu-fast\n  --engine exact    native\n")
        self.expect(0, "ops", "dot", output="rounded-sums, native\n")

    def test_ops_prints_the_specification(self):
        pages = pathlib.Path(__file__).resolve().parents[2] / "docs" / "spec"
        elementwise, rng = ((pages / f"operations-{name}.md").read_text(encoding="utf-8")
                            for name in ("elementwise", "rng"))
        for opcode, heading, page in (("clamp", "Clamp (`clamp`)", elementwise),
                                      ("minimum", "Max, Min (`maximum`, `minimum`)", elementwise),
                                      ("select", "Select (`select`)", elementwise),  # the last of its page
                                      ("rng", "RngUniform, RngNormal (`rng`)", rng)):
            section = re.search(rf"^### {re.escape(heading)}\n.*?(?=^#{{1,3}} |\Z)", page,
                                re.M | re.S)[0].rstrip()
            text = self.expect(0, "ops", opcode).stdout.decode()
            self.assertTrue(text.endswith(f"\n\n{section}\n"), opcode)
        self.assertEqual(self.expect(0, "ops", "Clamp-C1").stdout.decode(),
                         "- **Clamp-C1** (StableHLO: clamp C3) The three are arrays of one element type.\n")
        for label, last in (("SHAPE-3", "and 1 for a scalar.\n"),
                            ("Clamp-C2", "have the operand's dimensions.\n")):
            text = self.expect(0, "ops", label).stdout.decode()
            self.assertTrue(text.startswith(f"- **{label}** ") and text.endswith(last), text)
        for unknown in ("Clamp-C", "Clamp-C99", "CLAMP-C2", "**", "clamp`"):
            self.expect(2, "ops", unknown, error=f"there is no operation and no rule '{unknown}'")

    def test_ops_lists_the_calls_of_linear_algebra_apart(self):
        targets = [line.split()[0] for line in self.expect(0, "ops", "--lapack").stdout.decode().splitlines()]
        self.assertEqual(targets, sorted(set(targets)))
        for routine in ("getrf", "geqrf", "gesdd", "geev", "gees", "gtsv"):
            for letter in "sdcz":
                self.assertIn(f"lapack_{letter}{routine}_ffi", targets)
        for target in ("lapack_dsyevd_ffi", "lapack_zheevd_ffi", "lapack_dorgqr_ffi", "lapack_cungqr_ffi",
                       "Qr"):
            self.assertIn(target, targets)
        self.expect(0, "ops", "lapack_sgetrf_ffi", output="custom call of JAX's linear algebra")
        self.expect(2, "ops", "lapack_sgetrf")

    def test_print_is_canonical(self):
        first = self.expect(0, "print", self.file("a.hlo", ADD)).stdout
        self.assertEqual(self.expect(0, "print", self.file("b.hlo", first)).stdout, first)

    def test_print_to_mlir(self):
        printed = self.expect(0, "print", self.file("a.hlo", ADD), "--to", "mlir",
                              output="func.func public @main").stdout
        program = self.file("b.mlir", printed)
        self.assertEqual(self.expect(0, "print", program, "--to", "mlir").stdout, printed)
        inputs = self.npz("in.npz", arg0=floats(1, 2.5))
        self.assertEqual(self.expect(0, "run", program, "--inputs", inputs).stdout,
                         self.expect(0, "run", self.path("a.hlo"), "--inputs", inputs).stdout)
        state = CONSTANT.replace("f32[2] constant({1, 2.5})", "u64[2] rng-get-and-update-state(), delta=1")
        self.expect(4, "print", self.file("s.hlo", state), "--to", "mlir",
                    error=["s.hlo:3:", "rng-get-and-update-state '%"])

    def test_instruction_sets_are_capped(self):
        program = self.file("a.hlo", ADD)
        self.expect(0, "plan", program, "--cpu", "baseline", output="(jit: no AVX2)")
        self.expect(0, "run", program, "--random-inputs", "1", "--cpu", "baseline")
        self.expect(2, "run", program, "--cpu", "abacus")

    def test_plan_names_each_step(self):
        self.expect(0, "plan", self.file("a.hlo", ADD), output="%y = f32[2] add")

    def test_bench(self):
        value = json.loads(self.expect(0, "bench", self.file("c.hlo", CONSTANT), "--json").stdout)
        self.assertEqual(set(value),
                         {"median_s", "min_s", "runs", "compile_s", "sums", "pairs_share", "slices_share",
                                      "values", "second_share", "reference_share"})

    def test_diff_of_two_files(self):
        one = self.npz("1.npz", out0=floats(1, 2))
        two = self.npz("2.npz", out0=npy("<f4", [2], struct.pack("<2I", 0x3F800001, 0x40000000)))
        three = self.npz("3.npz", out1=floats(1))
        self.expect(0, "diff", one, one)
        self.assertIn(b"ulp", self.expect(1, "diff", one, two).stdout.lower())
        self.expect(0, "diff", one, two, "--ulps", "1")
        for tolerance in ("--rtol", "--atol"):
            self.expect(0, "diff", one, two, tolerance, "2e-7")
            self.expect(1, "diff", one, two, tolerance, "1e-8")
        self.expect(1, "diff", one, three, output="missing")
        self.expect(5, "diff", one, self.path("none.npz"))
        for flags in (("--inputs", one), ("--random-inputs", "1")):
            self.expect(2, "diff", one, one, *flags, error="diff of two .npz files runs nothing")

    def test_diff_of_a_program(self):
        program = self.file("a.hlo", ADD)
        inputs = self.npz("in.npz", arg0=floats(1, 2))
        self.expect(0, "diff", program, "--actual", self.npz("good.npz", out0=floats(2, 4)), "--inputs",
                    inputs)
        self.expect(1, "diff", program, "--actual", self.npz("bad.npz", out0=floats(2, 5)), "--inputs",
                    inputs)

    # ---- interruption ----

    def test_timeout(self):
        for text in (ENDLESS, BUSY):
            start = time.monotonic()
            self.expect(5, "run", self.file("w.hlo", text), "--timeout", "1", error="timeout")
            self.assertLess(time.monotonic() - start, 3)

    def test_interrupt_ends_a_file_of_several_programs(self):
        endless = """func.func @main() -> tensor<i1> {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.while(%a = %t) : tensor<i1> cond {
    stablehlo.return %a : tensor<i1>
  } do {
    stablehlo.return %a : tensor<i1>
  }
  return %r : tensor<i1>
}
"""
        path = self.file("w.mlir", endless + "// -----\n" + endless)
        with subprocess.Popen([ASSAY, "run", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=10)
        self.assertEqual((process.returncode, errors.count(b"interrupted")), (5, 1), errors)

    def test_interrupt(self):
        for text in (ENDLESS, BUSY):
            process = subprocess.Popen([ASSAY, "run", self.file("w.hlo", text)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(0.5)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=10)
            self.assertLess(time.monotonic() - start, 2)
            self.assertEqual(process.returncode, 5, errors)
            self.assertIn(b"interrupted", errors)


if __name__ == "__main__":
    unittest.main()
