#!/usr/bin/env python3
"""Writes a table of how much the bounds of `assay diff --profile xla-cpu` say of each program.

Usage: bounds_sharpness.py ASSAY_BINARY [--before OTHER_BINARY] [--only REGEX] [--output FILE]
                           [--keep DIR]

The programs are those of golden/programs with XLA:CPU's outputs, and small ones that JAX lowers and runs:
masked attention and its gradient, and loops with a small state. The table has, for each program, the share
of elements that are decided, the median bound in ulps and the median over its outputs of bound / largest
error; with --before the same of another binary. It fails where an element is outside. With --keep the
programs of JAX and their inputs stay in DIR, for `bounds_sampling.py --kept DIR`.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

os.environ['JAX_PLATFORMS'] = 'cpu'

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(11)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def attention_gradient(q, k, v, weights):
    return jax.grad(lambda *a: (attention(*a) * weights).sum(), argnums=(0, 1, 2))(q, k, v)


def scanned(step):
    return lambda state, xs, *weights: lax.scan(lambda s, x: step(s, x, *weights), state, xs)


def lstm(state, x, w):
    h, c = state
    i, f, g, o = jnp.split(w @ jnp.concatenate([h, x]), 4)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def tanh_network(h, x, w):
    h = jnp.tanh(w @ h + x)
    return h, h


def relu_network(h, x, w):
    h = jnp.maximum(w @ h + x, 0)
    return h, h.sum()


def pendulum(state, torque):
    angle, speed = state
    speed = speed + 0.05 * (torque - jnp.sin(angle) - 0.5 * speed)
    angle = angle + 0.05 * speed
    return (angle, speed), angle


def rotation(v, _, m):
    v = m @ v
    return v, v[0]


def power_iteration(v, _, m):
    w = m @ v
    return w * lax.rsqrt((w * w).sum()), (v * w).sum()


def kalman(state, z, f):
    x, p = state
    x, p = f @ x, f @ p @ f.T + 0.1 * jnp.eye(2, dtype=np.float32)
    k = p[:, 0] / (p[0, 0] + 1)
    return (x + k * (z - x[0]), p - jnp.outer(k, p[0])), x


def adam(state, _, a):
    x, m, v = state
    g = a @ x - 1
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return (x - 0.1 * m / (jnp.sqrt(v) + 1e-3), m, v), x


def newton(x):
    return lax.while_loop(lambda s: jnp.abs(s * s - x) > 1e-5 * x, lambda s: 0.5 * (s + x / s), x)


def clamped(h, x, w):
    h = jnp.where(x > 0, jnp.clip(w @ h + x, -1, 1), -h)
    return h, jnp.abs(h).max()


def programs():
    q, k, v = (normal(1, 16, 2, 8) for _ in range(3))
    yield 'masked_attention', attention, (q, k, v)
    yield 'masked_attention_gradient', attention_gradient, (q, k, v, normal(1, 16, 2, 8))
    yield 'loop_lstm', scanned(lstm), ((normal(8), normal(8)), normal(40, 6), normal(32, 14) / 4)
    yield 'loop_tanh', scanned(tanh_network), (normal(12), normal(60, 12), normal(12, 12) / 5)
    yield 'loop_relu', scanned(relu_network), (normal(10), normal(60, 10), normal(10, 10) / 5)
    yield 'loop_clamped', scanned(clamped), (normal(6), normal(60, 6), normal(6, 6) / 3)
    yield 'loop_pendulum', scanned(pendulum), ((np.float32(1), np.float32(0)), normal(400))
    turned = np.linalg.qr(RANDOM.standard_normal((6, 6)))[0].astype(np.float32)
    yield 'loop_rotation', scanned(rotation), (normal(6), np.zeros(200, np.float32), turned)
    s = normal(8, 8)
    yield 'loop_power_iteration', scanned(power_iteration), (normal(8), np.zeros(60, np.float32), s @ s.T / 8)
    f = np.float32([[1, 0.1], [-0.1, 0.95]])
    yield 'loop_kalman', scanned(kalman), ((normal(2), np.eye(2, dtype=np.float32)), normal(100), f)
    yield 'loop_adam', scanned(adam), (tuple(np.zeros(4, np.float32) for _ in range(3)),
                                       np.zeros(100, np.float32), np.diag(np.float32([1, 2, 3, 4])))
    yield 'loop_newton', newton, (np.float32(3),)


def lower(directory, name, function, arguments):
    """The program as HLO text, its inputs and XLA:CPU's outputs."""
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    results = jax.tree_util.tree_leaves(lowered.compile()(*arguments))
    paths = [os.path.join(directory, name + end) for end in ('.hlo', '_in.npz', '_xla.npz')]
    pathlib.Path(paths[0]).write_text(lowered.as_text(dialect='hlo'))
    leaves = jax.tree_util.tree_leaves(arguments)
    np.savez(paths[1], **{f'arg{k}': a for k, a in enumerate(leaves)})
    np.savez(paths[2], **{f'out{k}': np.asarray(a) for k, a in enumerate(results)})
    return paths


class Row:
    """What the bounds of one binary say of one program."""

    def __init__(self, assay, program, inputs, actual):
        command = [assay, 'diff', program, '--inputs', inputs, '--actual', actual, '--profile', 'xla-cpu',
                   '--samples', '0', '--json']
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode not in (0, 1):
            raise RuntimeError(f'{program}: exit code {done.returncode}: {done.stderr.strip()[:300]}')
        report = json.loads(done.stdout)
        outputs = report['outputs'].values()
        self.elements = sum(o['elements'] for o in outputs)
        self.undecided = sum(o['undecided'] for o in outputs)
        self.outside = sum(o['outside'] for o in outputs)
        ratios = [1 / o['largest_share'] for o in outputs if o.get('largest_share')]
        widths = [o['median_bound_ulps'] for o in outputs
                  if o.get('median_bound_ulps') is not None and o['undecided'] < o['elements'] / 2]
        self.ratio = statistics.median(ratios) if ratios else None
        self.width = statistics.median(widths) if widths else None
        named = report['undecided_from'] or report['reasons']
        self.first = f"{named[0]['op']} {named[0]['instruction']}" if named else ''

    def cells(self):
        def number(value):
            return '' if value is None else f'{value:.3g}'
        share = 100 * (self.elements - self.undecided) / max(self.elements, 1)
        return [f'{share:.4g}', number(self.width), number(self.ratio)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--before')
    parser.add_argument('--only', default='')
    parser.add_argument('--output')
    parser.add_argument('--keep')
    options = parser.parse_args()
    lines, outside = [], 0
    heads = ['program', 'elements']
    if options.before:
        heads += ['% decided before', 'bound in ulps', 'bound / error']
    heads += ['% decided', 'bound in ulps', 'bound / error', 'first undecided']
    lines += ['| ' + ' | '.join(heads) + ' |', '|' + '---|' * len(heads)]
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        found = [(d.name, [str(d / f) for f in ('program.hlo', 'inputs.npz', 'xla_cpu.npz')])
                 for d in sorted((ROOT / 'golden/programs').iterdir()) if d.is_dir()]
        found = [(name, paths) for name, paths in found if re.search(options.only, name)]
        found += [(name, lower(directory, name, function, arguments))
                  for name, function, arguments in programs() if re.search(options.only, name)]
        for name, paths in found:
            row = Row(options.assay, *paths)
            outside += row.outside
            if row.outside:
                print(f'{name}: {row.outside} of {row.elements} elements outside', file=sys.stderr)
            before = Row(options.before, *paths).cells() if options.before else []
            cells = [name, str(row.elements), *before, *row.cells(), row.first]
            lines.append('| ' + ' | '.join(cells) + ' |')
    text = '\n'.join(lines) + '\n'
    if options.output:
        pathlib.Path(options.output).write_text(text)
    else:
        print(text, end='')
    return 1 if outside else 0


if __name__ == '__main__':
    sys.exit(main())
