#!/usr/bin/env python3
"""Holds Assay's decompositions, the custom calls of LAPACK, against mpmath with 60 digits and more: every
element of every result.

Usage: exact_decompositions.py ASSAY_BINARY [--only REGEX] [--seed N]

docs/linear_algebra.md has the rules that make results unique. Here they are written once more, over mpmath's
numbers, by other algorithms: reflectors as full matrices, eigenvectors by mpmath, Schur vectors by
orthogonalising them. Results must be those numbers rounded to the type, bit for bit.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import mpmath
import numpy as np
from mpmath import mp, mpc, mpf

TYPES = {'s': np.float32, 'd': np.float64, 'c': np.complex64, 'z': np.complex128}
HLO = {'s': 'f32', 'd': 'f64', 'c': 'c64', 'z': 'c128'}
REAL = {'s': 's', 'd': 'd', 'c': 's', 'z': 'd'}
COMPLEX = {'s': 'c', 'd': 'z', 'c': 'c', 'z': 'z'}
LEAST_PART = mpf('0.37')
CLOSE = mpf(10)**-18  # of numbers that are equal but for rounding errors, relatively


def matrix(a):
    return mp.matrix([[mpc(complex(x)) for x in row] for row in a]) if a.size else mp.matrix(*a.shape)


def eye(n):
    return mp.eye(n) * mpc(1)


def adjoint(a):
    return a.transpose_conj()


def column(a, j):
    return [a[i, j] for i in range(a.rows)]


def of_columns(columns, rows):
    result = mp.matrix(rows, len(columns))
    for j, x in enumerate(columns):
        for i in range(rows):
            result[i, j] = x[i]
    return result


def dot(x, y):
    return mp.fsum(mp.conj(a) * b for a, b in zip(x, y))


def norm(x):
    return mp.sqrt(mp.fsum(abs(a)**2 for a in x))


def scaled(x, factor):
    return [a * factor for a in x]


def without(x, basis):
    for _ in range(2):
        for b in basis:
            d = dot(b, x)
            x = [p - d * q for p, q in zip(x, b)]
    return x


def orthonormal(vectors):
    found = []
    for x in vectors:
        x = without(scaled(x, 1 / norm(x)), found)
        found.append(scaled(x, 1 / norm(x)))
    return found


def canonical(vectors):
    """The projections of the axes onto the span of orthonormal vectors, orthonormalised."""
    n, found = len(vectors[0]), []
    for axis in range(n):
        x = [mpc(0)] * n
        for v in vectors:
            x = [p + q * mp.conj(v[axis]) for p, q in zip(x, v)]
        x = without(x, found)
        if len(found) < len(vectors) and norm(x)**2 >= LEAST_PART / n:
            found.append(scaled(x, 1 / norm(x)))
    return found


# ---- reflectors ----


def reflector(x):
    """beta, tau and v of 1 - tau v v*, whose adjoint takes x to (beta, 0)."""
    rest = norm(x[1:])
    if rest == 0 and mp.im(x[0]) == 0:
        return x[0], mpc(0), [mpc(1)] + [mpc(0)] * (len(x) - 1)
    beta = -norm(x) if mp.re(x[0]) >= 0 else norm(x)
    return mpc(beta), (beta - x[0]) / beta, [mpc(1)] + [a / (x[0] - beta) for a in x[1:]]


def cleaned(a):
    """Without the rounding errors where 0 should be."""
    least = max(abs(x) for x in a) * mpf(10)**(15 - mp.dps)
    for i in range(a.rows):
        for j in range(a.cols):
            if abs(a[i, j]) <= least:
                a[i, j] = mpc(0)
    return a


def whole(tau, v, first, n):
    h = eye(n)
    for i, a in enumerate(v):
        for j, b in enumerate(v):
            h[first + i, first + j] -= tau * a * mp.conj(b)
    return h


def factor_qr(a, choose=None):
    """R with the tails below, taus; the product of the reflectors. choose(k,
    rows left) gives the column that comes next."""
    a, m, n = a.copy(), a.rows, a.cols
    order, taus, tails, q = list(range(n)), [], {}, eye(m)
    for k in range(min(m, n)):
        if choose:
            j = choose(k, a)
            order[k], order[j] = order[j], order[k]
            for i in range(m):
                a[i, k], a[i, j] = a[i, j], a[i, k]
                tails[i, k], tails[i, j] = tails.get((i, j), mpc(0)), tails.get((i, k), mpc(0))
        beta, tau, v = reflector([a[i, k] for i in range(k, m)])
        h = whole(tau, v, k, m)
        a, q = cleaned(adjoint(h) * a), q * h
        for i in range(k, m):
            a[i, k] = beta if i == k else mpc(0)
            tails[i, k] = v[i - k]
        taus.append(tau)
    for k in range(min(m, n)):
        for i in range(k + 1, m):
            a[i, k] = tails[i, k]
    return a, taus, order, q


def largest_rest(k, a):
    squares = [mp.fsum(abs(a[i, j])**2 for i in range(k, a.rows)) for j in range(k, a.cols)]
    most = max(squares)
    return k + next(j for j, s in enumerate(squares) if s >= most * (1 - mpf(2)**-48))


def reduce_hessenberg(a):
    a, n, taus, tails = a.copy(), a.rows, [], {}
    for k in range(n - 1):
        beta, tau, v = reflector([a[i, k] for i in range(k + 1, n)])
        h = whole(tau, v, k + 1, n)
        a = cleaned(adjoint(h) * a * h)
        for i in range(k + 1, n):
            a[i, k] = beta if i == k + 1 else mpc(0)
            tails[i, k] = v[i - k - 1]
        taus.append(tau)
    for (i, k), value in tails.items():
        if i > k + 1:
            a[i, k] = value
    return a, taus


# ---- spectra ----


def groups_of(values):
    """Positions of values, in their order, that are the same number."""
    groups = []
    scale = max([abs(v) for v in values], default=mpf(0))
    for i, v in enumerate(values):
        if groups and abs(values[groups[-1][-1]] - v) <= CLOSE * scale:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def eigen_hermitian(a):
    w, q = mp.eighe(a)
    w, scale = list(w), max(abs(x) for x in a) if len(a) else mpf(0)
    w = [x if abs(x) > scale * mpf(10)**(15 - mp.dps) else mpf(0) for x in w]
    vectors = []
    for group in groups_of(w):
        vectors += canonical(orthonormal([column(q, j) for j in group]))
    return w, of_columns(vectors, a.rows)


def completed(columns, wanted, rows):
    if len(columns) < wanted:
        q = factor_qr(of_columns(columns, rows))[3] if columns else eye(rows)
        columns = columns + [column(q, j) for j in range(len(columns), wanted)]
    return columns


def singular(a, all_columns):
    """By the eigenvalues of A* A, or of A A*, whichever is smaller, of numbers with twice the digits."""
    m, n = a.rows, a.cols
    k = min(m, n)
    with mp.workdps(2 * mp.dps):
        square = adjoint(a) * a if n <= m else a * adjoint(a)
        w, q = mp.eighe(square)
        scale = max(list(w) + [mpf(0)])
        kept = [j for j in reversed(range(k)) if w[j] > scale * mpf(10)**-(mp.dps // 2 + 15)]
        values = [mp.sqrt(w[j]) for j in kept]
        one = [column(q, j) for j in kept]
        other = [scaled(column((a if n <= m else adjoint(a)) * of_columns([x], k), 0), 1 / s)
                 for x, s in zip(one, values)]
        v, u = (one, other) if n <= m else (other, one)
        new_u, new_v = [], []
        for group in groups_of(values):
            basis = canonical(orthonormal([v[j] for j in group]))
            new_v += basis
            for b in basis:
                new_u.append(scaled(column(a * of_columns([b], n), 0), 1 / values[group[0]]))
        u = completed(new_u, m if all_columns else k, m)
        v = completed(new_v, n if all_columns else k, n)
    return values + [mpf(0)] * (k - len(values)), of_columns(u, m), adjoint(of_columns(v, n))


def in_order(values):
    """By real part, size of the imaginary part, positive ones first; equal ones count as equal."""
    scale = max([abs(v) for v in values] + [mpf(0)])

    def rounded(x):
        return mp.nint(x / scale * mpf(10)**18) if scale else mpf(0)

    return sorted(range(len(values)),
                  key=lambda i: (rounded(mp.re(values[i])), rounded(abs(mp.im(values[i]))),
                                                     rounded(mp.im(values[i])) < 0))


def cut(x, scale):
    return mpc(mp.re(x) if abs(mp.re(x)) > CLOSE * scale else 0,
               mp.im(x) if abs(mp.im(x)) > CLOSE * scale else 0)


def normalized(x):
    x = scaled(x, 1 / norm(x))
    most = max(abs(a)**2 for a in x)
    k = next(i for i, a in enumerate(x) if abs(a)**2 >= most * (1 - mpf(2)**-48))
    return scaled(x, abs(x[k]) / x[k])


def eigen(a, known=None):
    """Eigenvalues in order, left and right eigenvectors. `known`: the values,
    of a matrix with fewer vectors than values."""
    n = a.rows
    if known is None:
        w, left, right = mp.eig(a, left=True, right=True)
        scale = max(abs(x) for x in w)
        order = in_order(w)
        values = [cut(w[i], scale) for i in order]
        vectors = [[column(adjoint(left), i) for i in order], [column(right, i) for i in order]]
    else:
        values = [mpc(known[i]) for i in in_order(known)]
        vectors = [[null_space(adjoint(a) - mp.conj(v) * eye(n)) for v in values],
                   [null_space(a - v * eye(n)) for v in values]]
    sides = []
    for side in vectors:
        result = []
        for group in groups_of(values):
            basis = canonical(side[group[0]] if known is not None else orthonormal([side[j] for j in group]))
            basis = [normalized(x) for x in basis]
            result += [basis[j % len(basis)] for j in range(len(group))]
        sides.append(of_columns(result, n))
    return values, sides[0], sides[1]


def null_space(a):
    w, q = mp.eighe(adjoint(a) * a)
    scale = max(list(w))
    return [column(q, j) for j in range(a.cols) if w[j] <= scale * mpf(10)**-(mp.dps - 15)]


def schur(a, is_real):
    """Of a matrix with different eigenvalues, by its eigenvectors."""
    values, _, right = eigen(a)
    n, z, t_values, j = a.rows, [], [], 0
    blocks = {}
    while j < n:
        x = column(right, j)
        if not is_real or mp.im(values[j]) == 0:
            x = without(x, z)
            z.append(canonical([scaled(x, 1 / norm(x))])[0])
            t_values.append(values[j])
            j += 1
            continue
        plane = [without([mpc(f(c)) for c in x], z) for f in (mp.re, mp.im)]
        if norm(plane[0]) < norm(plane[1]):
            plane.reverse()
        pair = of_columns(canonical(orthonormal(plane)), n)
        pair = standard(a, pair)
        block = pair.T * a * pair
        blocks[len(z)] = block
        z += [column(pair, 0), column(pair, 1)]
        t_values += [values[j], mp.conj(values[j])]
        j += 2
    z = of_columns(z, n)
    t = adjoint(z) * a * z
    for i in range(n):
        for k in range(n):
            if i > k and not (k in blocks and i == k + 1):
                t[i, k] = mpc(0)
        t[i, i] = mpc(mp.re(t_values[i])) if is_real else t_values[i]
    return t, z, t_values


def standard(a, pair):
    """The rotation of a plane after which the diagonal elements are equal and the upper
    number is at least as large."""
    b = pair.T * a * pair
    # tan 2 phi = (d - a) / (b + c)
    if abs(b[0, 1] + b[1, 0]) > CLOSE * abs(b[0, 1]) or abs(b[0, 0] - b[1, 1]) > CLOSE * abs(b[0, 1]):
        phi = mp.atan2(mp.re(b[1, 1] - b[0, 0]), mp.re(b[0, 1] + b[1, 0])) / 2
        pair = pair * mp.matrix([[mp.cos(phi), -mp.sin(phi)], [mp.sin(phi), mp.cos(phi)]])
        b = pair.T * a * pair
        if abs(b[0, 1]) < abs(b[1, 0]):
            pair = of_columns([column(pair, 1), column(pair, 0)], a.rows)
    return of_columns([canonical([column(pair, j)])[0] for j in range(2)], a.rows)


# ---- matrices ----


def similar(rng, n):
    """An integer matrix with determinant 1, and its inverse."""
    lower = np.eye(n) + np.tril(rng.integers(-1, 2, (n, n)), -1)
    upper = np.eye(n) + np.triu(rng.integers(-1, 2, (n, n)), 1)
    return lower @ upper, np.rint(np.linalg.inv(upper)) @ np.rint(np.linalg.inv(lower))


def draw(rng, t, m, n):
    x = rng.standard_normal((m, n))
    return x + 1j * rng.standard_normal((m, n)) if t in 'cz' else x


def general_matrices(rng, t):
    """Of any sizes: name, matrix."""
    for m, n in [(1, 1), (2, 2), (3, 3), (5, 5), (5, 2), (2, 5), (4, 1), (1, 4)]:
        yield 'drawn', draw(rng, t, m, n)
    yield 'zero', np.zeros((3, 3))
    yield 'ones', np.ones((4, 3))
    yield 'identity', np.eye(4)
    yield 'integers', rng.integers(-3, 4, (4, 4)) * 1.0
    yield 'rank 2', np.rint(draw(rng, t, 5, 2) * 2) @ np.rint(draw(rng, t, 2, 4) * 2)
    yield 'rank 1', np.outer(rng.integers(1, 4, 3), rng.integers(1, 4, 5)) * 1.0
    yield 'Hilbert', 1 / (1 + np.add.outer(np.arange(6), np.arange(6)) * 1.0)
    yield 'graded', draw(rng, t, 4, 4) * 10.0**-np.arange(0, 8, 2)
    yield 'shift', np.roll(np.eye(4), 1, 0)
    yield 'triangle', np.triu(draw(rng, t, 4, 4))


def hermitian_matrices(rng, t):
    for n in (1, 2, 3, 5):
        x = draw(rng, t, n, n)
        yield 'drawn', x + x.conj().T
    yield 'zero', np.zeros((3, 3))
    yield 'ones', np.ones((4, 4))
    yield 'repeated', np.ones((4, 4)) + np.eye(4)
    yield 'ring', 2 * np.eye(5) - np.roll(np.eye(5), 1, 0) - np.roll(np.eye(5), -1, 0)
    yield 'Hilbert', 1 / (1 + np.add.outer(np.arange(6), np.arange(6)) * 1.0)
    yield 'diagonal', np.diag([3.0, -1, 3, 1e-30])
    x = np.rint(draw(rng, t, 4, 2) * 2)
    yield 'rank 2', x @ x.conj().T


def apart(rng):
    """Integers, with eigenvalues that are not equal."""
    while True:
        a = rng.integers(-3, 4, (4, 4)) * 1.0
        w = np.linalg.eigvals(a)
        if np.abs(np.subtract.outer(w, w) + np.eye(4)).min() > 1e-3:
            return a


def square_matrices(rng, t):
    """Name, matrix, its eigenvalues where they are known because it has fewer vectors than values."""
    for n in (1, 2, 3, 4, 5):
        yield 'drawn', draw(rng, t, n, n), None
    yield 'triangle', np.triu(draw(rng, t, 4, 4)), None
    yield 'shift', np.roll(np.eye(4), 1, 0), None
    yield 'integers', apart(rng), None
    yield 'near', np.diag([1.0, 1 + 2.0**-20, 1 - 2.0**-20]) + np.diag([1.0, 1], 1), None


def defective_matrices(rng, t):
    yield 'zero', np.zeros((3, 3)), [0] * 3
    yield 'identity', np.eye(3), [1] * 3
    s, inverse = similar(rng, 4)
    for name, blocks in (('Jordan', np.diag([2.0, 2, 2, 1]) + np.diag([1.0, 1, 0], 1)),
                         ('semisimple', np.diag([3.0, 3, -1, -1])), ('nilpotent', np.diag([1.0, 0, 1], 1)),
                         ('one block', 2 * np.eye(4) + np.diag([1.0, 1, 1], 1))):
        yield name, s @ blocks @ inverse, list(np.diag(blocks))


# ---- calls ----


def rounded(x, t, scale=None):
    """To the type, 0 where a component is nothing beside `scale`."""

    def part(f):
        value = np.array([[mpf(f(a)) for a in row] for row in x],
                         dtype=object) if isinstance(x, list) else f(x)
        return value

    rows = [[x[i, j] for j in range(x.cols)]
            for i in range(x.rows)] if isinstance(x, mp.matrix) else [list(x)]
    real = REAL[t]

    def number(value):
        value = mpf(value)
        if scale is not None and abs(value) <= scale * CLOSE:
            value = mpf(0)
        return TYPES[real](float(value))

    result = np.zeros((len(rows), len(rows[0]) if rows else 0), TYPES[t])
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            result[i, j] = number(mp.re(value)) + (1j * number(mp.im(value)) if t in 'cz' else 0)
    return result if isinstance(x, mp.matrix) else result[0]


class Call:

    def __init__(self, target, name, arguments, results, expected, config=''):
        self.name, self.arguments, self.expected = f'{target} {name}', arguments, expected
        shape = lambda a: f'{ {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64", np.dtype(np.complex64): "c64", np.dtype(np.complex128): "c128", np.dtype(np.int32): "s32"}[a.dtype]}[{",".join(map(str, a.shape))}]'
        parameters = ''.join(f'  p{i} = {shape(a)} parameter({i})\n' for i, a in enumerate(arguments))
        names = ', '.join(f'p{i}' for i in range(len(arguments)))
        self.text = (f'HloModule m\nENTRY e {{\n{parameters}  ROOT r = ({", ".join(results)}) custom-call({names}), '
                     f'custom_call_target="lapack_{target}_ffi", api_version=API_VERSION_TYPED_FFI, '
                     f'backend_config={{{config}}}\n}}\n')


def array(t, *sizes):
    return f'{HLO[t]}[{",".join(map(str, sizes))}]'


def qr_calls(t, name, a):
    m, n = a.shape
    k = min(m, n)
    x = matrix(a)
    packed, taus, _, q = factor_qr(x)
    yield Call(f'{t}geqrf', name, [a], [array(t, m, n), array(t, k)], [rounded(packed, t), rounded(taus, t)])
    packed, taus, order, _ = factor_qr(x, largest_rest)
    yield Call(f'{t}geqp3', name, [a, np.zeros(n, np.int32)], [array(t, m, n), f's32[{n}]', array(t, k)],
               [rounded(packed, t), np.array(order, np.int32) + 1, rounded(taus, t)])


def svd_calls(t, name, a):
    m, n = a.shape
    k = min(m, n)
    for mode in 'AS':
        values, u, vt = singular(matrix(a), mode == 'A')
        for routine in ('gesdd', 'gesvd') if mode == 'A' else ('gesdd',):
            yield Call(f'{t}{routine}', f'{name} {mode}', [a],
                       [array(t, m, n), array(REAL[t], k), array(t, m, u.cols), array(t, vt.rows, n),
                        's32[]'],
                       [None, rounded(values, REAL[t]), rounded(u, t, 1), rounded(vt, t, 1), np.int32(0)],
                       f'mode = {ord(mode)} : ui8')


def hermitian_calls(t, name, a):
    n = len(a)
    prefix = {'s': 'sy', 'd': 'sy', 'c': 'he', 'z': 'he'}[t]
    w, v = eigen_hermitian(matrix(a))
    for uplo in 'LU':
        yield Call(f'{t}{prefix}evd', f'{name} {uplo}', [a], [array(t, n, n), array(REAL[t], n), 's32[]'],
                   [rounded(v, t, 1), rounded(w, REAL[t]), np.int32(0)],
                   f'mode = 86 : ui8, uplo = {ord(uplo)} : ui8')


def hessenberg_calls(t, name, a):
    n = len(a)
    h, taus = reduce_hessenberg(matrix(a))
    yield Call(f'{t}gehrd', name, [a], [array(t, n, n), array(t, n - 1), 's32[]'],
               [rounded(h, t), rounded(taus, t), np.int32(0)], f'low = 1 : i32, high = {n} : i32')


def tridiagonal_calls(t, name, a):
    n = len(a)
    prefix = {'s': 'sy', 'd': 'sy', 'c': 'he', 'z': 'he'}[t]
    h, taus = reduce_hessenberg(matrix(a))
    d, e = [mp.re(h[i, i]) for i in range(n)], [mp.re(h[i + 1, i]) for i in range(n - 1)]
    yield Call(f'{t}{prefix}trd', name, [a],
               [array(t, n, n), array(REAL[t], n), array(REAL[t], n - 1), array(t, n - 1), 's32[]'],
               [None, rounded(d, REAL[t]), rounded(e, REAL[t]), rounded(taus, t), np.int32(0)],
               'uplo = 76 : ui8')


def eigenvalue_results(t, w):
    if t in 'cz':
        return [rounded(w, t)]
    return [rounded([mp.re(x) for x in w], t), rounded([mp.im(x) for x in w], t)]


def eig_calls(t, name, a, known):
    n = len(a)
    w, left, right = eigen(matrix(a), known)
    c = COMPLEX[t]
    yield Call(f'{t}geev', name, [a],
               [array(t, n)] * (1 if t in 'cz' else 2) + [array(c, n, n)] * 2 + ['s32[]'],
               eigenvalue_results(t, w) + [rounded(left, c, 1), rounded(right, c, 1), np.int32(0)],
               'compute_left = 86 : ui8, compute_right = 86 : ui8')


def schur_calls(t, name, a):
    n = len(a)
    x = matrix(a)
    form, z, w = schur(x, t in 'sd')
    scale = max(abs(e) for e in x)
    yield Call(f'{t}gees', name, [a],
               [array(t, n, n)] * 2 + [array(t, n)] * (1 if t in 'cz' else 2) + ['s32[]', 's32[]'],
               [rounded(form, t, scale), rounded(z, t, 1)] + eigenvalue_results(t, w) + [None, np.int32(0)],
               'mode = 86 : ui8, sort = 78 : ui8')


def calls(rng):
    for t in TYPES:
        for name, a in general_matrices(rng, t):
            a = np.ascontiguousarray(a.astype(TYPES[t]))
            yield from qr_calls(t, name, a)
            yield from svd_calls(t, name, a)
        for name, a in hermitian_matrices(rng, t):
            a = np.ascontiguousarray(a.astype(TYPES[t]))
            yield from hermitian_calls(t, name, a)
            if len(a) > 1:
                yield from tridiagonal_calls(t, name, a)
        for name, a, known in square_matrices(rng, t):
            a = np.ascontiguousarray(a.astype(TYPES[t]))
            yield from eig_calls(t, name, a, known)
            yield from schur_calls(t, name, a)
            if len(a) > 1:
                yield from hessenberg_calls(t, name, a)
        for name, a, known in defective_matrices(rng, t):
            yield from eig_calls(t, name, np.ascontiguousarray(a.astype(TYPES[t])), known)


def different(found, wanted):
    """The first result that is not the one that is wanted, -0 being 0."""
    for k, (a, x) in enumerate(zip(found, wanted)):
        if x is None:
            continue
        if a.shape != x.shape or a.dtype != x.dtype:
            return f'out{k} is {a.dtype}{a.shape}, wanted {x.dtype}{x.shape}'
        if not np.array_equal(a, x):
            return f'out{k} is\n{a!r}, wanted\n{x!r}'
    return ''


def run(assay, call, directory):
    program, inputs, outputs = (os.path.join(directory, name) for name in ('p.hlo', 'in.npz', 'out.npz'))
    with open(program, 'w') as file:
        file.write(call.text)
    np.savez(inputs, **{f'arg{i}': a for i, a in enumerate(call.arguments)})
    done = subprocess.run([assay, 'run', program, '--inputs', inputs, '--output', outputs],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr
    with np.load(outputs) as stored:
        return [stored[f'out{k}'] for k in range(len(call.expected))], ''


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--only', default='', help='only calls whose name matches this')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    mp.dps = 60
    count = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for call in calls(np.random.default_rng(options.seed)):
            if not re.search(options.only, call.name):
                continue
            count += 1
            found, error = run(options.assay, call, directory)
            error = error or different(found, call.expected)
            if error:
                failed += 1
                print(f'{call.name}: {error}')
    print(f'{count} decompositions: {failed} differ from mpmath')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
