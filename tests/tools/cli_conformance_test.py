#!/usr/bin/env python3
"""`assay conformance make`. Usage: cli_conformance_test.py ASSAY"""
import hashlib
import json
import os
import subprocess
import unittest

from cli_testing import ASSAY, CliCase


class ConformanceTest(CliCase):
    def make(self, name, *more):
        self.expect(0, "conformance", "make", self.path(name), *more)
        with open(self.path(name + "/index.json"), encoding="utf-8") as file:
            return json.load(file)

    def files(self, name):
        found = {}
        for folder, _, names in os.walk(self.path(name)):
            for one in names:
                with open(os.path.join(folder, one), "rb") as file:
                    found[os.path.relpath(os.path.join(folder, one), self.path(name))] = file.read()
        return found

    def test_equal_options_give_equal_bytes(self):
        self.make("a", "--sample", "30", "--profile", "xla-cpu")
        self.make("b", "--sample", "30", "--profile", "xla-cpu")
        self.assertEqual(self.files("a"), self.files("b"))
        self.make("c", "--sample", "30", "--profile", "xla-cpu", "--seed", "2")
        self.assertNotEqual(self.files("a"), self.files("c"))

    def test_the_index_has_the_digests_of_its_files(self):
        index = self.make("a", "--sample", "40", "--profile", "strict", "--profile", "xla-cpu")
        files = self.files("a")
        self.assertEqual(index["format"], 1)
        self.assertEqual(index["profiles"], ["strict", "xla-cpu"])
        self.assertEqual(len(index["cases"]), 40)
        named = {"index.json"}
        for case in index["cases"]:
            self.assertEqual(case["id"], "/".join([case["op"], case["type"], case["what"]]))
            self.assertEqual("mlir" in case["files"], "why_no_stablehlo" not in case)
            for of in case["files"].values():
                self.assertEqual(hashlib.sha256(files[of["file"]]).hexdigest(), of["sha256"])
                named.add(of["file"])
            self.assertLessEqual(case["expected"]["open"], case["expected"]["elements"])
        self.assertEqual(named, set(files))
        self.assertIn("rng", index["without_cases"])

    def test_programs_are_what_assay_reads_and_their_results_its_own(self):
        index = self.make("a", "--sample", "12")
        for case in index["cases"]:
            for form in ("hlo", "mlir"):
                if form not in case["files"]:
                    continue
                path = self.path("a/" + case["files"][form]["file"])
                stored = self.read_npz(self.path("a/" + case["files"]["npz"]["file"]))
                arguments = {name[:-4]: data for name, data in stored.items() if name.startswith("arg")}
                self.expect(0, "run", path, "--inputs", self.npz("in.npz", **arguments), "--output",
                            self.path("out.npz"), "--engine", "reference")
                exact = self.read_npz(self.path("out.npz"))
                for name, value in exact.items():
                    self.assertEqual(stored[name], value, case["id"])

    def test_only_takes_the_beginnings_of_ids(self):
        index = self.make("a", "--only", "add/f32", "--only", "gather/s8/rows")
        ids = {case["id"] for case in index["cases"]}
        self.assertIn("add/f32/nans", ids)
        self.assertIn("gather/s8/rows", ids)
        self.assertTrue(all(i.startswith(("add/f32", "gather/s8/rows")) for i in ids))
        rules = next(case for case in index["cases"] if case["op"] == "gather")["rules"]
        self.assertIn("Gather-C4", rules)
        self.expect(5, "conformance", "make", self.path("b"), "--only", "no-such-op",
                    error="no case has an id")

    def test_a_folder_of_something_else_is_left_alone(self):
        os.mkdir(self.path("mine"))
        self.file("mine/notes.txt", "keep")
        self.expect(2, "conformance", "make", self.path("mine"), "--sample", "1", error="neither empty nor")
        self.assertEqual(self.files("mine"), {"notes.txt": b"keep"})
        self.expect(2, "conformance", "make", self.file("file", ""), "--sample", "1", error="is no folder")
        self.make("again", "--sample", "3")
        self.make("again", "--sample", "3")  # an earlier suite is written anew

    def test_another_suite_replaces_an_earlier_one_and_leaves_other_files(self):
        self.make("a", "--only", "add/f32", "--only", "abs/s8")
        self.file("a/report.html", b"mine")
        self.make("b", "--only", "add/f64", "--only", "gather/s8/rows")
        self.make("a", "--only", "add/f64", "--only", "gather/s8/rows")
        old = {name: data for name, data in self.files("a").items() if name not in self.files("b")}
        self.assertEqual({name for name in old if not name.startswith("abs/")}, {"report.html"})
        for name, data in self.files("b").items():
            self.assertEqual(self.files("a")[name], data, name)
        self.assertEqual({name for name in os.listdir(self.path("a")) if name.startswith(".")}, set())
        os.mkdir(self.path("empty"))
        self.make("empty", "--only", "add/f64", "--only", "gather/s8/rows")
        self.assertEqual(self.files("empty"), self.files("b"))

    def test_what_fails_leaves_nothing_and_an_earlier_suite_as_it_was(self):
        self.make("a", "--only", "add/f32")
        before = self.files("a")
        # No file may have more bytes than these: the index, which is written last, has most.
        largest = max(len(data) for name, data in before.items() if name != "index.json")
        self.assertGreater(len(before["index.json"]), largest)
        for name in ("a", "new"):
            done = subprocess.run(
                ["prlimit", f"--fsize={largest}", ASSAY, "conformance", "make", self.path(name), "--only",
                 "add/f32"], capture_output=True, check=False)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(b"File too large", done.stderr)
        self.assertEqual(self.files("a"), before)
        self.assertFalse(os.path.exists(self.path("new")))
        self.assertEqual(os.listdir(self.path("")), ["a"])

    def test_wrong_usage(self):
        self.expect(5, "conformance", "make", self.path("a"), "--profile", "no-such", error="no-such")
        self.expect(2, "conformance", "make", error="DIR")
        self.expect(2, "conformance", "make", self.path("a"), "--sample", "0", error="--sample")
        self.expect(2, "conformance", "frobnicate", error="conformance frobnicate")


if __name__ == "__main__":
    unittest.main()
