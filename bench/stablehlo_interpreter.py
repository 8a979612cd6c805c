#!/usr/bin/env python3
"""StableHLO's interpreter, as jaxlib has it (stablehlo.eval_module), beside Assay: what a sum gives, and the
processor time of a small dot. docs/comparison.md has what it printed.

Usage: python3 bench/stablehlo_interpreter.py ASSAY
"""

import json
import subprocess
import sys
import tempfile
import time

import numpy as np

SUM = """func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}"""
DOT = """func.func @main(%x: tensor<128x128xf32>, %y: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
      : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}"""


def interpreted(text, *arguments):
    """The results as text, and the processor time in seconds."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with mlir.make_ir_context() as context:
        stablehlo.register_dialect(context)
        module = ir.Module.parse(text)
        elements = [ir.DenseElementsAttr.get(np.ascontiguousarray(argument)) for argument in arguments]
        start = time.process_time()
        results = stablehlo.eval_module(module, elements)
        return [str(result) for result in results], time.process_time() - start


def main(assay):
    x = np.array([1e8, 1, -1e8, 1], np.float32)
    y = np.random.default_rng(1).normal(size=(128, 128)).astype(np.float32)
    print("stablehlo-interpreter: sum", interpreted(SUM, x)[0][0])
    print(f"stablehlo-interpreter: dot {interpreted(DOT, y, y)[1]:.3g} s")
    with tempfile.TemporaryDirectory() as folder:
        for name, text, arguments in (("sum", SUM, [x]), ("dot", DOT, [y, y])):
            with open(f"{folder}/{name}.mlir", "w") as file:
                file.write(text)
            np.savez(f"{folder}/{name}.npz", **{f"arg{k}": a for k, a in enumerate(arguments)})

        def run(command, name, *flags):
            files = (f"{folder}/{name}.mlir", "--inputs", f"{folder}/{name}.npz")
            return subprocess.run([assay, command, *files, *flags], check=True, capture_output=True,
                                  text=True).stdout

        print("assay: sum", json.loads(run("run", "sum", "--json"))["outputs"]["out0"]["data"])
        for engine in ("reference", "exact"):
            timed = json.loads(run("bench", "dot", "--engine", engine, "--jobs", "1", "--json"))
            print(f"assay, {engine}: dot {timed['median_s']:.3g} s")


if __name__ == "__main__":
    main(sys.argv[1])
