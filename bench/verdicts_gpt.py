#!/usr/bin/env python3
"""Writes a GPT-like transformer's loss as program.hlo, and random inputs as inputs.npz, for verdicts.py.

Usage: verdicts_gpt.py DIRECTORY [--layers 12] [--width 768] [--heads 12] [--vocabulary 50257] [--tokens 64]

The defaults are GPT-2 small's, with 124 million parameters. It needs jax, and no accelerator.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np


def parameters(options, rng):
    width = options.width

    def matrix(*sizes):
        return (0.02 * rng.standard_normal(sizes)).astype(np.float32)

    layers = [{
        'qkv': matrix(width, 3 * width), 'out': matrix(width, width),
        'up': matrix(width, 4 * width), 'down': matrix(4 * width, width),
        'scales': np.ones((2, width), np.float32)
    } for _ in range(options.layers)]
    return {'tokens': matrix(options.vocabulary, width), 'positions': matrix(options.tokens, width),
            'layers': layers}


def normalized(x, scale):
    centered = x - x.mean(-1, keepdims=True)
    return scale * centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-5)


def attention(x, layer, heads):
    tokens, width = x.shape
    q, k, v = jnp.split((x @ layer['qkv']).reshape(tokens, 3 * heads, width // heads), 3, axis=1)
    scores = jnp.einsum('qhd,khd->hqk', q, k) / np.sqrt(width // heads)
    mask = jnp.tril(jnp.ones((tokens, tokens), bool))
    shares = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
    return jnp.einsum('hqk,khd->qhd', shares, v).reshape(tokens, width) @ layer['out']


def loss(weights, tokens, heads):
    x = weights['tokens'][tokens[:-1]] + weights['positions'][:tokens.shape[0] - 1]
    for layer in weights['layers']:
        x = x + attention(normalized(x, layer['scales'][0]), layer, heads)
        hidden = normalized(x, layer['scales'][1]) @ layer['up']
        x = x + jax.nn.gelu(hidden) @ layer['down']
    logits = normalized(x, 1.0) @ weights['tokens'].T
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[1:, None], 1).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('directory', type=pathlib.Path)
    for name, value in (('layers', 12), ('width', 768), ('heads', 12), ('vocabulary', 50257), ('tokens', 64)):
        parser.add_argument(f'--{name}', type=int, default=value)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    weights = parameters(options, rng)
    tokens = rng.integers(0, options.vocabulary, options.tokens).astype(np.int32)
    lowered = jax.jit(loss, static_argnums=2).lower(weights, tokens, options.heads)
    options.directory.mkdir(parents=True, exist_ok=True)
    (options.directory / 'program.hlo').write_text(lowered.compiler_ir('hlo').as_hlo_text())
    leaves = jax.tree_util.tree_leaves((weights, tokens))
    np.savez(options.directory / 'inputs.npz', **{f'arg{k}': leaf for k, leaf in enumerate(leaves)})


if __name__ == '__main__':
    main()
