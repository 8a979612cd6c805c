#!/usr/bin/env python3
"""`assay replay`. Usage: cli_replay_test.py ASSAY"""
import json
import os
import unittest

from cli_testing import ADD, ASSAY, CliCase, floats

FACTS = {"format": 1, "program": "program.hlo", "inputs": "inputs.npz", "outputs": "outputs.npz",
         "profile": "strict", "verdict": "out0: …", "counts": {"outside": 1}}


class ReplayTest(CliCase):
    def folder_of(self, *outputs, **changes):
        os.mkdir(self.path("call"))
        self.file("call/program.hlo", ADD)
        self.npz("call/inputs.npz", arg0=floats(1, 2))
        self.npz("call/outputs.npz", out0=floats(*outputs))
        facts = {**FACTS, **changes}
        facts = {key: value for key, value in facts.items() if value is not None}
        self.file("call/replay.json", json.dumps(facts))
        return self.path("call")

    def test_recorded_outputs_are_compared_again(self):
        self.expect(1, "replay", self.folder_of(2, 5), output="1 inside, 1 outside")

    def test_right_outputs_conform(self):
        self.expect(0, "replay", self.folder_of(2, 4) + "/", output="2 inside, 0 outside")

    def test_flags_of_diff_apply(self):
        folder = self.folder_of(2, 4.5)
        found = json.loads(self.expect(1, "replay", folder, "--profile", "tpu-bf16", "--json").stdout)
        self.assertEqual((found["profile"], found["outputs"]["out0"]["outside"]), ("tpu-bf16", 1))
        self.expect(1, "replay", folder, "--html", self.path("page.html"))
        self.assertTrue(os.path.exists(self.path("page.html")))

    def test_a_backend_runs_in_place_of_the_outputs(self):
        folder = self.folder_of(7, 7)
        backend = f"{ASSAY} run {{program}} --inputs {{inputs}} --output {{outputs}}"
        self.expect(0, "replay", folder, "--backend", backend, output="2 inside")
        self.expect(0, "replay", folder, "--backend", backend, "--isolate", output="isolated")

    def test_what_is_no_recorded_call_is_refused(self):
        self.expect(5, "replay", self.path("nowhere"), error="nowhere")
        self.expect(5, "replay", self.folder_of(2, 4, format=2), error="format 1")

    def test_files_outside_of_the_folder_are_refused(self):
        self.expect(5, "replay", self.folder_of(2, 4, program="../add.hlo"), error="a file of its own folder")

    def test_missing_facts_are_named(self):
        self.expect(5, "replay", self.folder_of(2, 4, inputs=None), error='"inputs"')

    def test_json_that_does_not_read_is_an_error(self):
        folder = self.folder_of(2, 4)
        self.file("call/replay.json", '{"format": 1,')
        self.expect(5, "replay", folder, error="replay.json")


if __name__ == "__main__":
    unittest.main()
