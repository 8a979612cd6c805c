#!/usr/bin/env python3
"""--plugin: programs on libraries with PJRT's C API, from outside. Usage:
cli_plugin_test.py ASSAY PLUGIN FAULTY_PLUGIN"""
import math
import os
import re
import sys
import unittest

from cli_testing import ADD, ASSAY, CONSTANT, ENDLESS, CliCase, floats

OWN, FAULTY = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
MANY = ("HloModule m\nENTRY e {\n" + "".join(f"  c{i} = s32[] constant({i})\n" for i in range(12)) +
        "  ROOT t = (" + ", ".join(["s32[]"] * 12) + ") tuple(" + ", ".join(f"c{i}" for i in range(12))
        + ")\n}\n")


# What is measured on some arguments of any type.
SAMPLED = {"add", "atan2", "convert", "divide", "multiply", "power", "remainder", "subtract"}


class Plugin(CliCase):
    def faulty(self, fault, code, *args, **expected):
        return self.expect(code, *args, "--plugin", FAULTY, env={**os.environ, "ASSAY_FAULT": fault},
                           **expected)

    def test_run_prints_and_writes_what_assay_itself_does(self):
        inputs = self.npz("in.npz", arg0=floats(1, 2.5))
        for text in (ADD, CONSTANT, MANY):
            program = self.file("p.hlo", text)
            given = ["--inputs", inputs] if text == ADD else []
            own = self.expect(0, "run", program, *given, "--output", self.path("own.npz"))
            shown = self.expect(0, "run", program, *given).stdout
            self.assertEqual(self.expect(0, "run", program, *given, "--plugin", OWN).stdout, shown)
            self.expect(0, "run", program, *given, "--plugin", OWN, "--output", self.path("plugin.npz"))
            self.assertEqual(self.read_npz(self.path("own.npz")), self.read_npz(self.path("plugin.npz")))
            self.assertEqual(own.stdout, b"")
        self.expect(0, "run", self.file("c.hlo", CONSTANT), "--plugin", OWN, "--json",
                    output='"data": [1, 2.5]')
        self.expect(0, "run", self.file("a.hlo", ADD), "--plugin", OWN, "--random-inputs", "3")

    def test_every_form_of_a_program(self):
        program = self.file("p.hlo", CONSTANT)
        for form in ("pb", "mlir", "hlo"):
            printed = self.expect(0, "print", program, "--to", form).stdout
            self.expect(0, "run", self.file(f"q.{form}", printed), "--plugin", OWN, output="2.5")

    def test_options(self):
        program = self.file("p.hlo", CONSTANT)
        self.expect(0, "run", program, "--plugin", OWN, "--plugin-option", "engine=reference",
                    "--plugin-option", "seed=7")
        self.expect(5, "run", program, "--plugin", OWN, "--plugin-option", "engine=no",
                    error=["PJRT_Client_Create: INVALID_ARGUMENT", "option engine is 'no'"])
        self.expect(5, "run", program, "--plugin", OWN, "--plugin-option", "engine", error="want NAME=VALUE")
        self.expect(2, "run", program, "--plugin-option", "engine=reference", error="--plugin")
        self.expect(2, "run", program, "--plugin", OWN, "--engine", "fast", error="--engine")
        self.expect(2, "run", program, "--plugin", "", error="names no file")

    def test_what_can_not_be_run(self):
        program = self.file("p.hlo", CONSTANT)
        self.expect(5, "run", program, "--plugin", self.path("none.so"), error="none.so")
        self.expect(5, "run", program, "--plugin", self.file("text.so", "text"), error="text.so")
        replicas = self.file("r.hlo", "HloModule m, replica_count=2\nENTRY e {\n  ROOT r = u32[] replica-id()\n}\n")
        self.expect(4, "run", replicas, "--plugin", OWN, error="1 device; this has 2")
        queued = self.npz("queued.npz", arg0=floats(1, 2.5), infeed0=floats(1))
        self.expect(4, "run", self.file("a.hlo", ADD), "--inputs", queued, "--plugin", OWN, error="no infeed")
        self.expect(2, "run", self.file("a.hlo", ADD), "--plugin", OWN, error="takes inputs")
        self.faulty("old", 4, "run", program, error="version 0.28")
        self.faulty("null:Client_Compile", 4, "run", program, error="no function PJRT_Client_Compile")
        self.faulty("error:Client_Compile", 5, "run", program, error="DATA_LOSS: as the test wants it")
        self.faulty("no_devices", 5, "run", program, error="there are no devices")
        self.faulty("never", 5, "run", program, "--timeout", "0.5", error="timeout")

    def test_a_program_without_end_ends_with_the_time_limit(self):
        self.expect(5, "run", self.file("p.hlo", ENDLESS), "--random-inputs", "1", "--plugin", OWN,
                    "--timeout", "0.5", error="timeout after 0.5 seconds")

    def measured(self, path):
        """The lines of a profile: ulps, and what was measured, by operation and type."""
        with open(path) as file:
            text = file.read()
        lines = re.findall(r"^ulps (\S+) (\S+) (\S+)  # (\S+)", text, re.M)
        return text, {(op, element): (float(allowed), float(found)) for op, element, allowed, found in lines}

    def test_profile_measure(self):
        path = self.path("own.profile")
        few = ("--count", "300", "--seed", "7", "--output", path)
        self.expect(0, "profile", "measure", "--plugin", OWN, *few, "--origin", "driver none at all")
        text, found = self.measured(path)
        self.assertEqual(found, {})
        self.assertIn("\ninherit strict\n# Every result was the exact one", text)
        for line in ("made_by assay ", f"backend {OWN} (assay", "device assay exact", "driver none at all",
                     "date 20", "arguments 300 of all exponents and 300 near 1 of each function, seed 7"):
            self.assertIn("\n" + line, "\n" + text)
        shown = self.expect(0, "profile", "show", path, output="device assay exact").stdout.decode()
        self.assertNotIn("inherit", shown)
        # Three ulps off, and five where that leads beyond a power of two.
        self.faulty("three_ulps", 0, "profile", "measure", *few)
        text, found = self.measured(path)
        self.assertEqual(len(found), 4 * 27 + 3)
        for (op, element), (allowed, measured) in found.items():
            self.assertTrue(3.5 <= measured <= 5.5, (op, element, measured))
            more = measured + max(1, measured / 4)
            sampled = element in ("f32", "f64") or op in SAMPLED
            self.assertEqual(allowed, math.ceil(2 * more) / 2 if sampled else measured)
        self.assertNotIn("Every result", text)
        self.faulty("error:Client_Compile", 5, "profile", "measure", error="as the test wants it")

    def test_profile_measure_of_a_command(self):
        path = self.path("own.profile")
        command = f"{ASSAY} run {{program}} --inputs {{inputs}} --output {{outputs}}"
        self.expect(0, "profile", "measure", "--backend", command, "--count", "100", "--output", path,
                    "--origin", "device this one")
        text, _ = self.measured(path)
        self.assertIn("inherit strict\n# Every result", text)
        self.assertIn("device this one\n", text)
        self.expect(2, "profile", "measure", error="takes a backend")
        self.expect(2, "profile", "measure", "--backend", "true", error="{outputs}")
        self.expect(2, "profile", "measure", "--backend", command, "--plugin", OWN, error="excludes")
        self.expect(2, "profile", "measure", "--plugin", OWN, "--origin", "ulps * * 4", error="want a line")
        self.expect(2, "profile", "measure", "--plugin", OWN, "--count", "1", error="--count")
        self.expect(5, "profile", "measure", "--backend", "false {outputs}", error="false")
        self.expect(5, "profile", "measure", "--plugin", OWN, "--timeout", "0.2", error="timeout")
        self.expect(5, "profile", "measure", "--plugin", OWN, "--output", self.path("no folder/p.profile"))

    def test_diff_compares_with_the_exact_results(self):
        program, inputs = self.file("p.hlo", ADD), self.npz("in.npz", arg0=floats(1, 2.5))
        self.expect(0, "diff", program, "--inputs", inputs, "--plugin", OWN, output="out0: ")
        self.expect(0, "diff", program, "--inputs", inputs, "--plugin", OWN, "--profile", "strict",
                    output="2 inside")
        self.faulty("one_bit", 1, "diff", program, "--inputs", inputs, output="out0: ")
        self.faulty("one_bit", 0, "diff", program, "--inputs", inputs, "--ulps", "1")
        self.faulty("one_bit", 1, "diff", program, "--inputs", inputs, "--profile", "strict",
                    output="1 outside")
        self.faulty("one_bit", 1, "diff", program, "--inputs", inputs, "--profile", "strict", "--json",
                    output='"conforms": false')
        self.faulty("error:LoadedExecutable_Execute", 5, "diff", program, "--inputs", inputs,
                    error="DATA_LOSS")
        self.faulty("null:LoadedExecutable_Execute", 4, "diff", program, "--inputs", inputs,
                    error="PJRT_LoadedEx")
        self.expect(2, "diff", program, "--plugin", OWN, "--actual", inputs, error="--actual")
        self.expect(2, "diff", program, "--plugin", OWN, "--backend", "x {outputs}", error="--backend")

    def test_reduce_runs_a_plugin_in_a_process_of_its_own(self):
        program, inputs = self.file("p.hlo", ADD), self.npz("in.npz", arg0=floats(1, 2.5))
        given = ("reduce", program, "--inputs", inputs, "--output")
        self.faulty("one_bit", 0, *given, self.path("bit"), "--while-outside", "--profile", "strict")
        with open(self.path("bit/README.md")) as readme:
            self.assertIn("1 of 1 element of out0 outside", readme.read())
        self.faulty("error:Client_Compile", 0, *given, self.path("error"), "--while-message", "as the test")
        self.faulty("error:Client_Compile", 1, *given, self.path("other"), "--while-message", "no words",
                    error="as the test wants")

    def test_the_fifteen_programs_are_the_same_on_the_plugin(self):
        programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../golden/programs")
        folders = sorted(os.listdir(programs))
        self.assertEqual(len(folders), 15)
        for number, folder in enumerate(folders):
            form = ("program.hlo", "program.mlir", "program.mlirbc", "program.pb")[number % 4]
            files = os.path.join(programs, folder)
            self.expect(0, "diff", os.path.join(files, form), "--inputs", os.path.join(files, "inputs.npz"),
                        "--plugin", OWN)


if __name__ == "__main__":
    unittest.main()
