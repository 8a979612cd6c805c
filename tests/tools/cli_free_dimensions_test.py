#!/usr/bin/env python3
"""Programs with free dimensions in every subcommand: sizes from --inputs or --shapes. Usage:
cli_free_dimensions_test.py ASSAY"""
import subprocess
import unittest

from cli_testing import ASSAY, CliCase, floats

ADD = """func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.add %a, %b : tensor<?xf32>
  return %c : tensor<?xf32>
}
"""
SHAPES = ("--shapes", "arg0=2,arg1=2")


class FreeDimensions(CliCase):
    def setUp(self):
        super().setUp()
        self.program = self.file("add.mlir", ADD)
        self.inputs = self.npz("in.npz", arg0=floats(1, 8, 2), arg1=floats(1, 1, 1))

    def test_inputs_say_the_sizes(self):
        text = self.expect(0, "run", self.program, "--inputs", self.inputs).stdout.decode()
        self.assertIn("out0 f32[3]\n[2. 9. 3.]", text)
        wrong = self.npz("wrong.npz", arg0=floats(1, 8), arg1=floats(1, 1, 1))
        self.expect(5, "run", self.program, "--inputs", wrong,
                    error="dimension 0 is 2 in tensor<2xf32> and 3 in tensor<3xf32>")
        self.expect(5, "run", self.program, "--inputs", self.npz("one.npz", arg0=floats(1)),
                    error="'arg1' is missing")

    def test_inputs_of_standard_input_are_read_once(self):
        with open(self.inputs, "rb") as file:
            done = subprocess.run([ASSAY, "run", self.program, "--inputs", "-"], stdin=file,
                                  capture_output=True)
        self.assertIn(done.returncode, (0, 5))  # 5: what is no file can't be an .npz
        if done.returncode == 0:
            self.assertIn(b"[2. 9. 3.]", done.stdout)

    def test_shapes_stand_in_for_inputs(self):
        text = self.expect(0, "run", self.program, "--random-inputs", "1", *SHAPES).stdout.decode()
        self.assertIn("out0 f32[2]", text)
        self.expect(4, "run", self.program, "--random-inputs", "1", error="--shapes")
        self.expect(2, "run", self.program, error="takes inputs")
        self.expect(0, "bench", self.program, *SHAPES)
        self.expect(0, "plan", self.program, *SHAPES)
        self.expect(4, "plan", self.program, error="--shapes")
        self.expect(0, "verify", self.program, *SHAPES)
        self.expect(5, "verify", self.program, "--shapes", "arg0=2,arg1=3",
                    error="refined for arg0 f32[2], arg1 f32[3]")

    def test_shapes_that_are_none(self):
        for wrong in ("arg0", "arg0=2,", "arg0=x", "arg0=2x", "arg0=-1", "arg0=2;3", "=2"):
            self.expect(2, "verify", self.program, "--shapes", wrong, error="--shapes")
        self.expect(5, "verify", self.program, "--shapes", "arg0=2", error="'arg1' is missing")
        self.expect(5, "verify", self.program, "--shapes", "arg0=2,arg1=2,arg2=2", error="'arg2'")
        self.expect(5, "verify", self.program, "--shapes", "arg0=2x2,arg1=2", error="arg0 is f32[2,2]")

    def test_verify_and_print_take_it_unrefined(self):
        self.expect(0, "verify", self.program)
        text = self.expect(0, "print", self.program, "--to", "mlir").stdout.decode()
        self.assertIn("tensor<?xf32>", text)
        again = self.expect(0, "print", self.file("again.mlir", text), "--to", "mlir").stdout.decode()
        self.assertEqual(again, text)
        for form in ("hlo", "pb"):
            self.expect(4, "print", self.program, "--to", form, error="--shapes")
        self.expect(4, "print", self.program, "--to", "mlir", "--refine", error="--shapes")

    def test_print_shows_the_refined_program(self):
        self.assertIn("f32[2]{0} add",
                      self.expect(0, "print", self.program, "--refine", *SHAPES).stdout.decode())
        text = self.expect(0, "print", self.program, "--refine", "--to", "mlir", *SHAPES).stdout.decode()
        self.assertIn("stablehlo.add %arg0, %arg1 : tensor<2xf32>", text)

    def test_goldens_and_comparisons(self):
        golden, outputs = self.path("g.mlir"), self.path("out.npz")
        self.expect(0, "golden", "record", self.program, "--inputs", self.inputs, "--output", golden)
        self.expect(0, "golden", "check", golden)
        self.expect(0, "run", self.program, "--inputs", self.inputs, "--output", outputs)
        self.expect(0, "diff", self.program, "--inputs", self.inputs, "--actual", outputs)
        self.expect(0, "audit", self.program, "--inputs", self.inputs)


if __name__ == "__main__":
    unittest.main()
