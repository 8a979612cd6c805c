"""Small models of Flax whose batch, and length where there is one, is symbolic, for free_dimensions.py.

The weights are constants of the exported programs: PyTrees of numpy arrays with values that do not depend on
Flax's own generators.
"""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Perceptron(nn.Module):

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.5, deterministic=True)(x)
        return nn.log_softmax(nn.Dense(5)(nn.gelu(nn.LayerNorm()(x))))


class Convolutional(nn.Module):
    """Images of any size, with batch norm and pooling."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.BatchNorm(use_running_average=True)(nn.Conv(4, (3, 3))(x)))
        x = nn.avg_pool(x, (2, 2), (1, 1), 'SAME')
        x = nn.relu(nn.GroupNorm(num_groups=2)(nn.Conv(6, (3, 3), kernel_dilation=(2, 2))(x)))
        return nn.Dense(3)(nn.max_pool(x, (3, 3), (1, 1), 'SAME').mean((1, 2)))


class Transformer(nn.Module):
    """A block with causal attention over tokens."""

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(13, 8)(tokens) + nn.Embed(32, 8)(jnp.arange(tokens.shape[1]))
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(y, y, mask=nn.make_causal_mask(tokens))
        x = x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))
        return nn.Dense(13)(nn.LayerNorm()(x))


class Recurrent(nn.Module):
    """An LSTM, a GRU in reverse, and a plain cell, one behind the other."""

    @nn.compact
    def __call__(self, x):
        x = nn.RNN(nn.LSTMCell(6))(x)
        x = nn.RNN(nn.GRUCell(5), reverse=True, keep_order=True)(x)
        carry, x = nn.RNN(nn.SimpleCell(4), return_carry=True)(x)
        return carry, x


class Autoencoder(nn.Module):
    """The training form of batch norm: means and variances of the batch are computed, and its running
    averages are results."""

    @nn.compact
    def __call__(self, x):
        y = nn.elu(nn.BatchNorm(use_running_average=False)(nn.Dense(6)(x)))
        code = nn.Dense(2)(y)
        y = nn.elu(nn.BatchNorm(use_running_average=False)(nn.Dense(6)(code)))
        return code, jnp.mean((nn.Dense(7)(y) - x)**2)


def weights(path, leaf):
    name = jax.tree_util.keystr(path)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    values = rng.integers(-32, 33, leaf.shape) / 64
    if name.endswith("['var']"):
        values = abs(values) + 0.5
    return values.astype(leaf.dtype)


def function_of(model, example):
    variables = jax.eval_shape(model.init, jax.random.key(0), example)
    variables = jax.tree_util.tree_map_with_path(weights, variables)
    updated = [name for name in variables if name != 'params' and isinstance(model, Autoencoder)]

    def function(x):
        if updated:
            return model.apply(variables, x, mutable=updated)
        return model.apply(variables, x)
    return function


def flax_models():
    """(name, function, kinds of arguments), as free_functions.py has them."""
    rows = [('perceptron', Perceptron(), 'f b 6', jnp.zeros((2, 6))),
            ('convolutional', Convolutional(), 'f b t t 2', jnp.zeros((2, 5, 5, 2))),
            ('transformer', Transformer(), 'i b t', jnp.zeros((2, 3), jnp.int32)),
            ('recurrent', Recurrent(), 'f b t 3', jnp.zeros((2, 3, 3))),
            ('autoencoder', Autoencoder(), 'f b 7', jnp.zeros((2, 7)))]
    return [(f'flax_{name}', function_of(model, example), [kind]) for name, model, kind, example in rows]
