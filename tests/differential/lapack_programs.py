#!/usr/bin/env python3
"""Runs JAX's linear algebra with Assay and with XLA:CPU: programs whose decompositions are custom calls of
LAPACK.

Usage: lapack_programs.py ASSAY_BINARY [--only REGEX] [--keep DIR]

Each function is lowered for f32, f64, c64 and c128 and run by Assay from the StableHLO text and from the HLO
that XLA:CPU has optimised. A decomposition is free in signs, phases and orders: both programs' results must
satisfy its equations (docs/linear_algebra.md has the bounds), which is asked of XLA:CPU's results as well, so
that a wrong condition shows. Results that are no matter of choice are compared with XLA:CPU's.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

os.environ['JAX_PLATFORMS'] = 'cpu'

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jax._src.lax import linalg as internal
from jaxlib import _hlo

TYPES = {'f32': np.float32, 'f64': np.float64, 'c64': np.complex64, 'c128': np.complex128}
REAL = ('f32', 'f64')
# Of LAPACK, whose results XLA:CPU's are; Assay's own are checked more narrowly by exact_decompositions.py.
# A residual is at most this many n eps |A|, n the larger dimension (docs/linear_algebra.md).
RESIDUAL = 32
# Results that are no matter of choice differ by at most this many n eps of the largest of them,
# for the conditions here.
DIRECT = 2000
TIMEOUT_SECONDS = 120


def high(x):
    return np.asarray(x).astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


class Equations:
    """What must hold of the results of one program: conditions, each a size and the
    largest that it may have."""

    def __init__(self, dtype):
        self.eps = float(np.finfo(dtype).eps)
        self.failed, self.held = [], 0

    def true(self, label, holds):
        self.small(label, 0.0 if holds else 1.0, 0.0)

    def small(self, label, size, bound):
        size = float(size)
        if size <= bound:
            self.held += 1
        else:
            self.failed.append(f'{label}: {size:.3g}, wanted at most {bound:.3g}')

    def equal(self, label, left, right, scale, n, factor=RESIDUAL):
        difference = np.abs(high(left) - high(right))
        self.small(label, difference.max(initial=0),
                   factor * max(n, 1) * self.eps * max(scale, np.finfo('f4').tiny))

    def unitary(self, label, q):
        """The columns of q are orthonormal."""
        q = high(q)
        self.equal(label, adjoint(q) @ q,
                   np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (q.shape[-1],) * 2), 1,
                   max(q.shape[-2:]))


def size_of(a):
    return np.abs(a).max(initial=0)


# ---- conditions: check(equations, arguments, results) ----


def lu_check(e, args, results):
    a, (p, l, u) = high(args[0]), map(high, results)
    e.equal('P L U = A', p @ l @ u, a, size_of(a), max(a.shape[-2:]))
    # Complex pivots are compared by |re| + |im|.
    e.true('|L| is bounded', np.abs(l).max(initial=0) <= 1.5)


def lu_factor_check(e, args, results):
    """The pivots of a matrix one by one."""
    a, lu, pivots = high(args[0]), high(results[0]), np.asarray(results[1])
    for index in np.ndindex(a.shape[:-2]):
        rows = a[index].copy()
        for k, p in enumerate(pivots[index]):
            rows[[k, p]] = rows[[p, k]]
        k = min(rows.shape)
        l = np.tril(lu[index], -1)[:, :k] + np.eye(rows.shape[0], k)
        e.equal('L U = P A', l @ np.triu(lu[index])[:k], rows, size_of(rows), max(rows.shape))


def qr_check(e, args, results):
    a, (q, r) = high(args[0]), map(high, results[:2])
    e.unitary("Q'Q = 1", q)
    e.equal('Q R = A', q @ r, a, size_of(a), max(a.shape[-2:]))
    e.true('R is triangular', not np.tril(r, -1).any())


def pivoted_qr_check(e, args, results):
    a, (q, r), p = high(args[0]), map(high, results[:2]), np.asarray(results[2])
    e.unitary("Q'Q = 1", q)
    e.equal('Q R = A P', q @ r, a[:, p], size_of(a), max(a.shape))
    d = np.abs(np.diag(r))
    e.true('|R_kk| falls', (np.diff(d) <= 8 * e.eps * size_of(a)).all())


def svd_check(e, args, results):
    a, (u, s, vt) = high(args[0]), map(high, results)
    k = s.shape[-1]
    e.unitary("U'U = 1", u)
    e.unitary("V'V = 1", adjoint(vt))
    e.equal("U S V' = A", (u[..., :, :k] * s[..., None, :]) @ vt[..., :k, :], a, np.max(s), max(a.shape[-2:]))
    e.true('S falls', (np.diff(s) <= 0).all() and (s >= 0).all())


def values_check(of):
    """Eigenvalues or singular values in ascending or descending order; `of` gives NumPy's."""

    def check(e, args, results):
        a = high(args[0])
        wanted = of(a)
        e.equal('values', np.sort(high(results[0])), np.sort(wanted), np.max(np.abs(wanted)),
                max(a.shape[-2:]))

    return check


def symmetric(a):
    return (a + adjoint(a)) / 2


def eigh_check(e, args, results):
    a, (w, v) = symmetric(high(args[0])), map(high, results)
    e.unitary("V'V = 1", v)
    e.equal('A V = V W', a @ v, v * w[..., None, :], np.max(np.abs(w)), a.shape[-1])
    e.true('W rises', (np.diff(w) >= 0).all())


def eig_check(e, args, results):
    a, (w, v) = high(args[0]), map(high, results)
    e.equal('A V = V W', a @ v, v * w[..., None, :], np.linalg.norm(a, 2, (-2, -1)).max(), a.shape[-1])
    e.equal('|v| = 1', np.linalg.norm(v, axis=-2), 1, 1, a.shape[-1])
    e.equal('sum of W is the trace', w.sum(-1), np.trace(a, axis1=-2, axis2=-1), size_of(a) * a.shape[-1],
            a.shape[-1])


def schur_check(e, args, results):
    a, (t, z) = high(args[0]), map(high, results)
    e.unitary("Z'Z = 1", z)
    e.equal('A Z = Z T', a @ z, z @ t, np.linalg.norm(a, 2), a.shape[-1])
    below = np.tril(t, -1 if np.iscomplexobj(t) else -2)
    e.true('T is triangular', not below.any())


def hessenberg_check(e, args, results):
    a, (h, q) = high(args[0]), map(high, results)
    e.unitary("Q'Q = 1", q)
    e.equal('A Q = Q H', a @ q, q @ h, np.linalg.norm(a, 2), a.shape[-1])


def tridiagonal_check(e, args, results):
    """The eigenvalues of the tridiagonal matrix are those of a; all else shows in `hessenberg`."""
    a = symmetric(high(args[0]))
    d, off = high(results[1]), high(results[2])
    t = np.diag(d) + np.diag(off, 1) + np.diag(off, -1)
    e.equal('eigenvalues', np.linalg.eigvalsh(t), np.linalg.eigvalsh(a), np.linalg.norm(a, 2), a.shape[-1])


def eigh_tridiagonal_check(e, args, results):
    d, off = map(high, args)
    a = np.diag(d) + np.diag(off, 1) + np.diag(off, -1)
    w, v = map(high, results)
    e.equal('values', w, np.linalg.eigvalsh(a), np.linalg.norm(a, 2), len(d))
    e.equal('A V = V W', a @ v, v * w, np.linalg.norm(a, 2), len(d))
    e.unitary("V'V = 1", v)


def polar_check(e, args, results):
    a, (u, p) = high(args[0]), map(high, results)
    e.unitary("U'U = 1", u)
    e.equal('U P = A', u @ p, a, np.linalg.norm(a, 2), max(a.shape))


def root_check(e, args, results):
    a, r = high(args[0]), high(results[0])
    e.equal('R R = A', r @ r, a, np.linalg.norm(r, 2)**2, a.shape[-1])


def ormqr_check(e, args, results):
    a, c = high(args[0]), high(args[1])
    q = high(results[1])
    e.equal("Q'c", results[0][:q.shape[1]], adjoint(q) @ c, np.linalg.norm(c, 2), max(a.shape))
    e.equal("|Q'c| = |c|", np.linalg.norm(high(results[0]), axis=0), np.linalg.norm(c, axis=0),
            np.linalg.norm(c, 2), max(a.shape))


# None: the results are no matter of choice and are compared with XLA:CPU's.

# ---- arguments ----


def numbers(rng, dtype, *dims):
    x = rng.standard_normal(dims)
    return (x + 1j * rng.standard_normal(dims) if np.issubdtype(dtype, np.complexfloating)
            else x).astype(dtype)


def matrix(*dims):
    return lambda rng, dtype: [numbers(rng, dtype, *dims)]


def regular(n, *batch, right=()):
    """A matrix far from any singular one, and a right-hand side."""

    def make(rng, dtype):
        a = numbers(rng, dtype, *batch, n, n) + 3 * n * np.eye(n)[rng.permutation(n)].astype(dtype)
        return [a] + ([numbers(rng, dtype, *batch, *right)] if right else [])

    return make


def definite(n, *batch, right=()):

    def make(rng, dtype):
        b = numbers(rng, dtype, *batch, n, n)
        a = (b @ adjoint(b) / n + np.eye(n)).astype(dtype)
        return [a] + ([numbers(rng, dtype, *batch, *right)] if right else [])

    return make


def singular(n):

    def make(rng, dtype):
        a = np.round(numbers(rng, dtype, n, n) * 4).astype(dtype)
        a[-1] = 2 * a[0]
        a[:, 0] = 0
        return [a]

    return make


def with_nan(n, value=np.nan):

    def make(rng, dtype):
        a = numbers(rng, dtype, n, n)
        a[1, 0] = a[0, 1] = value
        return [a]

    return make


def diagonals(n, off):
    return lambda rng, dtype: [numbers(rng, dtype, n), numbers(rng, dtype, n - off)]


def three_diagonals(n, r, *batch):

    def make(rng, dtype):
        lower, upper = numbers(rng, dtype, *batch, n), numbers(rng, dtype, *batch, n)
        middle = numbers(rng, dtype, *batch, n) + 4
        lower[..., 0] = upper[..., -1] = 0
        return [lower, middle.astype(dtype), upper, numbers(rng, dtype, *batch, n, r)]

    return make


# ---- the programs: name, function, arguments, condition, types ----

L = jax.lax.linalg


def weighted(results):
    """A real number that depends on every element."""
    total = 0
    for x in jax.tree_util.tree_leaves(results):
        weights = 1 + jnp.arange(x.size, dtype=x.real.dtype).reshape(x.shape) / 8
        total += jnp.sum(x.real * weights) + (jnp.sum(x.imag * weights) / 2 if jnp.iscomplexobj(x) else 0)
    return total


def gradient(f):
    return lambda *args: jax.grad(lambda *a: weighted(f(*a)), tuple(range(len(args))))(*args)


def reflectors_applied(a, c):
    packed, taus = internal.geqrf(a)
    return internal.ormqr(packed, taus, c, left=True, transpose=True), L.householder_product(packed, taus)


def programs():
    sizes = [(5, 5), (7, 4), (4, 7), (1, 1), (40, 33)]
    for m, n in sizes:
        yield f'lu.{m}x{n}', jsl.lu, matrix(m, n), lu_check
        yield f'lu_factor.{m}x{n}', jsl.lu_factor, matrix(m, n), lu_factor_check
        yield f'qr.{m}x{n}', jnp.linalg.qr, matrix(m, n), qr_check
        yield f'qr_complete.{m}x{n}', lambda a: jnp.linalg.qr(a, mode='complete'), matrix(m, n), qr_check
        yield f'qr_pivoting.{m}x{n}', lambda a: jsl.qr(a, pivoting=True,
                                                       mode='economic'), matrix(m, n), pivoted_qr_check
        for full in (True, False):
            yield (f'svd_{"full" if full else "thin"}.{m}x{n}',
                   lambda a, f=full: tuple(jnp.linalg.svd(a, full_matrices=f)), matrix(m, n), svd_check)
        yield f'svd_qr.{m}x{n}', lambda a: svd_by_qr(a), matrix(m, n), svd_check
        yield f'svdvals.{m}x{n}', jnp.linalg.svdvals, matrix(m, n), values_check(
            lambda a: np.linalg.svd(a)[1])
        yield f'pinv.{m}x{n}', jnp.linalg.pinv, matrix(m, n), None
    for n in (1, 2, 6, 40):
        yield f'eigh.{n}', lambda a: tuple(jnp.linalg.eigh(a)), matrix(n, n), eigh_check
        yield f'eigh_upper.{n}', lambda a: tuple(jnp.linalg.eigh(
            (a + a.mT.conj()) / 2, UPLO='U', symmetrize_input=False)), matrix(n, n), eigh_check
        yield f'eigvalsh.{n}', jnp.linalg.eigvalsh, matrix(n, n), values_check(
            lambda a: np.linalg.eigvalsh(symmetric(a)))
        yield f'eig.{n}', lambda a: tuple(jnp.linalg.eig(a)), matrix(n, n), eig_check
        yield f'schur.{n}', jsl.schur, matrix(n, n), schur_check
        yield f'hessenberg.{n}', lambda a: jsl.hessenberg(a, calc_q=True), matrix(n, n), hessenberg_check
        yield f'tridiagonal.{n}', lambda a: L.tridiagonal((a + a.mT.conj()) / 2), matrix(
            n, n), tridiagonal_check
        yield f'solve.{n}', jnp.linalg.solve, regular(n, right=(n, 3)), None
        yield f'inv.{n}', jnp.linalg.inv, regular(n), None
        yield f'det.{n}', jnp.linalg.det, matrix(n, n), None
        yield f'slogdet.{n}', lambda a: tuple(jnp.linalg.slogdet(a)), matrix(n, n), None
        yield f'expm.{n}', jsl.expm, matrix(n, n), None
        yield f'cholesky.{n}', jsl.cholesky, definite(n), None
        yield f'solve_definite.{n}', lambda a, b: jsl.solve(a, b,
                                                            assume_a='pos'), definite(n, right=(n, 2)), None
        yield f'tridiagonal_solve.{n}', L.tridiagonal_solve, three_diagonals(n, 2), None
        yield f'polar.{n}', jsl.polar, regular(n), polar_check
    yield 'eigvals.6', lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), matrix(6, 6), None
    yield 'lu_solve', lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b, trans=1), regular(5, right=(5, 2)), None
    yield 'solve_triangular', lambda a, b: jsl.solve_triangular(a, b, lower=True, trans='C'), regular(
        5, right=(5, 2)), None
    yield 'lstsq', lambda a, b: jnp.linalg.lstsq(a, b)[0], lambda r, t: [
        numbers(r, t, 7, 4), numbers(r, t, 7, 2)], None
    yield 'matrix_rank', jnp.linalg.matrix_rank, singular(5), None
    yield 'cond', jnp.linalg.cond, regular(5), None
    yield 'sqrtm', jsl.sqrtm, definite(5), root_check
    yield 'funm', lambda a: jsl.funm(a, jnp.exp), definite(4), None
    yield 'ormqr', reflectors_applied, lambda r, t: [numbers(r, t, 7, 4), numbers(r, t, 7, 3)], ormqr_check
    yield 'solve_sylvester', jsl.solve_sylvester, lambda r, t: [
        *regular(4)(r, t), *definite(3)(r, t), numbers(r, t, 4, 3)], None
    yield 'eigh_tridiagonal', lambda d, e: jsl.eigh_tridiagonal(d, e, eigvals_only=False), diagonals(
        9, 1), eigh_tridiagonal_check
    # Batches.
    yield 'batch.lu', jax.vmap(jax.vmap(jsl.lu)), matrix(2, 3, 5, 4), lu_check
    yield 'batch.lu_factor', jsl.lu_factor, matrix(2, 3, 5, 4), lu_factor_check
    yield 'batch.qr', lambda a: tuple(jnp.linalg.qr(a)), matrix(2, 3, 5, 4), qr_check
    yield 'batch.svd', lambda a: tuple(jnp.linalg.svd(a)), matrix(2, 3, 5, 4), svd_check
    yield 'batch.eigh', lambda a: tuple(jnp.linalg.eigh(a)), matrix(2, 3, 4, 4), eigh_check
    yield 'batch.eig', lambda a: tuple(jnp.linalg.eig(a)), matrix(3, 4, 4), eig_check
    yield 'batch.solve', jnp.linalg.solve, regular(4, 2, 3, right=(4, 2)), None
    yield 'batch.inv', jnp.linalg.inv, regular(4, 6), None
    yield 'batch.det', jnp.linalg.det, matrix(6, 4, 4), None
    yield 'batch.tridiagonal_solve', L.tridiagonal_solve, three_diagonals(5, 2, 3), None
    yield 'batch.empty', lambda a: tuple(jnp.linalg.svd(a)), matrix(0, 3, 3), None
    # Gradients, of what they are unique for.
    yield 'grad.solve', gradient(jnp.linalg.solve), regular(4, right=(4, 2)), None
    yield 'grad.inv', gradient(jnp.linalg.inv), regular(4), None
    yield 'grad.det', gradient(jnp.linalg.det), regular(4), None
    yield 'grad.slogdet', gradient(lambda a: jnp.linalg.slogdet(a)[1]), regular(4), None
    yield 'grad.eigvalsh', gradient(jnp.linalg.eigvalsh), definite(4), None
    yield 'grad.svdvals', gradient(jnp.linalg.svdvals), matrix(5, 3), None
    yield 'grad.pinv', gradient(jnp.linalg.pinv), matrix(5, 3), None
    yield 'grad.lu', gradient(lambda a: jsl.lu(a)[1:]), regular(4), None
    yield 'grad.expm', gradient(jsl.expm), matrix(4, 4), None
    yield 'grad.cholesky', gradient(jsl.cholesky), definite(4), None
    # Singular matrices, NaN and infinity.
    yield 'singular.det', jnp.linalg.det, singular(4), None
    yield 'singular.slogdet', lambda a: tuple(jnp.linalg.slogdet(a)), singular(4), None
    yield 'singular.lu', jsl.lu, singular(4), lu_check
    yield 'singular.pinv', jnp.linalg.pinv, singular(4), None
    for label, value in (('nan', np.nan), ('inf', np.inf)):
        yield f'{label}.svd', lambda a: tuple(jnp.linalg.svd(a)), with_nan(3, value), None
        yield f'{label}.eig', lambda a: tuple(jnp.linalg.eig(a)), with_nan(3, value), None
        yield f'{label}.eigvalsh', jnp.linalg.eigvalsh, with_nan(3, value), None
    yield 'nan.det', jnp.linalg.det, with_nan(3), None


def svd_by_qr(a):
    return L.svd(a, full_matrices=False, algorithm=L.SvdAlgorithm.QR)


def is_not_run(name):
    """Of NaN and infinity in spectral routines docs/linear_algebra.md has a rule,
    and XLA:CPU's library none."""
    return re.match(r'(nan|inf)\.(svd|eig)', name)


REAL_ONLY = re.compile(r'^eigh_tridiagonal')


def like_xla(e, ours, theirs, n):
    """Results that are no matter of choice."""
    for k, (a, x) in enumerate(zip(ours, theirs)):
        a, x = np.asarray(a), np.asarray(x)
        if a.dtype.kind in 'iub':
            e.true(f'out{k} is {x}', (a == x).all())
            continue
        a, x = high(a), high(x)
        finite = np.isfinite(x)
        e.true(f'out{k} is finite where XLA:CPU\'s is', (np.isfinite(a) == finite).all())
        scale = np.abs(x[finite]).max(initial=0)
        e.equal(f'out{k}', np.where(finite, a, 0), np.where(finite, x, 0), scale, n, DIRECT)


def whole_constants():
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return options


class Case:

    def __init__(self, name, element, function, make, check):
        self.name = f'{name}.{element}'
        dtype = TYPES[element]
        self.check, self.dtype = check, dtype
        args = make(np.random.default_rng(sum(map(ord, self.name))), dtype)
        self.args = [np.ascontiguousarray(a) for a in args]
        lowered = jax.jit(function).lower(*self.args)
        self.stablehlo = lowered.as_text()
        compiled = lowered.compile()
        self.optimised = compiled.runtime_executable().hlo_modules()[0].to_string(whole_constants())
        self.kept = sorted(lowered._lowering.compile_args.get('kept_var_idx', range(len(self.args))))
        # jaxlib's library does not end on some of these.
        self.theirs = (
            [np.full(x.shape, np.nan, x.dtype) for x in jax.tree_util.tree_leaves(lowered.out_info)]
                       if is_not_run(self.name) else
                       [np.asarray(x) for x in jax.tree_util.tree_leaves(compiled(*self.args))])

    def problems(self, results):
        e = Equations(self.dtype)
        n = max([max(a.shape, default=1) for a in self.args])
        if is_not_run(self.name):
            for k, x in enumerate(results):
                e.true(f'out{k} is NaN', np.isnan(x).all())
        elif self.check is None:
            like_xla(e, results, self.theirs, n)
        else:
            self.check(e, self.args, results)
        return e.failed


def run_assay(assay, case, form, text, directory):
    base = os.path.join(directory, f'{case.name}.{form}')
    path = base + ('.mlir' if form == 'stablehlo' else '.hlo')
    with open(path, 'w') as file:
        file.write(text)
    np.savez(base + '_in.npz', **{f'arg{k}': case.args[i] for k, i in enumerate(case.kept)})
    command = [assay, 'run', path, '--inputs', base + '_in.npz', '--output', base + '_out.npz',
               '--crosscheck', 'full']
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=TIMEOUT_SECONDS)
    if done.returncode != 0:
        return None, f'exit code {done.returncode}: {done.stderr.strip()[:400]}'
    with np.load(base + '_out.npz') as stored:
        return [stored[f'out{k}'] for k in range(len(case.theirs))], ''


def failures(assay, case, directory):
    found = [] if is_not_run(case.name) else [f'XLA:CPU: {p}' for p in case.problems(case.theirs)]
    for form, text in (('stablehlo', case.stablehlo), ('optimised', case.optimised)):
        results, why = run_assay(assay, case, form, text, directory)
        if results is None:
            found.append(f'{form}: {why}')
            continue
        for a, x in zip(results, case.theirs):
            if a.shape != x.shape or a.dtype != x.dtype:
                found.append(f'{form}: {a.dtype}{a.shape}, wanted {x.dtype}{x.shape}')
        found += [f'{form}: {p}' for p in case.problems(results)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--only', default='', help='only programs whose name matches this')
    parser.add_argument('--keep', help='directory for programs, inputs and results')
    options = parser.parse_args()
    jax.config.update('jax_enable_x64', True)
    count = failed = calls = 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        waiting = []

        def finish():
            nonlocal failed
            case, answer = waiting.pop(0)
            found = [repr(answer.exception())] if answer.exception() else answer.result()
            failed += bool(found)
            for line in found[:4]:
                print(f'{case.name}: {line}')

        for name, function, make, check in programs():
            for element in TYPES:
                if not re.search(options.only,
                                 f'{name}.{element}') or (REAL_ONLY.match(name) and element not in REAL):
                    continue
                case = Case(name, element, function, make, check)
                count += 1
                calls += len(set(re.findall(r'lapack_\w+_ffi', case.stablehlo)) - {'lapack_'})
                waiting.append((case, pool.submit(failures, options.assay, case, directory)))
                while len(waiting) > 4:
                    finish()
        while waiting:
            finish()
    print(f'{count} programs with {calls} kinds of calls in all, in two forms: {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
