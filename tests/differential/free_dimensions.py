#!/usr/bin/env python3
"""Programs with free dimensions, against programs of static shapes.

Each function of free_functions.py, and each model of flax_models.py where Flax is installed, is exported by
JAX with symbolic sizes. At
each of three sizes, what Assay gives for the exported program must be, byte for byte, what it gives for
  - the same program as jaxlib refines it (refine_polymorphic_shapes),
  - the function as JAX lowers it for these sizes.
JAX lowers some functions otherwise where sizes are symbolic (LOWERED_OTHERWISE); these are compared with
jaxlib's refinement alone.

Usage: free_dimensions.py [--every N] [--only NAME] ASSAY
"""

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import zlib

import jax
import numpy as np
from free_functions import all_functions
from jax import export
from jax._src.interpreters import mlir as jax_mlir

SIZES = ({'b': 1, 't': 1}, {'b': 3, 't': 5}, {'b': 8, 't': 16})
# Names of sizes besides b and t, as JAX's symbolic expressions.
DERIVED = {'t1': 't+1', 't2': 't+2'}
# What differs between the two lowerings.
LOWERED_OTHERWISE = {}
# jaxlib 0.10.2 has no rule for these: bitcast_convert between widths keeps its '?'.
NOT_REFINED_BY_JAXLIB = {'bitcast'}


def size_of(word, sizes):
    if word.isdigit():
        return int(word)
    return eval(DERIVED.get(word, word), {}, sizes)  # of this file's own words


def static_shape(kind, sizes):
    words = kind.split()
    return tuple(size_of(w, sizes) for w in words[1:])


def dtype_of(kind):
    return np.int32 if kind[0] == 'i' else np.float32


def symbolic(kinds, scope):
    specs = []
    for kind in kinds:
        text = ', '.join(DERIVED.get(w, w) for w in kind.split()[1:])
        shape = export.symbolic_shape(text + ',', scope=scope)
        specs.append(jax.ShapeDtypeStruct(shape, dtype_of(kind)))
    return specs


def values(name, kind, sizes, number):
    rng = np.random.default_rng(zlib.crc32(f'{name} {kind} {sizes} {number}'.encode()))
    shape = static_shape(kind, sizes)
    if kind[0] == 'i':
        return rng.integers(0, 100, shape, dtype=np.int32)
    return (rng.integers(-64, 64, shape) / 16 + 1 / 32).astype(np.float32)


def run(assay, program, inputs, output):
    done = subprocess.run([assay, 'run', program, '--inputs', inputs, '--output', output],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, f'exit {done.returncode}: {done.stderr.strip()[:600]}'
    return pathlib.Path(output).read_bytes(), ''


def refined_by_jaxlib(exported, arrays):
    """The program, and which arrays it takes."""
    lowered = jax.jit(exported.call).lower(*arrays)
    kept = sorted(lowered._lowering.compile_args['kept_var_idx'])
    return str(jax_mlir.refine_polymorphic_shapes(lowered.compiler_ir('stablehlo'))), kept


def check(assay, row, folder):
    name, function, kinds = row
    jitted = jax.jit(function)
    scope = export.SymbolicScope()
    exported = export.export(jitted)(*symbolic(kinds, scope))
    program = folder / 'free.mlir'
    if zlib.crc32(name.encode()) % 2:
        program = folder / 'free.mlirbc'
        program.write_bytes(exported.mlir_module_serialized)
    else:
        program.write_text(exported.mlir_module())
    wrong = []
    for sizes in SIZES:
        arrays = [values(name, kind, sizes, i) for i, kind in enumerate(kinds)]
        kept = [arrays[i] for i in exported.module_kept_var_idx]
        inputs = folder / 'in.npz'
        np.savez(inputs, **{f'arg{i}': a for i, a in enumerate(kept)})
        ours, error = run(assay, program, inputs, folder / 'free.npz')
        if error:
            wrong.append(f'{name} at {sizes}: {error}')
            continue
        others = {}
        refined = folder / 'refined.mlir'
        if name not in NOT_REFINED_BY_JAXLIB:
            code, of_call = refined_by_jaxlib(exported, arrays)
            refined.write_text(code)
            others['as jaxlib refines it'] = refined, [arrays[i] for i in of_call]
        if name not in LOWERED_OTHERWISE:
            static = folder / 'static.mlir'
            specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
            lowered = export.export(jitted)(*specs)
            static.write_text(lowered.mlir_module())
            others['of static shapes'] = static, [arrays[i] for i in lowered.module_kept_var_idx]
        for what, (other, taken) in others.items():
            np.savez(inputs, **{f'arg{i}': a for i, a in enumerate(taken)})
            theirs, error = run(assay, other, inputs, folder / 'other.npz')
            if error:
                wrong.append(f'{name} at {sizes}: the program {what}: {error}')
            elif theirs != ours:
                wrong.append(f'{name} at {sizes}: other bytes than the program {what}')
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('assay')
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--only')
    arguments = parser.parse_args()
    rows = all_functions()
    if importlib.util.find_spec('flax') is None:
        print('skipped: the models of flax_models.py, for Flax is not installed')
    else:
        from flax_models import flax_models
        rows = flax_models() + rows
    if arguments.only:
        rows = [row for row in rows if arguments.only in row[0]]
    rows = rows[::arguments.every]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            try:
                found = check(arguments.assay, row, pathlib.Path(folder))
            except Exception as error:  # JAX does not export it
                found = [f'{row[0]}: {type(error).__name__}: {str(error)[:300]}']
            for line in found:
                print(line, flush=True)
            wrong += found
    print(f'free dimensions: {len(rows)} programs at {len(SIZES)} sizes each, {len(wrong)} wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
