#!/usr/bin/env python3
"""tools/fuzz with targets that only say what libFuzzer says."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = """#!/bin/sh
for word; do case $word in
  -max_total_time=*) sleep 1;;
  -artifact_prefix=*) prefix=${word#*=};;
  -merge=1) cp "$3"/one "$2"; exit 0;;
esac; done
echo "#5 NEW cov: 77 ft: 9"
echo "stat::number_of_executed_units: 1000"
%s
"""


class Fuzz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A tree of its own, so that the page is not the repository's.
        self.root = pathlib.Path(folder.name)
        for path in ("tools", "docs/data", "build/fuzz/tests/fuzz"):
            (self.root / path).mkdir(parents=True)
        shutil.copy(ROOT / "tools/fuzz", self.root / "tools/fuzz")
        self.page = self.root / "docs/data/fuzzing.md"
        self.page.write_text("# Page\n", encoding="utf-8")

    def target(self, name, more=""):
        path = self.root / "build/fuzz/tests/fuzz" / f"{name}_fuzz"
        path.write_text(TARGET % more, encoding="utf-8")
        path.chmod(0o755)

    def run_for(self, seconds, *more):
        command = [sys.executable, self.root / "tools/fuzz", "--hours", str(seconds / 3600), "--slice", "1"]
        return subprocess.run([*command, *more], capture_output=True, text=True, check=False)

    def sums(self, name):
        return json.loads((self.root / "build/fuzz_state" / name / "sums.json").read_text(encoding="utf-8"))

    def test_targets_take_turns_and_go_on(self):
        self.target("one")
        self.target("two")
        self.assertEqual(self.run_for(4.5).returncode, 0)
        first = self.sums("one"), self.sums("two")
        self.assertTrue(all(1000 <= sums["executions"] <= 4000 for sums in first), first)
        self.assertEqual(self.run_for(2.5).returncode, 0)
        self.assertGreater(self.sums("one")["executions"] + self.sums("two")["executions"],
                           first[0]["executions"] + first[1]["executions"])
        self.assertEqual(self.sums("one")["edges"], 77)

    def test_a_finding_is_named_and_fuzzing_goes_on(self):
        self.target("one", 'echo x > "${prefix}crash-$$"; exit 77')
        self.target("two")
        run = self.run_for(4.5)
        self.assertEqual(run.returncode, 1)
        self.assertIn("found: ", run.stdout)
        self.assertGreaterEqual(self.sums("two")["executions"], 1000)

    def test_a_target_that_does_not_run_is_no_success(self):
        self.target("one", "exit 1")
        run = self.run_for(3)
        self.assertIn("does not run", run.stderr)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no fuzz targets", self.run_for(1, "--only", "none").stderr)

    def test_the_page_has_one_table(self):
        self.target("one")
        for _ in range(2):
            self.assertEqual(self.run_for(1.5, "--record").returncode, 0)
        text = self.page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Page\n"))
        self.assertEqual(text.count("| one |"), 1)
        self.assertIn("| one | 2,000 | 0.00 | 77 | 0 | 0 |", text)

    def test_corpora_are_minimized(self):
        self.target("one")
        corpus = self.root / "build/fuzz_state/one/corpus"
        corpus.mkdir(parents=True)
        for name in ("one", "two"):
            (corpus / name).write_text(name, encoding="utf-8")
        self.assertEqual(self.run_for(0, "--minimize").returncode, 0)
        self.assertEqual(os.listdir(corpus), ["one"])


if __name__ == "__main__":
    unittest.main()
