#!/usr/bin/env python3
"""assay fuzz: docs/find.md. Usage: cli_fuzz_test.py ASSAY"""
import json
import pathlib
import shlex
import sys
import unittest

from cli_testing import ASSAY, CliCase

DIFFERENTIAL = pathlib.Path(__file__).resolve().parent.parent / "differential"
BACKEND = DIFFERENTIAL / "planted_faults.py"
sys.path.insert(0, str(DIFFERENTIAL))
import jax_backend  # noqa: E402
import known_deviations  # noqa: E402


class Fuzz(CliCase):

    def backend(self, fault):
        return (f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(BACKEND))} {fault} "
                f"{shlex.quote(ASSAY)} {{program}} {{inputs}} {{outputs}}")

    def test_engine_is_right(self):
        flags = ["--engine", "exact", "--output", self.path("campaign")]
        result = json.loads(self.expect(0, "fuzz", *flags, "--programs", "40", "--json").stdout)
        self.assertEqual(result["programs"], 40)
        self.assertEqual(result["judged"] + result["without_result"], 40)
        self.assertEqual(result["findings"], [])
        # The next session goes on.
        self.expect(0, "fuzz", *flags, "--programs", "5", output="45 programs in ")

    def test_planted_fault(self):
        folder = self.path("campaign")
        done = self.expect(1, "fuzz", "--backend", self.backend("maximum_is_minimum"), "--profile", "strict",
                           "--output", folder, "--findings", "1", "--programs", "500", "--json", error="")
        finding, = json.loads(done.stdout)["findings"]
        self.assertEqual(finding["kind"], "wrong")
        self.assertIn("maximum(", finding["cause"])
        # What a later session asks has to be the same.
        self.expect(5, "fuzz", "--engine", "exact", "--output", folder,
                    error=["line 2 of the journal is 'question --backend",
                           "expected 'question --engine exact"])

    def test_usage(self):
        for flags, message in (
                (["--profile", "strict"], "fuzz takes --backend"),
                (["--backend", "true {outputs}"], "fuzz takes a --profile"),
                (["--backend", "true", "--profile", "strict"], "--backend takes a command with {outputs}"),
                (["--engine", "reference"], "would compare the reference with itself"),
        ):
            self.expect(2, "fuzz", "--output", self.path("campaign"), *flags, error=message)
        self.expect(5, "fuzz", "--output", self.file("file", "") + "/campaign", "--programs", "1",
                    error="cannot make the folder")

    def test_crashes_of_two_causes(self):
        # Both end the backend by the same signal, with no message.
        folder = self.path("campaign")
        done = self.expect(1, "fuzz", "--backend", self.backend("crash_on_reverse_and_pad"), "--profile",
                           "strict", "--output", folder, "--findings", "2", "--programs", "500", "--json",
                           error="")
        causes = {finding["cause"].partition("(")[0] for finding in json.loads(done.stdout)["findings"]}
        self.assertEqual(causes, {"reverse", "pad"})


class JaxBackend(unittest.TestCase):

    def test_outputs_have_the_names_that_assay_gives(self):
        for result, keys in (("f32[2,3]{1,0}", ["out0"]), ("(f32[2]{0}, s32[])", ["out0", "out1"]),
                             ("(f32[2]{0}, (s32[], f32[2,2]{1,0}), /*index=2*/u8[])",
                              ["out0", "out1.0", "out1.1", "out2"]), ("((f32[2]{0}), s32[])",
                                                                      ["out0.0", "out1"])):
            text = f"HloModule m\n\nENTRY %main (p: (f32[1], s32[])) -> {result} {{\n  a -> b\n"
            self.assertEqual(jax_backend.result_keys(text), keys)


class KnownDeviations(CliCase):

    def finding(self, kind, cause, program, what):
        folder = pathlib.Path(self.path("finding"))
        folder.mkdir(exist_ok=True)
        (folder / "program.hlo").write_text(program)
        (folder / "README.md").write_text(f"It shows:\n\n    {what}\n")
        return known_deviations.finding_in(folder, kind, cause, 1)

    def name_of(self, *finding):
        known = known_deviations.deviation_of(self.finding(*finding))
        return known and known.name

    def test_each_has_its_line(self):
        found = known_deviations.FOUND.read_text()
        for deviation in known_deviations.DEVIATIONS:
            self.assertEqual(found.count(deviation.row), 1, deviation.name)

    def test_findings_are_told_apart(self):
        def outside(actual):
            return f"1 of 2 elements of out0 outside of the bounds: element {{1}} is {actual}, exactly 0, and"

        grouped = "convolution(%a, %b), window={size=1}, dim_labels=bf0_0io->bf0, feature_group_count=2"
        cause = "convolution(f32,f32)->f32"
        self.assertEqual(self.name_of("wrong", cause, grouped, outside("nan")),
                         "groups of a convolution and an infinity")
        # Another result, no groups, or another kind of finding is another cause.
        self.assertIsNone(self.name_of("wrong", cause, grouped, outside("2")))
        self.assertIsNone(self.name_of("wrong", cause, grouped.replace("=2", "=1"), outside("nan")))
        self.assertIsNone(self.name_of("crash", cause, grouped, "the backend ended"))
        self.assertEqual(self.name_of("wrong", "power(u16,u16)->u16", "", outside("7")), "integer powers")
        self.assertIsNone(self.name_of("wrong", "power(f32,f32)->f32", "", outside("7")))
        fused = "in a computation dot(c64,c64)->c64; fusion(c64,c64)->c64"
        self.assertEqual(self.name_of("crash", fused, "dot(%a, %b), lhs_contracting_dims={}, rhs", ""),
                         "a fusion of a dot that contracts nothing")
        self.assertIsNone(self.name_of("crash", fused, "dot(%a, %b), lhs_contracting_dims={1}, rhs", ""))

    def test_table(self):
        known = self.finding("wrong", "power(s32,s32)->s32", "", "element {} is 2, exactly 3, and")
        text, unexplained = known_deviations.table([known, known])
        self.assertIn("| integer powers | 2 | `power({5, 3}, {100, 65})` |", text)
        self.assertEqual(unexplained, [])
        other = self.finding("wrong", "tanh(f32)->f32", "", "element {} is 2, exactly 3, and")
        text, unexplained = known_deviations.table([known, other])
        self.assertEqual(unexplained, [other])
        self.assertIn("not explained: wrong: tanh(f32)->f32 (1)", text)


if __name__ == "__main__":
    unittest.main()
