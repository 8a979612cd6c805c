#!/usr/bin/env python3
"""Bounds of solvers, decompositions and normalizations beside results of other algorithms, none of which may
be outside.

Usage: bounds_linalg.py ASSAY_BINARY [--seeds N] [--seed S] [--only REGEX]

Each case is a program with random inputs, and backends that compute it otherwise: XLA:CPU (which solves with
inverted blocks of the diagonal), and numpy by substitution row by row with sums in random order, by columns,
by the inverse, by a bordered, a left-looking and a right-looking factorization, each in f32 or c64; operands
that are not exact are products, which the backend adds up in another order. Functions of complex numbers are
taken of random points of discs, in 50 digits (mpmath). What is shown of each case is the bound divided by the
largest error seen.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import scipy.linalg
from xla import Runner

F32 = np.float32


def shuffled_dot(a, b, rng):
    """sum a b, each step rounded, in random order."""
    total = a.dtype.type(0)
    for k in rng.permutation(len(a)):
        total = a.dtype.type(total + a.dtype.type(a[k] * b[k]))
    return total


def product(a, b, rng):
    rows, columns = range(a.shape[0]), range(b.shape[1])
    return np.array([[shuffled_dot(a[i], b[:, j], rng) for j in columns] for i in rows], a.dtype)


def substitution(t, b, rng):
    """t lower."""
    x = np.zeros_like(b)
    for s in range(b.shape[1]):
        for i in range(len(t)):
            rest = t.dtype.type(b[i, s] - shuffled_dot(t[i, :i], x[:i, s], rng))
            x[i, s] = t.dtype.type(rest / t[i, i])
    return x


def by_columns(t, b, rng):
    del rng
    x, rest = np.zeros_like(b), b.copy()
    for i in range(len(t)):
        x[i] = (rest[i] / t[i, i]).astype(t.dtype)
        rest[i + 1:] = (rest[i + 1:] - np.outer(t[i + 1:, i], x[i]).astype(t.dtype)).astype(t.dtype)
    return x


def by_inverse(t, b, rng):
    return product(substitution(t, np.eye(len(t), dtype=t.dtype), rng), b, rng)


def left_looking(a, rng):
    n = len(a)
    l = np.zeros_like(a)
    for j in range(n):
        rest = a[j, j] - shuffled_dot(l[j, :j], l[j, :j].conj(), rng)
        l[j, j] = a.dtype.type(np.sqrt(rest.real.astype(F32)))
        for i in range(j + 1, n):
            rest = a.dtype.type(a[i, j] - shuffled_dot(l[i, :j], l[j, :j].conj(), rng))
            l[i, j] = a.dtype.type(rest / l[j, j])
    return l


def right_looking(a, rng):
    del rng
    a, n = a.copy(), len(a)
    l = np.zeros_like(a)
    for j in range(n):
        l[j, j] = np.sqrt(a[j, j].real)
        l[j + 1:, j] = a[j + 1:, j] / l[j, j]
        a[j + 1:, j + 1:] -= np.outer(l[j + 1:, j], l[j + 1:, j].conj()).astype(a.dtype)
    return l


def bordered(a, rng):
    l = np.zeros_like(a)
    for i in range(len(a)):
        l[i, :i] = substitution(l[:i, :i].conj(), a[i, :i].reshape(-1, 1), rng)[:, 0] if i else 0
        l[i, i] = np.sqrt(a[i, i].real - shuffled_dot(l[i, :i], l[i, :i].conj(), rng).real)
    return l


SOLVERS = {'substitution': substitution, 'by columns': by_columns, 'by inverse': by_inverse}
FACTORS = {'left-looking': left_looking, 'right-looking': right_looking, 'bordered': bordered}


class Case:
    def __init__(self, name, text, args, backends, by_xla=True):
        self.name, self.text, self.args, self.backends, self.by_xla = name, text, args, backends, by_xla


def numbers(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype == np.complex64 else x).astype(dtype)


def name_of(dtype):
    return {np.float32: 'f32', np.complex64: 'c64'}[dtype]


def triangular_cases(rng):
    for dtype in (np.float32, np.complex64):
        for n, sides in ((1, 2), (3, 1), (8, 3), (24, 2)):
            for kind in ('dominant', 'random', 'kahan'):
                t = np.tril(numbers(rng, (n, n), dtype))
                if kind == 'dominant':
                    t += (n * np.eye(n)).astype(dtype)
                elif kind == 'kahan':
                    t = (np.tril(-0.3 * np.ones((n, n)), -1) + np.eye(n)) @ np.diag(0.95**np.arange(n))
                    t = t.astype(dtype)
                b, e = numbers(rng, (n, sides), dtype), name_of(dtype)
                text = (f'HloModule m\nENTRY e {{\n  t = {e}[{n},{n}] parameter(0)\n'
                        f'  b = {e}[{n},{sides}] parameter(1)\n'
                        f'  ROOT x = {e}[{n},{sides}] triangular-solve(t, b), left_side=true, lower=true, '
                        'unit_diagonal=false, transpose_a=NO_TRANSPOSE\n}\n')
                backends = {k: (lambda f=f, t=t, b=b: f(t, b, rng)) for k, f in SOLVERS.items()}
                yield Case(f'triangular-solve {e} {kind} {n}', text, [t, b], backends)
    # From the right with the transpose, and operands that are products.
    for n in (4, 12):
        p, q = numbers(rng, (n, n), F32), numbers(rng, (3, n), F32)
        scale = np.array(2 * n * np.eye(n), F32)
        text = (f'HloModule m\nENTRY e {{\n  p = f32[{n},{n}] parameter(0)\n  q = f32[3,{n}] parameter(1)\n'
                f'  s = f32[{n},{n}] parameter(2)\n'
                f'  d = f32[{n},{n}] dot(p, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n'
                f'  a = f32[{n},{n}] add(d, s)\n'
                f'  b = f32[3,{n}] dot(q, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n'
                f'  ROOT x = f32[3,{n}] triangular-solve(a, b), left_side=false, lower=true, '
                'unit_diagonal=false, transpose_a=TRANSPOSE\n}\n')

        def solved(f, p=p, q=q, scale=scale):
            a = (product(p, p.T.copy(), rng) + scale).astype(F32)
            return f(np.tril(a), product(q, p, rng).T.copy(), rng).T.copy()

        yield Case(f'triangular-solve of products {n}', text, [p, q, scale],
                   {k: (lambda f=f, solved=solved: solved(f)) for k, f in SOLVERS.items()})


def cholesky_cases(rng):
    for dtype in (np.float32, np.complex64):
        for n in (1, 3, 8, 24):
            for kind in ('easy', 'harder'):
                x = numbers(rng, (n, n), dtype).astype(np.complex128)
                a = x @ x.conj().T + (n if kind == 'easy' else 0.01) * np.eye(n)
                a = (a if dtype == np.complex64 else a.real).astype(dtype)
                e = name_of(dtype)
                text = (f'HloModule m\nENTRY e {{\n  a = {e}[{n},{n}] parameter(0)\n'
                        f'  ROOT l = {e}[{n},{n}] cholesky(a), lower=true\n}}\n')
                yield Case(f'cholesky {e} {kind} {n}', text, [a],
                           {k: (lambda f=f, a=a: f(a, rng)) for k, f in FACTORS.items()})
    for n in (4, 10):
        x = numbers(rng, (n, n), F32)
        shift = np.array(n * np.eye(n), F32)
        text = (f'HloModule m\nENTRY e {{\n  x = f32[{n},{n}] parameter(0)\n  s = f32[{n},{n}] parameter(1)\n'
                f'  d = f32[{n},{n}] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n'
                f'  a = f32[{n},{n}] add(d, s)\n  ROOT l = f32[{n},{n}] cholesky(a), lower=true\n}}\n')
        yield Case(f'cholesky of a product {n}', text, [x, shift],
                   {k: (lambda f=f, x=x, s=shift: f((product(x, x.T.copy(), rng) + s).astype(F32), rng))
                    for k, f in FACTORS.items()})


def batch_norm_cases(rng):
    for shift in (0, 3, 40):
        x = (numbers(rng, (6, 5, 3), F32) + shift).astype(F32)
        scale, offset, mean = (numbers(rng, (3,), F32) for _ in range(3))
        variance = (np.abs(numbers(rng, (3,), F32)) + 0.1).astype(F32)
        grad = numbers(rng, (6, 5, 3), F32)
        eps = F32(0.001)

        def training(two_pass, x=x, scale=scale, offset=offset):
            n = F32(30)
            m = np.sum(x, (0, 1), dtype=F32) / n
            d = x - m
            if two_pass:
                v = np.sum(d * d, (0, 1), dtype=F32) / n
            else:
                v = np.sum(x * x, (0, 1), dtype=F32) / n - m * m
            r = F32(1) / np.sqrt(v + eps)
            y = d * r * scale + offset if two_pass else x * (scale * r) + (offset - m * (scale * r))
            return [y.astype(F32), m.astype(F32), v.astype(F32)]

        def inference(x=x, scale=scale, offset=offset, mean=mean, variance=variance):
            r = F32(1) / np.sqrt(variance + eps)
            return ((x - mean) * r * scale + offset).astype(F32)

        def gradient(x=x, scale=scale, mean=mean, variance=variance, grad=grad):
            n, v = F32(30), variance + eps
            r, d = F32(1) / np.sqrt(v), x - mean
            s, o = np.sum(grad * d, (0, 1), dtype=F32), np.sum(grad, (0, 1), dtype=F32)
            y = scale * r / n * (n * grad - o - d * (s / v))
            return [y.astype(F32), (s * r).astype(F32), o]

        x_of, f_of = 'f32[6,5,3]', 'f32[3]'
        all_of = f'({x_of}, {f_of}, {f_of})'
        head = f'HloModule m\nENTRY e {{\n  x = {x_of} parameter(0)\n  s = {f_of} parameter(1)\n'
        tail = ', epsilon=0.001, feature_index=2\n}\n'
        text = f'  o = {f_of} parameter(2)\n  ROOT y = {all_of} batch-norm-training(x, s, o)'
        yield Case(f'batch-norm-training {shift}', head + text + tail, [x, scale, offset],
                   {'two passes': lambda f=training: f(True), 'one pass': lambda f=training: f(False)})
        text = (f'  o = {f_of} parameter(2)\n  m = {f_of} parameter(3)\n  v = {f_of} parameter(4)\n'
                f'  ROOT y = {x_of} batch-norm-inference(x, s, o, m, v)')
        yield Case(f'batch-norm-inference {shift}', head + text + tail, [x, scale, offset, mean, variance],
                   {'in order': inference})
        text = (f'  m = {f_of} parameter(2)\n  v = {f_of} parameter(3)\n  g = {x_of} parameter(4)\n'
                f'  ROOT y = {all_of} batch-norm-grad(x, s, m, v, g)')
        yield Case(f'batch-norm-grad {shift}', head + text + tail, [x, scale, mean, variance, grad],
                   {"XLA's formula": gradient})


def spectrum_cases(rng):
    for n in (2, 6, 20):
        a = numbers(rng, (n, n), F32)
        a = ((a + a.T) / 2).astype(F32)
        head = f'HloModule m\nENTRY e {{\n  a = f32[{n},{n}] parameter(0)\n'
        yield Case(f'eigenvalues {n}', head +
                   f'  c = (f32[{n},{n}], f32[{n}], s32[]) custom-call(a), '
                   'custom_call_target="lapack_ssyevd_ffi", '
                   'api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, uplo = 76 : ui8}\n'
                   f'  ROOT w = f32[{n}] get-tuple-element(c), index=1\n}}\n', [a],
                   {'LAPACK in f32': lambda a=a: scipy.linalg.eigvalsh(a)}, by_xla=False)
        yield Case(f'singular values {n}', head +
                   f'  c = (f32[{n},{n}], f32[{n}], f32[{n},{n}], f32[{n},{n}], s32[]) custom-call(a), '
                   'custom_call_target="lapack_sgesdd_ffi", api_version=API_VERSION_TYPED_FFI, '
                   'backend_config={mode = 83 : ui8}\n'
                   f'  ROOT w = f32[{n}] get-tuple-element(c), index=1\n}}\n', [a],
                   {'LAPACK in f32': lambda a=a: scipy.linalg.svdvals(a)}, by_xla=False)


def complex_cases(rng):
    import mpmath
    mpmath.mp.dps = 50
    functions = {'asin': mpmath.asin, 'acos': mpmath.acos, 'asinh': mpmath.asinh, 'acosh': mpmath.acosh,
                 'atanh': mpmath.atanh, 'logistic': lambda z: 1 / (1 + mpmath.exp(-z)), 'power': None}
    for op, function in functions.items():
        # A sum of seven terms of each part: wide discs by large terms that cancel.
        terms = numbers(rng, (40, 7), np.complex64)
        terms[:, 0] *= 2000
        terms[:, 1] = -terms[:, 0]
        exponent = numbers(rng, (40,), np.complex64)
        head = ('HloModule m\nadd {\n  a = c64[] parameter(0)\n  b = c64[] parameter(1)\n'
                '  ROOT s = c64[] add(a, b)\n}\n'
                'ENTRY e {\n  x = c64[40,7] parameter(0)\n  zero = c64[] constant((0, 0))\n'
                '  z = c64[40] reduce(x, zero), dimensions={1}, to_apply=add\n')

        def result(terms=terms, exponent=exponent, op=op, function=function):
            found = []
            for row, w in zip(terms, exponent):
                z = np.complex64(0)
                for k in rng.permutation(len(row)):
                    z = np.complex64(z + row[k])
                z = mpmath.mpc(float(z.real), float(z.imag))
                w = mpmath.mpc(float(w.real), float(w.imag))
                found.append(complex(mpmath.power(z, w) if op == 'power' else function(z)))
            return np.array(found, np.complex64)

        if op == 'power':
            text = head + '  w = c64[40] parameter(1)\n  ROOT p = c64[40] power(z, w)\n}\n'
            yield Case('complex power', text, [terms, exponent], {'mpmath': result}, by_xla=False)
        else:
            yield Case(f'complex {op}', head + f'  ROOT f = c64[40] {op}(z)\n}}\n', [terms],
                       {'mpmath': result}, by_xla=False)


def scaled_dot_cases(rng):
    import ml_dtypes
    l, r = numbers(rng, (4, 32), ml_dtypes.bfloat16), numbers(rng, (32, 5), ml_dtypes.bfloat16)
    s = np.exp2(rng.integers(-3, 4, (4, 4))).astype(ml_dtypes.float8_e8m0fnu)
    one = np.array(1, ml_dtypes.bfloat16)
    text = ('HloModule m\nENTRY e {\n  l = bf16[4,32] parameter(0)\n  r = bf16[32,5] parameter(1)\n'
            '  s = f8e8m0fnu[4,4] parameter(2)\n  one = bf16[] parameter(3)\n'
            '  ROOT d = f32[4,5] scaled-dot(l, r, s, one), lhs_contracting_dims={1}, '
            'rhs_contracting_dims={0}\n}\n')

    def result():
        wide = (l.astype(F32) * np.repeat(s.astype(F32), 8, 1)).astype(F32)
        return product(wide, r.astype(F32), rng)

    yield Case('scaled-dot', text, [l, r, s, one], {'shuffled': result}, by_xla=False)


def cases(rng):
    for family in (triangular_cases, cholesky_cases, batch_norm_cases, spectrum_cases, complex_cases,
                   scaled_dot_cases):
        yield from family(rng)


class Tester:
    def __init__(self, options, directory):
        self.options, self.directory, self.runner = options, directory, Runner()
        self.failures, self.ratios, self.counts = 0, collections.defaultdict(list), collections.Counter()

    def path(self, name):
        return os.path.join(self.directory, name)

    def check(self, case, backend, profile, results):
        results = results if isinstance(results, list) else [results]
        np.savez(self.path('out.npz'), **{f'out{k}': a for k, a in enumerate(results)})
        command = [self.options.assay, 'diff', self.path('p.hlo'), '--inputs', self.path('in.npz'),
                   '--actual', self.path('out.npz'), '--profile', profile, '--samples', '0', '--json']
        done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=600)
        if done.returncode not in (0, 1):
            self.failures += 1
            print(f'{case.name}, {backend}: exit code {done.returncode}: {done.stderr.strip()[:300]}')
            return
        for key, output in json.loads(done.stdout)['outputs'].items():
            for what in ('inside', 'outside', 'undecided'):
                self.counts[what] += output.get(what, 0)
            if output.get('outside') or 'error' in output:
                self.failures += 1
                worst = output['worst'][0] if output.get('worst') else output
                print(f'{case.name}, {backend}, {key}: {output.get("outside")} outside, as {worst}')
            elif output.get('largest_share'):
                self.ratios[re.sub(r' \d+$', '', case.name)].append(1 / output['largest_share'])
            if output.get('undecided'):
                self.counts[f'undecided of {case.name}'] += output['undecided']

    def run(self, case):
        pathlib.Path(self.path('p.hlo')).write_text(case.text)
        np.savez(self.path('in.npz'), **{f'arg{k}': a for k, a in enumerate(case.args)})
        with np.errstate(all='ignore'):
            for backend, results in case.backends.items():
                self.check(case, backend, 'strict', results())
        if case.by_xla:
            status, results = self.runner.run(case.text, [case.args])
            if status == 'ok':
                self.check(case, 'XLA:CPU', 'xla-cpu', results[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--only', default='')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        tester = Tester(options, directory)
        for seed in range(options.seed, options.seed + options.seeds):
            for case in cases(np.random.default_rng(seed)):
                if re.search(options.only, case.name):
                    tester.run(case)
        tester.runner.stop()
    for name, ratios in tester.ratios.items():
        print(f'{name}: bound / largest error {min(ratios):.3g} to {max(ratios):.3g}, median '
              f'{statistics.median(ratios):.3g} ({len(ratios)} outputs)')
    for what, count in tester.counts.items():
        print(f'{what}: {count}')
    return 1 if tester.failures or not tester.counts['inside'] else 0


if __name__ == '__main__':
    sys.exit(main())
