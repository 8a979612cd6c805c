#!/usr/bin/env python3
"""Measures how far XLA:CPU's functions are from exact ones: the figures of check/profiles/xla-cpu.profile.

Usage: measure_profile.py ASSAY_BINARY [--count N] [--seed S]

For each function and type it prints the largest distance, in ulps, from the exact result rounded once, over N
arguments of all exponents of the type and N near 1; with half an ulp for that rounding. Subnormal arguments
and results, which XLA:CPU takes for zero, are left out, and so are results that are not finite on both sides:
those are counted.
"""

import argparse
import os
import subprocess
import tempfile

import ml_dtypes
import numpy as np
from values import NUMPY, epsilon, tiny
from xla import Runner

UNARY = '''acos acosh asin asinh atanh cbrt cosine cosh erf exponential exponential-minus-one log log-plus-one logistic rsqrt sine
sinh sqrt tan tanh'''.split()
BINARY = 'add atan2 divide multiply power remainder subtract'.split()
TYPES = ['f32', 'f64', 'bf16', 'f16']


def arguments(rng, element, count):
    info = ml_dtypes.finfo(NUMPY[element])
    exponents = rng.uniform(np.log2(tiny(element)), np.log2(float(info.max)) - 1e-3, count)
    wide = rng.choice([-1, 1], count) * np.exp2(exponents)
    near = rng.standard_normal(count) * rng.choice([0.1, 1, 10], count)
    return np.concatenate([wide, near]).astype(NUMPY[element])


def ulps(exact, actual, element):
    e, a = exact.astype('f8'), actual.astype('f8')
    finite = np.isfinite(e) & np.isfinite(a) & (np.abs(e) >= tiny(element)) & (np.abs(a) >= tiny(element))
    unit = np.exp2(np.floor(np.log2(np.where(finite, np.abs(e), 1)))) * epsilon(element)
    return np.where(finite, np.abs(a - e) / unit, 0), finite


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--count', type=int, default=100000)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    runner = Runner()
    with tempfile.TemporaryDirectory() as directory:
        program, inputs, output = (os.path.join(directory, n) for n in ('p.hlo', 'in.npz', 'out.npz'))
        for element in TYPES:
            rng = np.random.default_rng(options.seed)
            args = [arguments(rng, element, options.count) for _ in range(2)]
            args[1] = rng.permutation(args[1])
            shape = f'{element}[{args[0].size}]'
            for op in UNARY + BINARY:
                operands = 'x' if op in UNARY else 'x, y'
                text = (f'HloModule m\nENTRY e {{\n  x = {shape} parameter(0)\n  y = {shape} parameter(1)\n'
                        f'  ROOT r = {shape} {op}({operands})\n}}\n')
                with open(program, 'w') as file:
                    file.write(text)
                np.savez(inputs, arg0=args[0], arg1=args[1])
                subprocess.run([options.assay, 'run', program, '--inputs', inputs, '--output', output],
                               check=True)
                with np.load(output) as stored:
                    exact = stored['out0'].view(NUMPY[element])
                status, results = runner.run(text, [args])
                if status != 'ok':
                    print(f'{op} {element}: refused')
                    continue
                distance, finite = ulps(exact, results[0][0], element)
                worst = int(np.argmax(distance))
                same = np.isfinite(exact.astype('f8')) == np.isfinite(results[0][0].astype('f8'))
                where = ', '.join(repr(float(a[worst])) for a in args[:2 if op in BINARY else 1])
                print(f'ulps {op} {element} {distance[worst] + 0.5:.4g}  # at {where}; 99.9 % within '
                      f'{np.quantile(distance[finite], 0.999) + 0.5:.3g}; {int((~same).sum())} not finite on one side only',
                      flush=True)
    runner.stop()


if __name__ == '__main__':
    main()
