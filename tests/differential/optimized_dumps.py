#!/usr/bin/env python3
"""Runs JAX programs before and after XLA:CPU's optimization with Assay: what dumps and snapshots hold must
run and mean the same.

Usage: optimized_dumps.py ASSAY_BINARY [--only REGEX] [--every N] [--rows N] [--keep DIR] [--undecided]

Each program is lowered by JAX to HLO and compiled by jaxlib. Assay verifies, plans and audits the optimized
module, prints it as text and as a proto, which must be read and printed alike, and runs both. The results of
the optimized module must lie within the bounds that `assay diff --profile xla-cpu` derives from the program
before (bounds of 0 for integers and moved data), and so must XLA:CPU's. Printed are the programs whose
results differ at all, by their largest difference. With --undecided, XLA:CPU's results are also held against
the bounds of both modules, and the elements that stay undecided are counted. With --rows, the programs are
one of N of the tables in jax_programs/ instead (docs/goldens.md, jax_functions.py).
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ['JAX_PLATFORMS'] = 'cpu'

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax import lax
from jaxlib import _hlo

GOLDEN_PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / 'golden' / 'programs'
GENERATOR = np.random.default_rng(11)


def normal(*shape, dtype=np.float32):
    return GENERATOR.standard_normal(shape).astype(dtype)


def integers(*shape, dtype=np.int32, below=100):
    return GENERATOR.integers(-below, below, shape).astype(dtype)


def convolve(x, w, strides=(1, 1), padding='SAME', groups=1, **more):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=('NHWC', 'HWIO', 'NHWC'),
                                    feature_group_count=groups, **more)


def mlp(parameters, x):
    w1, b1, w2, b2 = parameters
    return jnp.tanh(x @ w1 + b1) @ w2 + b2


def mlp_loss(parameters, x, y):
    return ((mlp(parameters, x) - y) ** 2).mean()


def sgd_step(w1, b1, w2, b2, x, y):
    loss, gradient = jax.value_and_grad(mlp_loss)((w1, b1, w2, b2), x, y)
    return (loss,) + tuple(p - 0.1 * g for p, g in zip((w1, b1, w2, b2), gradient))


def adam_step(w, m, v, x, y):
    g = jax.grad(lambda w: ((x @ w - y) ** 2).mean())(w)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - 0.01 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8), m, v


def attention(q, k, v):
    s = jnp.einsum('bqd,bkd->bqk', q, k) / np.sqrt(q.shape[-1])
    s = jnp.where(jnp.tril(jnp.ones(s.shape[1:], bool)), s, -1e9)
    return jax.nn.softmax(s) @ v


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def lstm(x, w, u, b):
    def step(state, e):
        h, c = state
        i, f, g, o = jnp.split(e @ w + h @ u + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    start = jnp.zeros((x.shape[1], u.shape[0]))
    return lax.scan(step, (start, start), x)


def programs():
    """(name, function, arguments)"""
    x, y, m = normal(12), normal(12), normal(8, 6)
    i, j = integers(12), integers(7, 5)
    q, k, v = normal(2, 6, 4), normal(2, 6, 4), normal(2, 6, 4)
    w = (normal(5, 8), normal(8), normal(8, 3), normal(3))
    image, kernel = normal(2, 7, 6, 4), normal(3, 3, 4, 6)
    symmetric = (lambda a: a @ a.T + 6 * np.eye(5, dtype=np.float32))(normal(5, 5))
    yield 'add_multiply', lambda a, b: (a + b) * a - 3, (x, y)
    yield 'divide_by_constant', lambda a: a / 7.3, (x,)
    yield 'powers', lambda a: (a ** 2, a ** 3, a ** -1, a ** 0.5), (np.abs(x),)
    yield 'exp_log', lambda a: jnp.log(1 + jnp.exp(a)), (x,)
    yield 'integer_arithmetic', lambda a: (a // 7, a % 7, a * a, a >> 2, jnp.abs(a), -a), (i,)
    yield 'integer_bits', lambda a: (a & 12, a | 5, a ^ 9, ~a, lax.population_count(a), lax.clz(a)), (i,)
    yield 'unsigned_division', lambda a: (a // 8, a % 10), (integers(9).astype(np.uint32),)
    yield 'conversions', lambda a: (a.astype(jnp.int8), a.astype(jnp.bfloat16), a.astype(jnp.float16),
                                    a > 0), (x * 20,)
    yield 'bf16_chain', lambda a: (a * a + a).astype(jnp.bfloat16) * a, (x.astype(jnp.bfloat16),)
    yield 'f16_softmax', jax.nn.softmax, (normal(3, 5, dtype=np.float16),)
    yield 'complex', lambda a, b: (a * b, jnp.abs(a), jnp.exp(b), jnp.conj(a)), (x + 1j * y, y - 1j * x)
    yield 'reshape_transpose', lambda a: a.reshape(4, 12).T.reshape(6, 8)[::-1], (m,)
    yield 'slices_pads', lambda a: jnp.pad(a[1:7:2, ::-1], ((1, 2), (0, 1)), constant_values=3), (m,)
    yield 'concatenate_roll', lambda a, b: jnp.roll(jnp.concatenate([a, b * 2]), 3), (x, y)
    yield 'dynamic_slice', lambda a, n: (lax.dynamic_slice(a, (n, 2), (3, 3)),
                                         lax.dynamic_update_slice(a, a[:2, :2] * 2, (n, n))), (m, np.int32(2))
    yield 'gather', lambda a, n: a[n % 8, (n * 3) % 6], (m, i)
    yield 'gather_rows', lambda a, n: jnp.take(a, n, axis=0, mode='clip'), (m, i)
    yield 'scatter_add', lambda a, n: jnp.zeros(8, a.dtype).at[n % 8].add(a), (x, i)
    yield 'scatter_set', lambda a, n: jnp.zeros(20, a.dtype).at[n % 20].set(a), (
        np.arange(12, dtype=np.int32), np.arange(12, dtype=np.int32) * 7)
    yield 'segment_sum', lambda a, n: jax.ops.segment_sum(a, n % 5, 5), (x, i)
    yield 'sums', lambda a: (a.sum(), a.sum(0), a.mean(1), a.prod(1), a.max(), a.argmin(1)), (m,)
    yield 'integer_sums', lambda a: (a.sum(), a.sum(0), a.max(1), a.prod(0), a.argmax()), (j,)
    yield 'norms', lambda a: (jnp.linalg.norm(a), jnp.var(a, axis=0), jnp.std(a)), (m,)
    yield 'cumulative', lambda a: (jnp.cumsum(a), jnp.cumprod(a), lax.cummax(a), lax.cumlogsumexp(a)), (x,)
    yield 'cumulative_integers', lambda a: (jnp.cumsum(a, 0), lax.cummin(a, 1)), (j,)
    yield 'associative_scan', lambda a: lax.associative_scan(jnp.add, a), (i,)
    yield 'reduce_window', lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (2, 1), 'SAME'),
                                      lax.reduce_window(a, 0.0, lax.add, (3, 2), (1, 2), 'VALID')), (m,)
    yield 'max_pool_gradient', jax.grad(
        lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (2, 2), 'VALID') ** 2).sum()), (m,)
    yield 'sort', lambda a: (jnp.sort(a), jnp.argsort(a), jnp.sort(a, descending=True)), (x,)
    yield 'sort_integers', lambda a: (jnp.sort(a, axis=0), jnp.argsort(a, axis=1)), (j,)
    yield 'sort_two_keys', lambda a, b: lax.sort((a, b, b * 2), num_keys=2), (i % 3, x)
    yield 'top_k', lambda a: lax.top_k(a, 3), (m,)
    yield 'median_quantile', lambda a: (jnp.median(a), jnp.quantile(a, 0.3)), (x,)
    yield 'unique_searchsorted', lambda a: (jnp.unique(a, size=12), jnp.searchsorted(jnp.sort(a), a)), (i,)
    yield 'histogram', lambda a: jnp.histogram(a, bins=5, range=(-2, 2))[0], (x,)
    yield 'matmul', lambda a, b: a @ b.T, (m, normal(5, 6))
    yield 'matmul_integers', lambda a: a @ a.T, (j,)
    yield ('matmul_int8', lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32),
           (integers(3, 4, dtype=np.int8), integers(4, 2, dtype=np.int8)))
    yield 'matmul_bf16', lambda a: a @ a.T, (m.astype(jnp.bfloat16),)
    yield 'einsum', lambda a, b: jnp.einsum('bqd,bkd->qkb', a, b), (q, k)
    yield 'attention', attention, (q, k, v)
    yield 'attention_gradient', jax.grad(lambda *a: (attention(*a) ** 2).sum(), (0, 1, 2)), (q, k, v)
    yield 'layer_norm', layer_norm, (m,)
    yield 'layer_norm_gradient', jax.grad(lambda a: (layer_norm(a) ** 3).sum()), (m,)
    yield 'gelu_silu', lambda a: (jax.nn.gelu(a), jax.nn.silu(a), jax.nn.elu(a), jax.nn.softplus(a)), (x,)
    yield 'erf_functions', lambda a: (lax.erf(a), lax.erf_inv(a / 9), lax.lgamma(jnp.abs(a)),
                                      lax.digamma(jnp.abs(a))), (x,)
    yield 'trigonometric', lambda a: (jnp.sin(a), jnp.cos(a), jnp.tan(a), jnp.arctan2(a, 1 - a),
                                      jnp.sinh(a)), (x,)
    yield 'convolution', convolve, (image, kernel)
    yield 'convolution_strided', lambda a, b: convolve(a, b, (2, 1), 'VALID',
                                                       rhs_dilation=(1, 2)), (image, kernel)
    yield 'convolution_grouped', lambda a, b: convolve(a, b, groups=2), (image, normal(3, 3, 2, 6))
    yield 'convolution_transposed', lambda a, b: lax.conv_transpose(a, b, (2, 2), 'SAME'), (image, kernel)
    yield 'convolution_1d', lambda a, b: jnp.convolve(a, b, 'same'), (x, normal(5))
    yield 'convolution_gradient', jax.grad(lambda a, b: (convolve(a, b) ** 2).sum(), (0, 1)), (image, kernel)
    yield 'convolution_integers', lambda a, b: lax.conv(a, b, (1, 1),
                                                        'SAME'), (integers(1, 2, 5, 5), integers(3, 2, 2, 2))
    yield 'fft', lambda a: (jnp.fft.fft(a), jnp.fft.rfft(a.real)), (x + 1j * y,)
    yield 'fft_2d', lambda a: jnp.fft.irfft2(jnp.fft.rfft2(a)), (normal(4, 6),)
    yield 'cholesky_solve', lambda a, b: (jnp.linalg.cholesky(a),
                                          jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a), True), b)), \
        (symmetric, normal(5))
    yield 'triangular_solve', lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), (
        symmetric, normal(5, 2))
    yield 'solve_inverse_det', lambda a: (jnp.linalg.solve(a, a[0]), jnp.linalg.inv(a),
                                          jnp.linalg.det(a)), (symmetric,)
    yield 'random_uniform', lambda k: (jax.random.uniform(k, (5,)), jax.random.randint(k, (4,), 0, 99),
                                       jax.random.bernoulli(k, 0.3, (6,))), \
        (np.array([1, 2], np.uint32),)
    yield 'random_normal', lambda k: (jax.random.normal(k, (5,)),
                                      jax.random.gumbel(k, (3,))), (np.array([3, 4], np.uint32),)
    yield 'random_permutation', lambda k: (jax.random.permutation(k, 9),
                                           jax.random.split(k, 3)), (np.array([5, 6], np.uint32),)
    yield 'while_loop', lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 3 + s[0]),
                                                 (0, 1)), (np.int32(9),)
    yield 'fori_loop', lambda a: lax.fori_loop(0, 5, lambda n, s: jnp.tanh(s @ a[:6, :6]) + n,
                                               jnp.eye(6)), (m,)
    yield 'newton', lambda a: lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-5, lambda s: (s + a / s) / 2,
                                             a), (np.float32(3),)
    yield 'scan', lambda a: lax.scan(lambda c, e: (c * 0.5 + e, c), jnp.zeros(6), a), (m,)
    yield 'lstm', lstm, (normal(4, 2, 3), normal(3, 20), normal(5, 20), normal(20))
    yield 'cond', lambda n, a: lax.cond(n > 3, lambda s: s * 2, lambda s: jnp.sort(s), a), (np.int32(5), x)
    yield 'switch', lambda n, a: lax.switch(n, [lambda s: s + 1, lambda s: s[::-1], lambda s: s * s],
                                            a), (np.int32(1), i)
    yield 'map_vmap', lambda a: (lax.map(lambda r: r.sum() * r, a),
                                 jax.vmap(lambda r: jnp.dot(r, r))(a)), (m,)
    yield 'mlp', lambda *a: mlp(a[:4], a[4]), w + (normal(4, 5),)
    yield 'sgd_step', sgd_step, w + (normal(4, 5), normal(4, 3))
    yield 'adam_step', adam_step, (normal(5, 3), normal(5, 3), np.abs(normal(5, 3)), normal(4, 5),
                                   normal(4, 3))
    yield 'cross_entropy_step', jax.value_and_grad(
        lambda a, b, n: -jax.nn.log_softmax(b @ a)[jnp.arange(4), n].mean()), \
        (normal(5, 6), normal(4, 5), np.array([1, 3, 0, 5], np.int32))
    yield 'embedding_step', jax.grad(lambda t, n: (jnp.tanh(t[n]) ** 2).sum()), (
        m, np.array([1, 1, 3], np.int32))
    yield 'jvp_hessian', jax.hessian(lambda a: (jnp.sin(a) * a[::-1]).sum()), (normal(4),)
    yield 'rng_bit_generator', lambda k: lax.rng_bit_generator(
        k, (6,), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY), (np.array([1, 2, 3, 4], np.uint32),)
    yield 'tridiagonal_solve', lambda a, b, c, d: lax.linalg.tridiagonal_solve(a, b, c, d), (
        normal(5), normal(5) + 6, normal(5), normal(5, 1))
    yield 'constants', lambda a: a + np.arange(48, dtype=np.float32).reshape(8, 6) * np.eye(
        8, 6, dtype=np.float32), (m,)
    yield 'stages', lambda a: jax.checkpoint(lambda s: jnp.sin(jnp.sin(s)))(a) + lax.optimization_barrier(
        a), (x,)
    yield 'nan_and_zeros', lambda a: (jnp.nan_to_num(a / 0), jnp.where(a > 0, -0.0, a), jnp.sign(a * 0)), (x,)


class Assay:

    def __init__(self, binary):
        self.binary = binary

    def run(self, *arguments, codes=(0,)):
        done = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, timeout=300)
        if done.returncode not in codes:
            raise RuntimeError(f"assay {arguments[0]}: exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[:300]}")
        return done.stdout

    def difference(self, program, inputs, actual):
        """The report of diff: per output the elements, those outside and undecided, and the largest
        difference."""
        return json.loads(self.run('diff', program, '--inputs', inputs, '--actual', actual, '--profile',
                                   'xla-cpu', '--samples', '0', '--json',
                                   codes=(0, 1)))['outputs']

    def check_forms(self, program):
        """Verified, planned, audited; printed and read again it is the same."""
        for command in ('verify', 'plan'):
            self.run(command, program)
        self.run('audit', program, codes=(0, 1))
        text = self.run('print', program)
        for form, ending in (('hlo', '.printed.hlo'), ('pb', '.printed.pb')):
            path = str(program) + ending
            pathlib.Path(path).write_bytes(self.run('print', program, '--to', form))
            if self.run('print', path) != text:
                raise RuntimeError(f'print --to {form} is read as another module')


def write_pair(directory, name, lowered, arguments):
    compiled = lowered.compile()
    before, after, inputs, actual = (directory / (name + e)
                                     for e in ('.hlo', '.optimized.hlo', '.npz', '.xla.npz'))
    before.write_text(lowered.compiler_ir('hlo').as_hlo_text(print_large_constants=True))
    whole = _hlo.HloPrintOptions()
    whole.print_large_constants = True  # as --xla_dump_large_constants does
    after.write_text(compiled.runtime_executable().hlo_modules()[0].to_string(whole))
    np.savez(inputs, **{f'arg{n}': np.asarray(a) for n, a in enumerate(arguments)})
    np.savez(actual,
             **{f'out{n}': np.asarray(r) for n, r in enumerate(jax.tree.leaves(compiled(*arguments)))})
    return name, before, after, inputs, actual


def rows(options, directory):
    """Programs of the tables of jax_functions.py."""
    import lowered_programs
    for case in lowered_programs.all_cases(1)[::options.rows]:
        if not re.search(options.only, case.name):
            continue
        with jax.enable_x64(case.x64):
            try:
                lowered = lowered_programs.Lowered(case, 1)
                if not jax.tree.leaves(lowered.lowered.out_info):
                    continue
                pair = write_pair(directory, case.name, lowered.lowered, lowered.args)
            except Exception:  # what JAX or XLA:CPU refuses has no optimized module
                continue
        yield pair


def pairs(options, directory):
    """(name, program before, after, inputs, results of XLA:CPU)"""
    if options.rows:
        yield from rows(options, directory)
        return
    chosen = [p for n, p in enumerate(programs()) if n % options.every == 0]
    for name, function, arguments in chosen:
        if not re.search(options.only, name):
            continue
        lowered = jax.jit(function, keep_unused=True).lower(*arguments)
        yield write_pair(directory, name, lowered, arguments)
    for n, folder in enumerate(sorted(GOLDEN_PROGRAMS.iterdir())):
        if n % options.every or not re.search(options.only,
                                              folder.name) or not (folder / 'optimized.hlo').exists():
            continue
        after = directory / (folder.name + '.optimized.hlo')
        after.write_bytes((folder / 'optimized.hlo').read_bytes())
        yield folder.name, folder / 'program.hlo', after, folder / 'inputs.npz', folder / 'xla_cpu.npz'


def largest_difference(ours, theirs):
    """(share of elements that differ, largest relative difference), None where all bits are equal."""
    differing, elements, worst = 0, 0, 0.0
    with np.load(ours) as a, np.load(theirs) as b:
        for key in a.files:
            x, y = a[key], b[key]
            elements += x.size
            if x.tobytes() == y.tobytes():
                continue
            if x.dtype.kind not in 'fc':
                differing += int((x != y).sum())
                worst = np.inf if x.dtype.kind in 'iub' else worst
                continue
            unequal = ~((x == y) | (np.isnan(x) & np.isnan(y)))
            differing += int(unequal.sum())
            finite = np.isfinite(x) & np.isfinite(y)
            scale = max(float(np.max(np.abs(x[finite]), initial=0)), 1e-30)
            worst = max(worst, float(np.max(np.abs(x[finite] - y[finite]), initial=0)) / scale)
    return (differing, elements, worst) if differing else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--only', default='')
    parser.add_argument('--every', type=int, default=1, help='one program of so many')
    parser.add_argument('--rows', type=int, default=0, metavar='N')
    parser.add_argument('--undecided', action='store_true')
    parser.add_argument('--keep')
    options = parser.parse_args()
    assay = Assay(options.assay)
    count, equal, failures, undecided = 0, 0, [], [0, 0, 0]
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(options.keep or temporary)
        directory.mkdir(parents=True, exist_ok=True)
        for name, before, after, inputs, actual in pairs(options, directory):
            count += 1
            try:
                assay.check_forms(after)
                outputs = [directory / f'{name}.{n}.npz' for n in (0, 1)]
                for program, output in zip((before, after), outputs):
                    assay.run('run', program, '--inputs', inputs, '--output', output)
                found = largest_difference(*outputs)
                equal += found is None
                if found:
                    print(f'{name}: {found[0]} of {found[1]} elements differ, by {found[2]:.1e} of the largest at most')
                judged = [('the optimized module', outputs[1])]
                # of those programs jax_functions.py knows where XLA:CPU computes something else
                if not options.rows:
                    judged.append(('XLA:CPU', actual))
                for what, file in judged:
                    for key, report in assay.difference(before, inputs, file).items():
                        if 'error' in report or report['outside']:
                            failures.append(f"{name}: {key} of {what}: {report.get('error') or report['worst'][0]}")
                if options.undecided:
                    counts = [sum(r.get('undecided', 0) for r in assay.difference(p, inputs, actual).values())
                              for p in (before, after)]
                    elements = sum(r.get('elements', 0)
                                   for r in assay.difference(before, inputs, actual).values())
                    undecided = [a + b for a, b in zip(undecided, [elements] + counts)]
                    if any(counts):
                        print(f'{name}: {counts[0]} of {elements} elements undecided, {counts[1]} by the optimized module')
            except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
                failures.append(f'{name}: {error}')
    for failure in failures:
        print('FAILED', failure)
    print(f'{count} programs: {equal} give the same bits before and after optimization, {len(failures)} failures')
    if options.undecided:
        print(f'{undecided[0]} elements, {undecided[1]} undecided by the programs, {undecided[2]} by the optimized ones')
    return 1 if failures or not count else 0


if __name__ == '__main__':
    sys.exit(main())
