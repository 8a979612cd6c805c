#!/usr/bin/env python3
"""XLA:GPU's outputs for the real programs, by the profiles that were measured of it. Usage:
cli_xla_gpu_test.py ASSAY PROGRAMS

PROGRAMS is golden/programs: each NAME/xla_gpu_h200.npz is what JAX 0.11.2 gave on an H200 for NAME/inputs.npz
(docs/bounds.md)."""
import json
import os
import pathlib
import re
import sys
import unittest

from cli_testing import CliCase

PROGRAMS = pathlib.Path(os.path.abspath(sys.argv.pop(1)))


class XlaGpu(CliCase):
    def diff(self, code, name, profile, *more, **expected):
        folder = PROGRAMS / name
        program, inputs, outputs = (str(folder / file)
                                    for file in ("program.hlo", "inputs.npz", "xla_gpu_h200.npz"))
        return self.expect(code, "diff", program, "--inputs", inputs, "--actual", outputs, "--profile",
                           profile, *more, **expected)

    def test_no_alarm_by_the_right_profile(self):
        names = sorted(path.parent.name for path in PROGRAMS.glob("*/xla_gpu_h200.npz"))
        self.assertEqual(len(names), 14)
        estimated = 0
        for name in names:
            with self.subTest(name):
                report = json.loads(self.diff(0, name, "xla-gpu-tf32", "--json").stdout)
                for key, output in report["outputs"].items():
                    self.assertEqual((output["outside"], output["implausible"]), (0, 0), key)
                    estimated += output["plausible"]
                self.assertEqual(report["profile_origin"]["device"], "NVIDIA H200")
                self.assertEqual(report["variants"], [])
        self.assertGreater(estimated, 20000)  # of tiny_gpt_train_step nothing is proven

    def test_convolutions_that_cut_f32_are_named(self):
        report = json.loads(self.diff(1, "resnet_block", "xla-gpu", "--json").stdout)
        self.assertEqual(sum(output["outside"] for output in report["outputs"].values()), 606)
        variant, = report["variants"]
        self.assertEqual((variant["profile"], variant["outside"]), ("xla-gpu-tf32", 0))
        self.assertEqual(variant["allows"], ["f32 operands cut to 11 significant bits",
                                             "sums of f32 products cut at 25 fraction bits"])
        text = (PROGRAMS / "resnet_block" / "program.hlo").read_text()
        convolutions = re.findall(r"%(\S+) = \S+ convolution\(", text)
        self.assertEqual(sorted(variant["instructions"]), sorted(convolutions))
        self.diff(1, "resnet_block", "xla-gpu",
                  output="by profile xla-gpu-tf32 no element is outside: dots and convolutions may have f32 "
                         "operands cut to 11 significant bits, sums of f32 products cut at 25 fraction bits "
                         "(%conv_general_dilated.5, ")


if __name__ == "__main__":
    unittest.main()
