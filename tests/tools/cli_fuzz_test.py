#!/usr/bin/env python3
"""assay fuzz: docs/find.md. Usage: cli_fuzz_test.py ASSAY"""
import json
import pathlib
import shlex
import sys
import unittest

from cli_testing import ASSAY, CliCase

BACKEND = pathlib.Path(__file__).resolve().parent.parent / "differential" / "planted_faults.py"


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


if __name__ == "__main__":
    unittest.main()
