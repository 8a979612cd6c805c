"""JAX as a backend of the command `assay`, for `--backend` of diff, reduce, fuzz and profile measure:

    assay diff PROGRAM --inputs IN.npz --profile xla-cpu --isolate \\
        --backend 'python3 -m assay.backend {program} {inputs} {outputs}'

The program, in any form that Assay reads, is compiled and run by JAX's platform, which JAX_PLATFORMS chooses,
on its first device. Parameters and results are arrays, or one tuple of arrays as the result.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from assay._errors import Error
from assay._module import load
from assay._types import dtype_of


def run(module, arguments: list) -> list:
    """The results of the program (an assay.Module) on the first device of JAX's platform."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from jax._src.lib import xla_client
    from jaxlib import _hlo, _jax

    devices = jax.devices()[:1]
    mlir = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(module.to_proto()))
    compiled = devices[0].client.compile_and_load(mlir, _jax.DeviceList(tuple(devices)),
                                                  xla_client.CompileOptions())
    placed = [jax.device_put(argument, devices[0]) for argument in arguments]
    shards = compiled.execute_sharded(placed).disassemble_into_single_device_arrays()
    return [np.asarray(shard[0]) for shard in shards]


def _arguments(module, path: str) -> list:
    arguments = []
    with np.load(path) as stored:
        for number, parameter in enumerate(module.parameters):
            if not isinstance(parameter, tuple):
                raise ValueError(f"parameter {number} is no array, which this backend can't give")
            array, dtype = stored[f"arg{number}"], np.dtype(dtype_of(parameter[0]))
            # Types that NumPy lacks are stored as raw bytes.
            arguments.append(array if array.dtype == dtype else array.view(dtype))
    return arguments


def main(argv: list) -> int:
    if len(argv) != 3:
        print("usage: python3 -m assay.backend PROGRAM IN.npz OUT.npz", file=sys.stderr)
        return 2
    program, inputs, outputs = argv
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        module = load(program)
        results = run(module, _arguments(module, inputs))
    except (Error, OSError, KeyError, ValueError, RuntimeError) as error:
        print(f"assay.backend: {error}", file=sys.stderr)
        return 1
    np.savez(outputs, **{f"out{number}": result for number, result in enumerate(results)})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
