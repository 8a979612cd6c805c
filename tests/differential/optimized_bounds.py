#!/usr/bin/env python3
"""Counts the elements that `assay diff --profile xla-cpu` leaves undecided on JAX programs before and after
XLA:CPU's own passes.

Usage: optimized_bounds.py ASSAY_BINARY [--only REGEX] [--profile P] [--keep DIR]

A program is lowered, compiled and run by JAX on the CPU; its results are held against the bounds of the
StableHLO that was lowered and of the HLO text that XLA optimized. It fails where an element is outside, where
Assay refuses a program, and where an output has more undecided elements on the optimized program than before.
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
import numpy as np
from jax import lax

KEY = np.random.default_rng(5)


def normal(*shape):
    return KEY.standard_normal(shape).astype(np.float32)


def attention(mask_value, additive=False, dtype=jnp.float32):
    def run(q, k, v):
        s = jnp.einsum('qd,kd->qk', q, k).astype(dtype) / np.sqrt(q.shape[1]).astype(dtype)
        mask = jnp.tril(jnp.ones(s.shape, bool))
        value = jnp.asarray(mask_value, dtype)
        s = s + (1 - mask.astype(dtype)) * value if additive else jnp.where(mask, s, value)
        return jax.nn.softmax(s, axis=-1).astype(v.dtype) @ v
    return run


def padded_attention(q, k, v, lengths):
    s = jnp.einsum('qd,kd->qk', q, k)
    s = jnp.where(jnp.arange(s.shape[1]) < lengths, s, -jnp.inf)
    return jax.nn.softmax(s, axis=-1) @ v


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))


def cross_entropy(logits, labels):
    return -(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, logits.shape[-1])).sum(-1).mean()


def dropout(x, key):
    keep = jax.random.bernoulli(key, 0.8, x.shape)
    return jnp.where(keep, x / 0.8, 0.0), x * keep.astype(x.dtype)


def scanned(x):
    return lax.scan(lambda c, e: (jnp.tanh(c + e), c * e), jnp.zeros(x.shape[1:]), x)


def programs():
    x, y, m = normal(12), normal(12), normal(8, 8)
    q, k, v = normal(16, 8), normal(16, 8), normal(16, 8)
    labels, key = np.array([1, 3, 0, 7], np.int32), np.array([1, 2], np.uint32)
    minimum = float(np.finfo(np.float32).min)
    yield 'sort', jnp.sort, (jnp.tanh, x)
    yield 'sort_rows', lambda a: jnp.sort(a, axis=0), (jnp.tanh, m)
    yield 'sort_descending', lambda a: jnp.sort(a, descending=True), (jnp.tanh, x)
    yield 'sort_bf16', lambda a: jnp.sort(a.astype(jnp.bfloat16)), (jnp.tanh, x)
    yield 'sort_f16', lambda a: jnp.sort(a.astype(jnp.float16)), (jnp.tanh, x)
    yield 'argsort', jnp.argsort, (jnp.tanh, x)
    yield 'argsort_descending', lambda a: jnp.argsort(a, descending=True), (jnp.tanh, x)
    yield 'lexsort', lambda a, b: jnp.lexsort((a, b)), (jnp.tanh, x, y)
    yield 'sort_by_key', lambda a, b: lax.sort((a, b), num_keys=1), (jnp.tanh, x, y)
    yield 'sort_by_two_keys', lambda a, b: lax.sort((a, b), num_keys=2), (jnp.tanh, x, y)
    yield 'top_k', lambda a: lax.top_k(a, 3), (jnp.tanh, x)
    yield 'top_k_rows', lambda a: lax.top_k(a, 3), (jnp.tanh, m)
    yield 'top_k_bf16', lambda a: lax.top_k(a.astype(jnp.bfloat16), 3), (jnp.tanh, x)
    yield 'approx_max_k', lambda a: lax.approx_max_k(a, 3), (jnp.tanh, x)
    yield 'argmax', lambda a: jnp.argmax(a, axis=-1), (jnp.tanh, m)
    yield 'argmin', jnp.argmin, (jnp.tanh, x)
    yield 'max_min', lambda a: (a.max(-1), a.min(0)), (jnp.tanh, m)
    yield 'median', jnp.median, (jnp.tanh, x)
    yield 'quantile', lambda a: jnp.quantile(a, 0.3), (jnp.tanh, x)
    yield 'percentile_rows', lambda a: jnp.percentile(a, 70, axis=-1), (jnp.tanh, m)
    yield 'searchsorted', lambda a, b: jnp.searchsorted(jnp.sort(a), b), (jnp.tanh, x, y)
    yield 'unique', lambda a: jnp.unique(a, size=12), (jnp.tanh, x)
    yield 'histogram', lambda a: jnp.histogram(a, bins=4, range=(-1.1, 1.2))[0], (jnp.tanh, x)
    yield 'digitize', lambda a: jnp.digitize(a, np.linspace(-1, 1, 5, dtype=np.float32)), (jnp.tanh, x)
    yield 'categorical', lambda a: jax.random.categorical(jax.random.key(3), a), (jnp.tanh, m)
    yield 'gumbel_top', lambda a: lax.top_k(a + jax.random.gumbel(jax.random.key(3), a.shape),
                                            2), (jnp.tanh, m)
    yield 'permutation', lambda a: jax.random.permutation(jax.random.key(3), a), (jnp.tanh, x)
    yield 'scan', scanned, (None, m)
    yield 'cumsum', jnp.cumsum, (jnp.tanh, x)
    yield 'cumsum_rows', lambda a: jnp.cumsum(a, axis=1), (jnp.tanh, m)
    yield 'cummax', lambda a: lax.cummax(a), (jnp.tanh, x)
    yield 'cumlogsumexp', lambda a: lax.cumlogsumexp(a), (jnp.tanh, x)
    yield 'associative_scan', lambda a: lax.associative_scan(jnp.add, a), (jnp.tanh, x)
    yield 'convolution', convolution, (None, normal(1, 8, 8, 3), normal(3, 3, 3, 4))
    yield 'convolution_grad', jax.grad(lambda a, w: (convolution(a, w) ** 2).sum(), (0, 1)), \
        (None, normal(1, 6, 6, 2), normal(3, 3, 2, 3))
    yield 'max_pool', lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (2, 2),
                                                  'VALID'), (jnp.tanh, m)
    yield 'layer_norm', layer_norm, (None, m)
    yield 'layer_norm_grad', jax.grad(lambda a: (layer_norm(a) ** 3).sum()), (None, m)
    yield 'softmax', jax.nn.softmax, (None, m)
    yield 'log_softmax', jax.nn.log_softmax, (None, m)
    yield 'logsumexp', lambda a: jax.nn.logsumexp(a, axis=-1), (None, m)
    yield 'gelu', jax.nn.gelu, (None, 4 * x)
    yield 'gelu_exact', lambda a: jax.nn.gelu(a, approximate=False), (None, 4 * x)
    yield 'silu_grad', jax.grad(lambda a: jax.nn.silu(a).sum()), (None, 4 * x)
    yield 'relu_grad', jax.grad(lambda a: (jax.nn.relu(a) ** 2).sum()), (jnp.tanh, x)
    yield 'softplus', jax.nn.softplus, (None, 30 * x)
    yield 'sigmoid_far', lambda a: jax.nn.sigmoid(1e3 * a), (None, 5 * x)
    yield 'sigmoid_written_out', lambda a: 1 / (1 + jnp.exp(-1e3 * a)), (None, 5 * x)
    yield 'tanh_far', lambda a: jnp.tanh(1e6 * a), (None, 5 * x)
    yield 'erf_far', lambda a: jax.scipy.special.erf(1e6 * a), (None, 5 * x)
    yield 'where_masked', lambda a: jnp.where(a > 0.05, jnp.log(jnp.where(a > 0.05, a, 1)), 0), (jnp.tanh, x)
    yield 'gather', lambda a: a[jnp.array([3, 1, 1, 5])], (jnp.tanh, x)
    yield 'gather_grad', jax.grad(lambda a: (a[jnp.array([3, 1, 1, 5])] ** 2).sum()), (jnp.tanh, x)
    yield 'scatter', lambda a: jnp.zeros(6).at[jnp.array([3, 1, 1, 5])].add(a[:4]), (jnp.tanh, x)
    yield 'scatter_max', lambda a: jnp.zeros(6).at[jnp.array([3, 1, 1, 5])].max(a[:4]), (jnp.tanh, x)
    yield 'segment_sum', lambda a: jax.ops.segment_sum(a, jnp.arange(12) // 3, 4), (jnp.tanh, x)
    yield 'embedding_grad', jax.grad(lambda t: (jnp.tanh(t[jnp.array([1, 1, 3])]) ** 2).sum()), (None, m)
    yield 'one_hot_argmax', lambda a: jax.nn.one_hot(jnp.argmax(a, -1), 8) @ a, (jnp.tanh, m)
    yield 'cross_entropy', lambda a: cross_entropy(a[:4], labels), (None, m)
    yield 'cross_entropy_grad', jax.grad(lambda a: cross_entropy(a[:4], labels)), (None, m)
    yield 'dropout', lambda a: dropout(a, jax.random.key(3)), (jnp.tanh, m)
    yield 'dropout_key', dropout, (None, m, key)
    yield 'quantize', lambda a: jnp.clip(jnp.round(a * 20.3), -128, 127).astype(jnp.int8), (jnp.tanh, m)
    yield 'quantized_dot', lambda a, b: (jnp.round(a * 9.7).astype(jnp.int8).astype(jnp.int32) @
                                         jnp.round(b * 9.7).astype(jnp.int8).astype(jnp.int32)), (
                                             jnp.tanh, m, m.T)
    for name, value in (('min', minimum), ('1e9', -1e9), ('inf', -np.inf)):
        yield f'attention_{name}', attention(value), (None, q, k, v)
        yield f'attention_{name}_grad', jax.grad(lambda *a, f=attention(value): (f(*a) ** 2).sum(),
                                                 (0, 1, 2)), (None, q, k, v)
    yield 'attention_added_1e9', attention(-1e9, True), (None, q, k, v)
    yield 'attention_added_1e4', attention(-1e4, True), (None, q, k, v)
    yield 'attention_added_min', attention(minimum, True), (None, q, k, v)
    yield 'attention_added_grad', jax.grad(lambda *a: (attention(-1e9, True)(*a) ** 2).sum(),
                                           (0, 1, 2)), (None, q, k, v)
    yield 'attention_bf16_min', attention(float(jnp.finfo(jnp.bfloat16).min),
                                          dtype=jnp.bfloat16), (None, q, k, v)
    yield 'attention_f16_min', attention(float(np.finfo(np.float16).min), dtype=jnp.float16), (None, q, k, v)
    yield 'attention_f16_1e4', attention(-1e4, dtype=jnp.float16), (None, q, k, v)
    yield 'attention_padded', padded_attention, (None, q, k, v, np.int32(11))
    yield 'attention_padded_grad', jax.grad(lambda *a: (padded_attention(*a) ** 2).sum(), (0, 1, 2),
                                            allow_int=True), \
        (None, q, k, v, np.int32(11))
    yield 'attention_library', lambda a, b, c: jax.nn.dot_product_attention(
        a[None, :, None], b[None, :, None], c[None, :, None], is_causal=True), (None, q, k, v)
    yield 'attention_library_grad', jax.grad(lambda a, b, c: (jax.nn.dot_product_attention(
        a[None, :, None], b[None, :, None], c[None, :, None], is_causal=True) ** 2).sum(),
                                             (0, 1, 2)), (None, q, k, v)


def composed(function, first):
    """Programs whose operands are not exact: a function that rounds comes before."""
    return function if first is None else lambda a, *rest: function(first(a), *rest)


def undecided(options, path, inputs, actual):
    command = [options.assay, 'diff', path, '--inputs', inputs, '--actual', actual, '--profile',
               options.profile,
               '--samples', '0', '--json']
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=300)
    if done.returncode not in (0, 1):
        return None, f'exit code {done.returncode}: {done.stderr.strip()[:400]}'
    report = json.loads(done.stdout)
    problems = [f"{key}: {o.get('error') or o['worst'][0]}" for key, o in report['outputs'].items()
                if 'error' in o or o['outside']]
    return {key: (o.get('undecided'), o.get('elements'))
            for key, o in report['outputs'].items()}, '; '.join(problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--only', default='')
    parser.add_argument('--profile', default='xla-cpu')
    parser.add_argument('--keep')
    options = parser.parse_args()
    failures, count, totals = 0, 0, [0, 0, 0]
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(options.keep or temporary)
        directory.mkdir(parents=True, exist_ok=True)
        for name, function, (first, *arguments) in programs():
            if not re.search(options.only, name):
                continue
            lowered = jax.jit(composed(function, first), keep_unused=True).lower(*arguments)
            compiled = lowered.compile()
            results = jax.tree.leaves(compiled(*arguments))
            before, after, inputs, actual = (str(directory / (name + e))
                                             for e in ('.mlir', '.hlo', '_in.npz', '_xla.npz'))
            pathlib.Path(before).write_text(lowered.as_text())
            pathlib.Path(after).write_text(compiled.as_text())
            np.savez(inputs, **{f'arg{i}': np.asarray(a) for i, a in enumerate(arguments)})
            np.savez(actual, **{f'out{i}': np.asarray(r) for i, r in enumerate(results)
                                if r.dtype != jax.dtypes.float0})
            count += 1
            counts = []
            for path in (before, after):
                found, problem = undecided(options, path, inputs, actual)
                counts.append(found)
                if problem:
                    failures += 1
                    print(f'{name} {path[-5:]}: {problem}')
            if None in counts:
                continue
            for key, (some, all_) in counts[0].items():
                optimized = counts[1].get(key, (None, 0))[0]
                totals = [totals[0] + (all_ or 0), totals[1] + (some or 0), totals[2] + (optimized or 0)]
                if some or optimized:
                    print(f'{name} {key}: {some} of {all_} undecided, on the optimized program {optimized}')
                failures += (optimized or 0) > (some or 0)
    print(f'{count} programs, {totals[0]} elements, {totals[1]} undecided, {totals[2]} on the optimized programs, {failures} failures')
    return 1 if failures or not count else 0


if __name__ == '__main__':
    sys.exit(main())
