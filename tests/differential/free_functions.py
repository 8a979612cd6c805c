"""Functions of one or two arrays whose sizes are symbolic, for free_dimensions.py: name, function, kinds of
arguments.

A kind is the element type and the sizes, by names: 'f b t' is float32 of sizes b and t.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax import nn

UNARY = ['abs', 'negative', 'exp', 'log1p', 'sin', 'cos', 'tan', 'tanh', 'sinh', 'cosh', 'arctan', 'arcsinh',
         'sqrt',
         'square', 'sign', 'floor', 'ceil', 'round', 'isnan', 'isfinite', 'reciprocal', 'expm1', 'exp2',
         'cbrt', 'sinc', 'nan_to_num', 'signbit', 'positive', 'rint', 'trunc', 'deg2rad', 'i0']
BINARY = ['add', 'subtract', 'multiply', 'divide', 'maximum', 'minimum', 'arctan2', 'hypot', 'logaddexp',
          'fmod', 'remainder',
          'floor_divide', 'copysign', 'greater', 'less_equal', 'not_equal', 'heaviside', 'nextafter', 'power']
REDUCTIONS = ['sum', 'mean', 'max', 'min', 'prod', 'var', 'std', 'any', 'all', 'argmax', 'argmin',
              'count_nonzero', 'ptp', 'cumsum', 'cumprod', 'median', 'nanmax', 'nansum', 'nanmean']
ACTIVATIONS = ['relu', 'gelu', 'silu', 'sigmoid', 'softplus', 'elu', 'selu', 'celu', 'leaky_relu',
               'hard_tanh', 'log_sigmoid',
               'relu6', 'hard_swish', 'mish', 'glu', 'softmax', 'log_softmax', 'standardize', 'squareplus',
               'soft_sign']


def attention(x):
    scores = jnp.einsum('bti,bsi->bts', x, x) / jnp.sqrt(4.0)
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    return jnp.einsum('bts,bsi->bti', nn.softmax(jnp.where(mask, scores, -1e9)), x)


def scan_sum(x):
    return lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(x.shape[1]), x)


def loop_count(x):
    return lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros(x.shape[1]))


def while_size(x):
    return lax.while_loop(lambda s: s[0] < x.shape[0], lambda s: (s[0] + 2, s[1] + x.sum()),
                          (0, jnp.float32(0)))


SHAPES = [
    ('reshape', lambda x: x.reshape(-1), 'f b t'),
    ('reshape_columns', lambda x: x.reshape(x.shape[0] * x.shape[1], 1), 'f b t'),
    ('transpose', lambda x: x.T, 'f b t'),
    ('moveaxis', lambda x: jnp.moveaxis(x, 0, 2), 'f b t 3'),
    ('concatenate', lambda x: jnp.concatenate([x, x + 1], 0), 'f b t'),
    ('concatenate_columns', lambda x: jnp.concatenate([x, x[:, :1]], 1), 'f b t'),
    ('stack', lambda x: jnp.stack([x, -x]), 'f b t'),
    ('pad', lambda x: jnp.pad(x, ((1, 2), (0, 3))), 'f b t'),
    ('pad_by_size', lambda x: lax.pad(x, 0., ((0, x.shape[0], 0), (0, 0, 1))), 'f b t'),
    ('pad_edge', lambda x: jnp.pad(x, ((1, 1), (0, 0)), mode='edge'), 'f b t'),
    ('tile', lambda x: jnp.tile(x, (2, 3)), 'f b t'),
    ('repeat', lambda x: jnp.repeat(x, 3, axis=0), 'f b t'),
    ('flip', lambda x: jnp.flip(x, 0), 'f b t'),
    ('roll', lambda x: jnp.roll(x, 1, 1), 'f b t'),
    ('expand', lambda x: x[:, None, :], 'f b t'),
    ('squeeze', lambda x: jnp.squeeze(x, 1), 'f b 1 t'),
    ('broadcast_to', lambda x: jnp.broadcast_to(x, (4, *x.shape)), 'f b t'),
    ('broadcast_row', lambda x, y: x + y, 'f b t', 'f t'),
    ('broadcast_column', lambda x, y: x * y, 'f b t', 'f b 1'),
    ('outer', jnp.outer, 'f b', 'f t'),
    ('ones_like', jnp.ones_like, 'f b t'),
    ('zeros_of_sizes', lambda x: jnp.zeros((x.shape[1], x.shape[0])), 'f b t'),
    ('full_of_size', lambda x: jnp.full(x.shape, x.shape[0] * 2 + 1), 'f b t'),
    ('arange', lambda x: jnp.arange(x.shape[0]) * 2, 'f b'),
    ('arange_by_rows', lambda x: x + jnp.arange(x.shape[1]), 'f b t'),
    ('eye', lambda x: jnp.eye(x.shape[0]), 'f b'),
    ('tril', jnp.tril, 'f b t'),
    ('triu', lambda x: jnp.triu(x, 1), 'f b t'),
    ('slice', lambda x: x[:, 1:], 'f b t1'),
    ('slice_steps', lambda x: x[::2], 'f b t'),
    ('slice_half', lambda x: x[:x.shape[0] // 2], 'f b t'),
    ('slice_from_end', lambda x: x[-1:], 'f b t'),
    ('reverse_slice', lambda x: x[::-1], 'f b t'),
    ('index_last', lambda x: x[-1], 'f b t'),
    ('index_first', lambda x: x[:, 0], 'f b t'),
    ('take', lambda x: jnp.take(x, jnp.array([0, 0]), axis=0), 'f b t'),
    ('take_rows', lambda x, i: x[i % x.shape[0]], 'f b t', 'i t'),
    ('take_along', lambda x, i: jnp.take_along_axis(x, i % x.shape[1], 1), 'f b t', 'i b t'),
    ('set_row', lambda x: x.at[0].set(7.), 'f b t'),
    ('add_at', lambda x, i: x.at[i % x.shape[0]].add(1.), 'f b t', 'i t'),
    ('set_last', lambda x: x.at[-1].set(x[0]), 'f b t'),
    ('dynamic_slice', lambda x: lax.dynamic_slice_in_dim(x, 0, 1), 'f b t'),
    ('dynamic_slice_by_size', lambda x: lax.dynamic_slice_in_dim(x, 1, x.shape[0] // 2), 'f b t'),
    ('dynamic_update', lambda x: lax.dynamic_update_slice_in_dim(x, x[:1] + 1, 0, 0), 'f b t'),
    ('diag', jnp.diag, 'f b'),
    ('trace', jnp.trace, 'f b t'),
    ('meshgrid', lambda x, y: jnp.meshgrid(x, y), 'f b', 'f t'),
    ('split', lambda x: jnp.split(x, 2, axis=1), 'f b 4'),
    ('sort', lambda x: jnp.sort(x, 1), 'f b t'),
    ('sort_rows', lambda x: jnp.sort(x, 0), 'f b t'),
    ('argsort', lambda x: jnp.argsort(x, 0), 'f b t'),
    ('lexsort', lambda x, y: jnp.lexsort((x, y)), 'f b', 'f b'),
    ('top_k', lambda x: lax.top_k(x, 1), 'f b t'),
    ('top_k_of_size', lambda x: lax.top_k(x, x.shape[1]), 'f b t'),
    ('where', lambda x: jnp.where(x > 0, x, 0), 'f b t'),
    ('select_rows', lambda x: jnp.where((jnp.arange(x.shape[0]) % 2 == 0)[:, None], x, -x), 'f b t'),
    ('clip', lambda x: jnp.clip(x, -1, 1), 'f b t'),
    ('diff', lambda x: jnp.diff(x, axis=1), 'f b t'),
    ('convert', lambda x: x.astype(jnp.int32), 'f b t'),
    ('bitcast', lambda x: lax.bitcast_convert_type(x, jnp.uint8), 'f b t'),
    ('one_hot', lambda x: nn.one_hot(x % 5, 5), 'i b t'),
    ('one_hot_of_size', lambda x: nn.one_hot(x % x.shape[0], x.shape[0]), 'i b'),
    ('bincount', lambda x: jnp.bincount(x % 4, length=4), 'i b'),
    ('size_as_value', lambda x: x.sum() / x.shape[0], 'f b t'),
    ('size_arithmetic', lambda x: jnp.int32(x.shape[0] * x.shape[1] // 3 % 5 - x.shape[0]), 'f b t'),
    ('size_max', lambda x: jnp.zeros(jax.core.max_dim(x.shape[0], 3)), 'f b'),
    ('vander', lambda x: jnp.vander(x, 3), 'f b'),
    ('unravel', lambda x: jnp.ravel(x)[:1], 'f b t'),
    ('atleast', lambda x: jnp.atleast_3d(x), 'f b t'),
    ('swapaxes', lambda x: jnp.swapaxes(x, 0, 1) + 0, 'f b t 2'),
    ('rot90', jnp.rot90, 'f b t'),
]
LINEAR = [
    ('matmul', lambda x, y: x @ y, 'f b t', 'f t 3'),
    ('matmul_square', lambda x: x @ x.T, 'f b t'),
    ('matvec', lambda x, y: x @ y, 'f b t', 'f t'),
    ('vecmat', lambda x, y: x @ y, 'f b', 'f b t'),
    ('dot', jnp.dot, 'f b', 'f b'),
    ('vdot', jnp.vdot, 'f b t', 'f b t'),
    ('batched', lambda x, y: jnp.matmul(x, y), 'f b 2 t', 'f b t 3'),
    ('einsum', lambda x, y: jnp.einsum('bi,ij->bj', x, y), 'f b t', 'f t 3'),
    ('einsum_trace', lambda x: jnp.einsum('bii->b', x), 'f b 3 3'),
    ('tensordot', lambda x, y: jnp.tensordot(x, y, 2), 'f b t', 'f b t'),
    ('norm', lambda x: jnp.linalg.norm(x, axis=1), 'f b t'),
    ('cross', jnp.cross, 'f b 3', 'f b 3'),
    ('kron', jnp.kron, 'f b', 'f t'),
    ('ragged_dot',
     lambda x, y: lax.ragged_dot(x, y, jnp.array([x.shape[0] // 2, x.shape[0] - x.shape[0] // 2])),
     'f t 3', 'f 2 3 4'),
    ('conv', lambda x: lax.conv_general_dilated(x, jnp.ones((2, 3, 3)), (1,), 'SAME'), 'f b 3 t'),
    ('conv_valid', lambda x: lax.conv_general_dilated(x, jnp.ones((2, 3, 2)), (2,), 'VALID'), 'f b 3 t2'),
    ('conv_2d', lambda x: lax.conv_general_dilated(x, jnp.ones((2, 1, 3, 3)), (1, 2), 'SAME'), 'f b 1 t t'),
    ('conv_dilated',
     lambda x: lax.conv_general_dilated(x, jnp.ones((2, 3, 2)), (1,), [(2, 1)], lhs_dilation=(2,),
                                                        rhs_dilation=(2,)), 'f b 3 t'),
    ('max_pool', lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 1), 'SAME'), 'f b t'),
    ('sum_pool', lambda x: lax.reduce_window(x, 0., lax.add, (1, 2), (1, 2), 'VALID'), 'f b t2'),
    ('cummax', lambda x: lax.cummax(x, 1), 'f b t'),
    ('cummin_reverse', lambda x: lax.cummin(x, 0, reverse=True), 'f b t'),
    ('cumlogsumexp', lambda x: lax.cumlogsumexp(x, 0), 'f b t'),
    ('logsumexp', lambda x: jax.scipy.special.logsumexp(x, axis=1), 'f b t'),
    ('erf', lax.erf, 'f b t'),
    ('erf_inv', lambda x: lax.erf_inv(jnp.tanh(x)), 'f b t'),
    ('lgamma', lambda x: lax.lgamma(jnp.abs(x)), 'f b t'),
    ('digamma', lambda x: lax.digamma(jnp.abs(x) + 1), 'f b t'),
    ('rsqrt', lambda x: lax.rsqrt(jnp.abs(x) + 1), 'f b t'),
    ('population', lambda x: lax.population_count(x), 'i b t'),
    ('shift', lambda x: x << 1 | x >> 1, 'i b t'),
    ('integer_pow', lambda x: x**3, 'f b t'),
    ('reduce_precision', lambda x: lax.reduce_precision(x, 5, 3), 'f b t'),
    ('associative_scan', lambda x: lax.associative_scan(jnp.add, x), 'f 4 t'),
    ('sort_pairs', lambda x, i: lax.sort((x, i), num_keys=1), 'f b t', 'i b t'),
    ('scan', scan_sum, 'f b t'),
    ('fori_loop', loop_count, 'f b t'),
    ('while_loop', while_size, 'f b t'),
    ('cond', lambda x: lax.cond(x.sum() > 0, lambda y: y + 1, lambda y: y * 2, x), 'f b t'),
    ('switch', lambda x: lax.switch(x.shape[0] % 3, [jnp.sin, jnp.cos, jnp.tanh], x), 'f b t'),
    ('map', lambda x: lax.map(lambda r: r.sum(), x), 'f b t'),
    ('vmap', jax.vmap(lambda r: r / r.max()), 'f b t'),
    ('grad', jax.grad(lambda x: (jnp.sin(x) * x.shape[0]).sum()), 'f b t'),
    ('grad_softmax', jax.grad(lambda x: (nn.softmax(x)[:, 0]).sum()), 'f b t'),
    ('attention', attention, 'f b t 4'),
    ('normalize', lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5),
     'f b t'),
    ('random', lambda x: jax.random.uniform(jax.random.key(1), x.shape), 'f b t'),
    ('random_normal', lambda x: jax.random.normal(jax.random.key(2), (x.shape[0], 2)), 'f b'),
    ('random_bits', lambda x: jax.random.bits(jax.random.key(3), x.shape), 'f b t'),
    ('rng_bits', lambda x: lax.rng_bit_generator(jnp.zeros(4, jnp.uint32), x.shape), 'f b t'),
    ('approx_max_k', lambda x: lax.approx_max_k(x, 1), 'f b t'),
    ('complex', lambda x: jnp.abs(lax.complex(x, -x)), 'f b t'),
    ('fft', lambda x: jnp.abs(jnp.fft.fft(x)), 'f b 4'),
    ('int8_sum', lambda x: x.astype(jnp.int8).sum(1, dtype=jnp.int32), 'f b t'),
    ('bf16', lambda x: (x.astype(jnp.bfloat16) * 3).sum(0), 'f b t'),
    ('segment_sum', lambda x, i: jax.ops.segment_sum(x, i % 3, 3), 'f b t', 'i b'),
    ('multiply_sizes', lambda x: x * (x.shape[0] + x.shape[1]), 'f b t'),
    ('checkpoint', jax.checkpoint(lambda x: jnp.sin(x).sum(0)), 'f b t'),
    ('nested_jit', lambda x: jax.jit(jnp.cumsum)(jax.jit(jnp.ravel)(x)), 'f b t'),
    ('two_shapes', lambda x: jax.jit(jnp.tanh)(x).sum() + jax.jit(jnp.tanh)(x.T[:1]).sum(), 'f b t'),
]


# Five small models, written as Flax layers compute.
def weights(*sizes):
    return jnp.sin(jnp.arange(1, 1 + _product(sizes), dtype=jnp.float32)).reshape(sizes) / 4


def _product(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


def dense(x, features):
    return x @ weights(x.shape[-1], features) + weights(features)


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean)**2).mean(-1, keepdims=True) + 1e-6)


def perceptron(x):
    return nn.log_softmax(dense(nn.relu(dense(nn.relu(dense(x, 8)), 8)), 3))


def convolutional(x):
    y = nn.relu(lax.conv_general_dilated(x, weights(3, 3, 2, 4), (1, 1), 'SAME',
                                         dimension_numbers=('NHWC', 'HWIO', 'NHWC')))
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), 'SAME')
    return dense(y.mean((1, 2)), 5)


def recurrent(x):
    def cell(h, row):
        z = nn.sigmoid(dense(jnp.concatenate([h, row], -1), 4))
        return (1 - z) * h + z * jnp.tanh(dense(row, 4)), h
    return lax.scan(cell, jnp.zeros((x.shape[0], 4)), jnp.swapaxes(x, 0, 1))


def transformer(tokens):
    x = weights(11, 8)[tokens % 11] + jnp.sin(jnp.arange(tokens.shape[1], dtype=jnp.float32))[:, None]
    for _ in range(2):
        q, k, v = (dense(layer_norm(x), 8).reshape(*x.shape[:2], 2, 4) for _ in range(3))
        scores = jnp.einsum('bthd,bshd->bhts', q, k) / 2
        mask = jnp.arange(x.shape[1])[:, None] >= jnp.arange(x.shape[1])
        x = x + jnp.einsum('bhts,bshd->bthd', nn.softmax(jnp.where(mask, scores, -1e9)), v).reshape(x.shape)
        x = x + dense(nn.gelu(dense(layer_norm(x), 16)), 8)
    return dense(layer_norm(x), 11)


def autoencoder(x):
    code = nn.elu(dense(x, 2))
    return jnp.mean((dense(nn.elu(dense(code, 6)), x.shape[-1]) - x)**2), code


MODELS = [('perceptron', perceptron, 'f b 6'), ('convolutional', convolutional, 'f b t t 2'),
          ('recurrent', recurrent, 'f b t 3'), ('transformer', transformer, 'i b t'),
          ('autoencoder', autoencoder, 'f b 7')]


def all_functions():
    """(name, function, kinds), the most telling first."""
    rows = [(f'model_{name}', f, kinds) for name, f, *kinds in MODELS]
    rows += [(name, f, kinds) for name, f, *kinds in SHAPES + LINEAR]
    for name in UNARY:
        rows.append((f'jnp_{name}', getattr(jnp, name), ['f b t']))
    for name in BINARY:
        rows.append((f'jnp_{name}', getattr(jnp, name), ['f b t', 'f b t']))
    for name in REDUCTIONS:
        rows.append((f'jnp_{name}', lambda x, f=getattr(jnp, name): f(x, axis=1), ['f b t']))
    for name in ACTIVATIONS:
        kinds = ['f b 4'] if name == 'glu' else ['f b t']
        rows.append((f'nn_{name}', getattr(nn, name), kinds))
    return rows
