#!/usr/bin/env python3
"""Names that are not known: what messages suggest in their place. Usage: cli_suggestions_test.py ASSAY"""
import unittest

from cli_testing import ADD, CliCase, floats, npy


class Suggestions(CliCase):

    def setUp(self):
        super().setUp()
        self.program = self.file("a.hlo", ADD)
        self.inputs = self.npz("in.npz", arg0=floats(1, 2))

    def test_commands(self):
        self.expect(2, "rnu", error="unknown command 'rnu'; did you mean 'run'? see assay --help")
        self.expect(2, "golden", "chek", "x",
                    error="unknown command 'golden chek'; did you mean 'check'? see assay golden --help")
        self.expect(2, "bisekt", error="did you mean 'bisect'?")

    def test_flags(self):
        given = (self.program, "--inputs", self.inputs)
        self.expect(2, "run", *given, "--outptu", "x.npz", error=["--outptu; did you mean '--output'?"])
        self.expect(2, "run", *given, "--cross-check", "full", error="did you mean '--crosscheck'?")
        self.expect(2, "run", self.program, "--random", error=["did you mean '--random-inputs'?",
                                                                "see assay run --help\n"])
        self.expect(2, "diff", *given, "--isolat=1", error="did you mean '--isolate'?")
        self.expect(2, "golden", "check", self.program, "--actul", "x",
                    error=["did you mean '--actual'?", "see assay golden check --help\n"])
        message = self.expect(2, "run", *given, "--color").stderr.decode()
        self.assertNotIn("did you mean", message)

    def test_values(self):
        self.expect(2, "run", self.program, "--engine", "exakt",
                    error="--engine: exakt not in {exact,reference,fast,gpu,gpu-fast}; did you mean 'exact'?")
        self.expect(2, "run", self.program, "--engine", "ref", error="did you mean 'reference'?")
        self.expect(2, "print", self.program, "--to", "mlri", error="did you mean 'mlir'?")
        self.expect(5, "diff", self.program, "--inputs", self.inputs, "--actual", self.inputs, "--profile",
                    "xla_cpu", error="did you mean 'xla-cpu'?")

    def test_operations(self):
        self.expect(2, "ops", "gahter", error="no rule 'gahter'; did you mean 'gather'?")
        self.expect(2, "ops", "dynamic_slice", error="did you mean 'dynamic-slice'?")
        self.expect(2, "ops", "Gather-c4", error="did you mean 'Gather-C4'?")
        wrong = self.file("w.hlo", ADD.replace(" add(", " ad("))
        self.expect(3, "verify", wrong, error=":4:19: error: unknown opcode 'ad'; did you mean 'add' or 'and' or 'pad'?")
        wrong = self.file("w.mlir", "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
                          "  %b = stablehlo.tanhh %a : tensor<f32>\n  return %b : tensor<f32>\n}\n")
        message = self.expect(4, "verify", wrong, error="stablehlo.tanhh").stderr.decode()
        self.assertIn("did you mean 'stablehlo.tanh'?", message)
        wrong = self.file("c.mlir", "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
                          "  %b = chlo.acoss %a : tensor<f32> -> tensor<f32>\n  return %b : tensor<f32>\n}\n")
        self.expect(4, "verify", wrong, error="did you mean 'chlo.acos' or 'chlo.acosh'?")

    def test_arrays(self):
        self.expect(5, "run", self.program, "--inputs", self.npz("m.npz", args0=floats(1, 2)),
                    error="'arg0' is missing; the program wants f32[2]; there is args0")
        self.expect(2, "run", self.program, "--inputs", self.inputs, "--why", "otu0[0]",
                    error="'otu0' is no output of the program, which has out0; did you mean 'out0'?")
        other = self.npz("other.npz", arr_0=floats(2, 4))
        for profile in ((), ("--profile", "strict")):
            self.expect(1, "diff", self.program, "--inputs", self.inputs, "--actual", other, *profile,
                        error="other.npz has arr_0; the outputs of the program are out0\n")
        pair = self.npz("p.npz", out0=npy("<u2", [1], bytes(2)))
        self.expect(2, "diff", pair, pair, "--types", "uot0=bf16",
                    error="--types names 'uot0', which is in no file; did you mean 'out0'?")


if __name__ == "__main__":
    unittest.main()
