#!/usr/bin/env python3
"""tools/coverage on a program of a few lines, whose counts are known."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/coverage"
SOURCE = """int Twice(int x) {
  if (x > 100) {  // line 2
    return 0;
  }
  return 2 * x;
}
int Never() { return 1; }
int Refused(int x) {
  if (x < 0) {  // unreached: callers give no negative numbers
    return -1;
  }
  return x;
}
"""
MAIN = """int Twice(int);
int Refused(int);
int main() { return Twice(3) + Refused(0) == 6 ? 0 : 1; }
"""
if not all(shutil.which(tool) for tool in ("g++", "gcov")):
    sys.exit(77)


class Coverage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "evaluator").mkdir()
        (self.root / "build").mkdir()

    def built(self, source=SOURCE, more=""):
        (self.root / "evaluator/twice.cc").write_text(source, encoding="utf-8")
        (self.root / "main.cc").write_text(MAIN, encoding="utf-8")
        subprocess.run(["g++", "--coverage", "-O0", "-o", "program", "../evaluator/twice.cc", "../main.cc"],
                       cwd=self.root / "build", check=True)
        if more:
            (self.root / "evaluator/more.cc").write_text(more, encoding="utf-8")
            subprocess.run(["g++", "--coverage", "-O0", "-c", "../evaluator/more.cc"],
                           cwd=self.root / "build", check=True)
        subprocess.run(["./program"], cwd=self.root / "build", check=True)

    def call(self, *arguments):
        return subprocess.run([sys.executable, TOOL, "--build", self.root / "build", "--root", self.root,
                               *arguments], capture_output=True, text=True, check=False)

    def test_counts_by_folder(self):
        self.built()
        table = json.loads(self.call("--json").stdout)
        # 4 lines of Twice, 1 of Never, 2 of Refused without the marked block; the branches of line 2.
        self.assertEqual(table["evaluator"],
                         {"lines": 7, "lines_run": 5, "branches": 2, "branches_taken": 1})

    def test_an_object_that_nothing_ran_counts(self):
        self.built(more="int More(int x) {\n  return x > 1 ? 2 : 3;\n}\n")
        table = json.loads(self.call("--json").stdout)
        self.assertEqual(table["evaluator"],
                         {"lines": 9, "lines_run": 5, "branches": 4, "branches_taken": 1})

    def test_what_did_not_run_is_listed(self):
        self.built()
        listed = self.call("--list", "evaluator").stdout
        self.assertEqual([line.split(": ")[0] for line in listed.splitlines()],
                         ["evaluator/twice.cc:2", "evaluator/twice.cc:3", "evaluator/twice.cc:7"])
        self.assertIn("1 of 2 branches: if (x > 100) {", listed)

    def test_marks_need_a_reason_and_must_be_true(self):
        self.built(SOURCE.replace("callers give no negative numbers", ""))
        self.assertIn("twice.cc:9: unreached, but why?", self.call().stderr)
        self.built(SOURCE.replace("return 2 * x;", "return 2 * x;  // unreached: so it says"))
        self.assertIn("twice.cc:5: marked as unreached, but it ran", self.call().stderr)

    def test_no_counters(self):
        self.assertIn("no counters", self.call().stderr)


if __name__ == "__main__":
    unittest.main()
