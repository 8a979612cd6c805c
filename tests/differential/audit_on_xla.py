#!/usr/bin/env python3
"""Shows what XLA does on JAX's platform (JAX_PLATFORMS; cpu) at the points of docs/audit.md, beside what
Assay does: the figures of its table.

Usage: audit_on_xla.py ASSAY_BINARY [--only POINT]

Inputs are arguments, never constants, so that what runs is compiled code and not XLA's constant folding.
"""

import argparse
import os
import subprocess
import tempfile

import ml_dtypes
import numpy as np
from xla import Runner

INF, NAN = float('inf'), float('nan')
ADD = 'f { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT r = T[] add(a, b) }\n'
MAX = ADD.replace('add', 'maximum')
LAST = 'f { a = T[] parameter(0)\n ROOT b = T[] parameter(1) }\n'
LT = 'f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n p = s32[] parameter(2)\n q = s32[] parameter(3)\n ROOT r = pred[] compare(a, b), direction=LT }\n'


def of(values, dtype='i4'):
    return np.array(values, dtype)


def binary(op, t, x, y, more='', result=None):
    n = x.size
    result = result or t
    return (f'ENTRY e {{ x = {t}[{n}] parameter(0)\n y = {t}[{n}] parameter(1)\n ROOT r = {result}[{n}] {op}(x, y){more} }}', [x, y])


def scatter(computation, values, indices, updates, more=''):
    t = {'i': 's32', 'f': 'f32'}[values.dtype.kind]
    n, m = values.size, indices.size
    return (computation.replace('T[', t + '[') + f'ENTRY e {{ x = {t}[{n}] parameter(0)\n i = s32[{m},1] parameter(1)\n u = {t}[{m}] parameter(2)\n'
            f' ROOT r = {t}[{n}] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}},'
            f' index_vector_dim=1, to_apply=f{more} }}', [values, indices.reshape(m, 1), updates])


def reduce(computation, t, x, init):
    return (computation.replace('T[', t + '[')
            + f'ENTRY e {{ x = {t}[{x.size}] parameter(0)\n z = {t}[] parameter(1)\n'
            f' ROOT r = {t}[] reduce(x, z), dimensions={{0}}, to_apply=f }}', [x, init])


def convert(a, b, x):
    return (f'ENTRY e {{ x = {a}[{x.size}] parameter(0)\n ROOT r = {b}[{x.size}] convert(x) }}', [x])


CASES = [
    ('integer-division-by-zero', 's32 divide', binary('divide', 's32', of([7, -7, 0]), of([0, 0, 0]))),
    ('integer-division-by-zero', 'u32 divide', binary('divide', 'u32', of([7, 0], 'u4'), of([0, 0], 'u4'))),
    ('integer-division-by-zero', 's32 remainder', binary('remainder', 's32', of([7, -7, 0]), of([0, 0, 0]))),
    ('integer-division-overflow', 's32 divide', binary('divide', 's32', of([-2**31]), of([-1]))),
    ('integer-division-overflow', 's32 remainder', binary('remainder', 's32', of([-2**31]), of([-1]))),
    ('shift-past-width', 's32 shift-left', binary('shift-left', 's32', of([1, 1, 1]), of([32, 33, -1]))),
    ('shift-past-width', 's32 arithmetic',
     binary('shift-right-arithmetic', 's32', of([-8, 8, -8]), of([32, 33, -1]))),
    ('shift-past-width', 's32 logical',
     binary('shift-right-logical', 's32', of([-8, 8, -8]), of([32, 33, -1]))),
    ('integer-power-negative-exponent', 's32',
     binary('power', 's32', of([2, 1, -1, -1, 0]), of([-1, -5, -3, -2, -1]))),
    ('cast-out-of-range', 'f32 to s32', convert('f32', 's32', of([3e9, -3e9, INF, NAN], 'f4'))),
    ('cast-out-of-range', 'f32 to u8', convert('f32', 'u8', of([300, -1, 256.5, NAN], 'f4'))),
    ('cast-out-of-range', 'f64 to s64', convert('f64', 's64', of([1e30, -1e30, NAN], 'f8'))),
    ('index-clamped', 'dynamic-slice', ('ENTRY e { x = s32[4] parameter(0)\n i = s32[] parameter(1)\n ROOT r = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2} }', [of([1, 2, 3, 4]), of(9)])),
    ('index-clamped', 'dynamic-slice, negative', ('ENTRY e { x = s32[4] parameter(0)\n i = s32[] parameter(1)\n ROOT r = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2} }', [of([1, 2, 3, 4]), of(-1)])),
    ('index-clamped', 'dynamic-update-slice', ('ENTRY e { x = s32[4] parameter(0)\n u = s32[2] parameter(1)\n i = s32[] parameter(2)\n ROOT r = s32[4] dynamic-update-slice(x, u, i) }', [of([1, 2, 3, 4]), of([8, 9]), of(3)])),
    ('index-clamped', 'gather', ('ENTRY e { x = s32[4] parameter(0)\n i = s32[3,1] parameter(1)\n ROOT r = s32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }', [of([1, 2, 3, 4]), of([[-1], [1], [9]])])),
    ('scatter-dropped', 'add', scatter(ADD, of([1, 2, 3]), of([-1, 1, 3]), of([10, 20, 30]))),
    ('scatter-collision', 'last', scatter(LAST, of([0, 0]), of([1, 1, 1]), of([1, 2, 3]))),
    ('scatter-collision', 'f32 add', scatter(ADD, of([1], 'f4'), of([0, 0, 0]), of([1e8, -1e8, 1e-3], 'f4'))),
    ('indices-not-unique', 's32 add',
     scatter(ADD, of([0, 0]), of([1, 1, 1]), of([1, 2, 4]), ', unique_indices=true')),
    ('indices-not-sorted', 's32 add',
     scatter(ADD, of([0, 0, 0]), of([2, 0, 1]), of([1, 2, 4]), ', indices_are_sorted=true')),
    ('sort-equal-keys', 'pairs', (LT + 'ENTRY e { k = f32[20] parameter(0)\n v = s32[20] parameter(1)\n ROOT r = (f32[20], s32[20]) sort(k, v), dimensions={0}, to_apply=f }', [of([1, 0] * 10, 'f4'), of(range(20))])),
    ('sort-not-an-order', 'NaN by LT', (LT + 'ENTRY e { k = f32[6] parameter(0)\n v = s32[6] parameter(1)\n ROOT r = (f32[6], s32[6]) sort(k, v), dimensions={0}, to_apply=f }', [of([3, NAN, 1, NAN, 2, 0], 'f4'), of(range(6))])),
    ('nan-in-min-max', 'maximum', binary('maximum', 'f32', of([1, NAN], 'f4'), of([NAN, 1], 'f4'))),
    ('nan-in-min-max', 'minimum', binary('minimum', 'f32', of([1, NAN], 'f4'), of([NAN, 1], 'f4'))),
    ('nan-in-min-max', 'reduce', reduce(MAX, 'f32', of([1, NAN, 2], 'f4'), of(-INF, 'f4'))),
    ('nan-in-min-max', 'clamp', ('ENTRY e { l = f32[3] parameter(0)\n x = f32[3] parameter(1)\n h = f32[3] parameter(2)\n ROOT r = f32[3] clamp(l, x, h) }', [of([NAN, 0, 0], 'f4'), of([1, NAN, 1], 'f4'), of([2, 2, NAN], 'f4')])),
    ('nan-in-compare', 'LT',
     binary('compare', 'f32', of([1, NAN], 'f4'), of([NAN, 1], 'f4'), ', direction=LT', 'pred')),
    ('nan-in-compare', 'GE',
     binary('compare', 'f32', of([1, NAN], 'f4'), of([NAN, 1], 'f4'), ', direction=GE', 'pred')),
    ('clamp-bounds-crossed', 's32', ('ENTRY e { l = s32[3] parameter(0)\n x = s32[3] parameter(1)\n h = s32[3] parameter(2)\n ROOT r = s32[3] clamp(l, x, h) }', [of([5, 5, 5]), of([0, 3, 9]), of([1, 1, 1])])),
    ('init-not-identity', 'add 5, 1000 elements', reduce(ADD, 'f32', np.ones(1000, 'f4'), of(5, 'f4'))),
    ('init-not-identity', 'rows of 1', (ADD.replace('T[', 's32[') + 'ENTRY e { x = s32[2,1] parameter(0)\n z = s32[] parameter(1)\n ROOT r = s32[2] reduce(x, z), dimensions={1}, to_apply=f }', [of([[1], [2]]), of(5)])),
    ('order-sensitive-reducer', 'subtract',
     reduce(ADD.replace('add', 'subtract'), 's32', of(range(1, 9)), of(0))),
    ('random-numbers', 'three_fry', ('ENTRY e { s = u64[2] parameter(0)\n ROOT r = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_three_fry }', [of([1, 2], 'u8')])),
    ('random-numbers', 'philox', ('ENTRY e { s = u64[3] parameter(0)\n ROOT r = (u64[3], u32[2]) rng-bit-generator(s), algorithm=rng_philox }', [of([1, 2, 3], 'u8')])),
    ('random-numbers', 'default', ('ENTRY e { s = u64[3] parameter(0)\n ROOT r = (u64[3], u32[2]) rng-bit-generator(s), algorithm=rng_default }', [of([1, 2, 3], 'u8')])),
    ('subnormals', 'f32 multiply',
     binary('multiply', 'f32', of([0.5, 1e-40], 'f4'), of([2.0**-126, 1], 'f4'))),
    ('subnormals', 'f32 compare',
     binary('compare', 'f32', of([1e-40], 'f4'), of([0], 'f4'), ', direction=GT', 'pred')),
    ('subnormals', 'f16 multiply', binary('multiply', 'f16', of([0.5], 'f2'), of([2.0**-14], 'f2'))),
    ('other-triangle', 'lower', ('ENTRY e { a = f32[2,2] parameter(0)\n ROOT r = f32[2,2] cholesky(a), lower=true }', [of([[4, 2], [2, 5]], 'f4')])),
    ('not-positive-definite', 'lower', ('ENTRY e { a = f32[2,2] parameter(0)\n ROOT r = f32[2,2] cholesky(a), lower=true }', [of([[1, 2], [2, 1]], 'f4')])),
    ('singular-triangle', 'lower', ('ENTRY e { a = f32[2,2] parameter(0)\n b = f32[2,1] parameter(1)\n ROOT r = f32[2,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE, unit_diagonal=false }', [of([[0, 0], [1, 1]], 'f4'), of([[1], [1]], 'f4')])),
]


def assay_results(assay, text, arguments):
    with tempfile.TemporaryDirectory() as directory:
        program, inputs, output = (os.path.join(directory, n) for n in ('p.hlo', 'in.npz', 'out.npz'))
        with open(program, 'w') as file:
            file.write(text)
        np.savez(inputs, **{f'arg{k}': a for k, a in enumerate(arguments)})
        done = subprocess.run([assay, 'run', program, '--inputs', inputs, '--output', output],
                              capture_output=True)
        if done.returncode != 0:
            return done.stderr.decode()
        with np.load(output) as stored:
            return [stored[key] for key in sorted(stored)]


def shown(results):
    if isinstance(results, str):
        return results.strip()
    return '; '.join(np.array2string(np.asarray(r), max_line_width=200).replace('\n', '') for r in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--only')
    options = parser.parse_args()
    runner = Runner()
    label = runner.label()
    for point, what, (text, arguments) in CASES:
        if options.only not in (None, point):
            continue
        text = 'HloModule m\n' + text + '\n'
        status, results = runner.run(text, [arguments])
        xla = shown(results[0]) if status == 'ok' else f'{status}: {results}'
        print(f'{point}, {what}\n  Assay    {shown(assay_results(options.assay, text, arguments))}\n  {label}  {xla}', flush=True)
    runner.stop()


if __name__ == '__main__':
    main()
