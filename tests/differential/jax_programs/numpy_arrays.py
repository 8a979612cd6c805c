"""jax.numpy: making, moving, indexing, sorting and sets of arrays."""

import jax.numpy as jnp

from jax_programs.numpy_math import NUMPY
from jax_programs.table import Table

add = NUMPY.add

# Shapes and moves.
NUMPY.each('array asarray copy atleast_1d atleast_2d atleast_3d ravel transpose squeeze flip', 'A[3,1,4]')
NUMPY.each('atleast_2d atleast_3d', 'A[5]')
NUMPY.each('matrix_transpose fliplr flipud', 'A[3,4]')
add('flip', 'A[3,4]', lambda f, a: f(a, 1))
NUMPY.each('transpose permute_dims', 'A[2,3,4]', call=lambda f, a: f(a, (1, 2, 0)))
add('squeeze', 'A[1,3,1]', lambda f, a: f(a, 0))
add('expand_dims', 'A[3,4]', lambda f, a: f(a, (0, 2)))
add('reshape', 'A[3,4]', lambda f, a: f(a, (2, -1)), lambda f, a: f(a, (4, 3), order='F'))
add('resize', 'A[3,4]', lambda f, a: f(a, (4, 5)))
add('broadcast_to', 'A[3,1]', lambda f, a: f(a, (2, 3, 4)))
add('broadcast_arrays', 'A[3,1] A[4]')
add('moveaxis', 'A[2,3,4]', lambda f, a: f(a, 0, -1))
add('swapaxes', 'A[2,3,4]', lambda f, a: f(a, 0, 2))
add('rollaxis', 'A[2,3,4]', lambda f, a: f(a, 2))
add('rot90', 'A[3,4]', lambda f, a: f(a), lambda f, a: f(a, 3))
add('roll', 'A[3,4]', lambda f, a: f(a, 2, axis=1), lambda f, a: f(a, 3), lambda f, a: f(a, (1, 2), (0, 1)))
add('roll', 'A[3,4] s32[]:wild', lambda f, a, n: f(a, n, axis=1))
add('tile', 'A[3,4]', lambda f, a: f(a, (2, 1)))
add('repeat', 'A[3,4]', lambda f, a: f(a, 2, axis=1))
add('repeat', 'A[4] s32[4]:index', lambda f, a, n: f(a, n, total_repeat_length=6))
for mode in ('constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect',
             'symmetric', 'wrap', 'empty'):
    add('pad', 'R[3,4]', lambda f, a, mode=mode: f(a, ((1, 2), (2, 0)), mode=mode))
add('pad', 'N[5]', lambda f, a: f(a, 3, mode='reflect', reflect_type='odd'),
    lambda f, a: f(a, (1, 2), constant_values=7))
for name in ('concatenate', 'concat', 'stack'):
    add(name, 'A[2,3] A[2,3]', lambda f, a, b: f([a, b], axis=1))
NUMPY.each('hstack vstack dstack column_stack', 'A[4] A[4]', call=lambda f, a, b: f((a, b)))
add('block', 'A[2,3] A[2,2]', lambda f, a, b: f([[a, b], [a, b]]))
add('append', 'A[2,3] A[2]', lambda f, a, b: f(a, b), transformed=True)
NUMPY.each('array_split split', 'A[6,4]', call=lambda f, a: f(a, 3))
add('array_split', 'A[7]', lambda f, a: f(a, 3))
add('split', 'A[7]', lambda f, a: f(a, [2, 3]))
NUMPY.each('hsplit vsplit', 'A[4,4]', call=lambda f, a: f(a, 2))
add('dsplit', 'A[2,2,4]', lambda f, a: f(a, 2))
add('unstack', 'A[3,2]', lambda f, a: f(a, axis=1))
NUMPY.each('tril triu', 'A[4,5]', call=lambda f, a: f(a, 1))
NUMPY.each('tril triu', 'A[4,5]', call=lambda f, a: f(a, -1))
NUMPY.each('diag diagflat', 'A[4]')
NUMPY.each('diag diagonal', 'A[4,5]')
add('diagonal', 'A[2,4,5]', lambda f, a: f(a, 1, 1, 2))
NUMPY.each('diag_indices_from', 'A[4,4]')
NUMPY.each('tril_indices_from triu_indices_from', 'A[4,5]')
add('fill_diagonal', 'A[4,4]', lambda f, a: f(a, 3, inplace=False))
add('insert', 'A[5]', lambda f, a: f(a, 2, 7), lambda f, a: f(a, jnp.array([1, 3]), 2))
add('delete', 'A[5]', lambda f, a: f(a, 2), lambda f, a: f(a, jnp.array([0, 3]), assume_unique_indices=True))
NUMPY.each('ones_like zeros_like empty_like', 'A[3,4]')
add('full_like', 'A[3,4]', lambda f, a: f(a, 3))
add('full', 'A[]', lambda f, a: f((3, 4), a))
NUMPY.each('meshgrid', 'A[3] A[4]')
add('meshgrid', 'A[3] A[4]', lambda f, a, b: f(a, b, indexing='ij', sparse=True))
NUMPY.each('ix_', 'I[3] I[4]')

# What takes no array becomes a program without parameters.
for name, call in {
        'arange': lambda f: (f(7), f(1, 9, 2), f(0.0, 2.0, 0.25)),
        'eye': lambda f: (f(3, 4, 1), f(3, dtype=jnp.int8)),
        'identity': lambda f: f(3), 'indices': lambda f: f((2, 3)), 'tri': lambda f: f(3, 4, 1),
        'zeros': lambda f: f((2, 3)), 'ones': lambda f: f((2, 3), jnp.bfloat16), 'empty': lambda f: f((2, 3)),
        'bartlett': lambda f: f(9), 'blackman': lambda f: f(9), 'hamming': lambda f: f(9),
        'hanning': lambda f: f(9),
        'tril_indices': lambda f: f(4), 'triu_indices': lambda f: f(4, 1), 'diag_indices': lambda f: f(4),
        'fromfunction': lambda f: f(lambda i, j: i * 2 + j, (3, 4))
}.items():
    add(name, '', call, transformed=False)
add('kaiser', 'F[]:pos', lambda f, beta: f(9, beta))
add('linspace', 'F[] F[]', lambda f, a, b: f(a, b, 7),
    lambda f, a, b: f(a, b, 6, endpoint=False, retstep=True))
add('linspace', 'F[3] F[3]', lambda f, a, b: f(a, b, 5, axis=1))
add('linspace', 's32[] s32[]', lambda f, a, b: f(a, b, 5, dtype=jnp.int32))
add('logspace', 'F[]:unit F[]:unit', lambda f, a, b: f(a, b, 5))
add('geomspace', 'F[]:pos F[]:pos', lambda f, a, b: f(a, b, 5))

# Indexing.
add('take', 'A[5,4] s32[3]:wild', lambda f, a, i: f(a, i, axis=0),
    lambda f, a, i: f(a, i, axis=1, mode='clip'),
    lambda f, a, i: f(a, i, axis=0, mode='wrap'), lambda f, a, i: f(a, i),
    lambda f, a, i: f(a, i, axis=0, fill_value=1))
add('take_along_axis', 'A[3,4] s32[3,2]:index', lambda f, a, i: f(a, i, axis=1),
    lambda f, a, i: f(a, i, 1, mode='fill'))
add('put', 'A[6] s32[3]:wild A[3]', lambda f, a, i, v: f(a, i, v, inplace=False),
    lambda f, a, i, v: f(a, i, v, mode='wrap', inplace=False))
add('put_along_axis', 'A[3,4] s32[3,1]:index A[3,1]', lambda f, a, i, v: f(a, i, v, axis=1, inplace=False))
add('place', 'A[6] B[6] A[3]', lambda f, a, m, v: f(a, m, v, inplace=False))
add('choose', 's32[4]:index A[4] A[4] A[4]', lambda f, i, *a: f(i, a, mode='clip'),
    lambda f, i, *a: f(i, a, mode='wrap'))
add('select', 'B[4] B[4] A[4] A[4]', lambda f, p, q, a, b: f([p, q], [a, b], default=2))
add('piecewise', 'R[8]', lambda f, a: f(a, [a < 0, a > 2], [lambda x: -x, lambda x: x * x, 1]))
NUMPY.each('compress', 'B[4] A[4,3]', call=lambda f, c, a: f(c, a, axis=0, size=3))
add('extract', 'B[6] A[6]', lambda f, c, a: f(c, a, size=4, fill_value=1))
add('ravel_multi_index', 's32[4]:index s32[4]:index', lambda f, i, j: f((i, j), (3, 4), mode='clip'))
add('unravel_index', 's32[5]:wild', lambda f, i: f(i, (3, 4)))
NUMPY.each('nonzero flatnonzero argwhere', 'A[3,4]', call=lambda f, a: f(a, size=5))
add('nonzero', 'A[8]', lambda f, a: f(a, size=10, fill_value=-1))
add('apply_along_axis', 'X[3,4]', lambda f, a: f(lambda x: x * x[0], 1, a))
add('apply_over_axes', 'N[2,3,4]', lambda f, a: f(jnp.sum, a, (0, 2)))
add('vectorize', 'X[3,4] X[4]', lambda f, a, b: f(lambda x, y: jnp.dot(x, y), signature='(n),(n)->()')(a, b))
add('frompyfunc', 'N[5] N[5]', lambda f, a, b: f(lambda x, y: x * y + 1, 2, 1)(a, b),
    lambda f, a, b: f(lambda x, y: x * y + 1, 2, 1, identity=1).reduce(a),
    lambda f, a, b: f(lambda x, y: x * y + 1, 2, 1).outer(a, b),
    lambda f, a, b: f(lambda x, y: x + y, 2, 1).accumulate(a))

# Sorting, sets, histograms.
NUMPY.each('sort argsort', 'A[30]*', 'A[3,6]')
NUMPY.each('sort argsort', 'N[3,6]:ties', call=lambda f, a: f(a, axis=0, descending=True))
add('argsort', 'R[9]:ties', lambda f, a: f(a, stable=False), lambda f, a: f(a, axis=None))
add('sort_complex', 'N[9]')
add('lexsort', 'N[6]:ties N[6]', lambda f, a, b: f((a, b)), lambda f, a, b: f((b, a)))
NUMPY.each('partition argpartition', 'N[3,7]', call=lambda f, a: f(a, 3))
add('unique', 'A[8]:ties', lambda f, a: f(a, size=6),
    lambda f, a: f(a, size=6, fill_value=0, return_index=True, return_inverse=True, return_counts=True))
add('unique', 'R[5,2]:ties', lambda f, a: f(a, axis=0, size=4))
NUMPY.each('unique_all unique_counts unique_inverse unique_values', 'A[8]:ties',
           call=lambda f, a: f(a, size=6))
NUMPY.each('union1d', 'R[6]:ties R[5]:ties', call=lambda f, a, b: f(a, b, size=8))
NUMPY.each('setdiff1d', 'R[6]:ties R[5]:ties', call=lambda f, a, b: f(a, b, size=6))
NUMPY.each('setxor1d intersect1d', 'R[6]:ties R[5]:ties', call=lambda f, a, b: f(a, b, size=6))
add('isin', 'A[3,4] A[5]', lambda f, a, b: f(a, b), lambda f, a, b: f(a, b, method='sort'),
    lambda f, a, b: f(a, b, method='binary_search', invert=True))
add('bincount', 'I[8]:count', lambda f, a: f(a, length=6))
add('bincount', 's32[8]:count F[8]', lambda f, a, w: f(a, w, length=6))
add('histogram', 'F[20]', lambda f, a: f(a, bins=5), lambda f, a: f(a, bins=4, range=(-1, 1), density=True))
add('histogram', 'F[20] F[20]:pos', lambda f, a, w: f(a, bins=5, weights=w))
add('histogram_bin_edges', 'F[20]', lambda f, a: f(a, bins=5))
add('histogram2d', 'F[20] F[20]', lambda f, a, b: f(a, b, bins=3))
add('histogramdd', 'F[20,2]', lambda f, a: f(a, bins=3))
add('packbits', 'B[3,12]', lambda f, a: f(a), lambda f, a: f(a, axis=0, bitorder='little'))
add('unpackbits', 'u8[3]:bits', lambda f, a: f(a), lambda f, a: f(a, count=13, bitorder='little'))

NUMPY.leave_out('asks about types, shapes or values outside a program',
                'array_repr array_str broadcast_shapes can_cast '
                'einsum_path get_printoptions iscomplexobj isdtype isrealobj isscalar issubdtype iterable ndim '
                'printoptions promote_types result_type set_printoptions shape size')
NUMPY.leave_out('has a result whose size depends on values', 'mask_indices trim_zeros')
NUMPY.leave_out('reads or writes files, buffers or text',
                'from_dlpack frombuffer fromfile fromiter fromstring load save '
                'savez')

# array.at[...]: the updates that indexing makes.
AT = Table('jax.numpy')
for method in ('set', 'add', 'multiply', 'min', 'max', 'divide', 'power', 'subtract'):
    if hasattr(jnp.zeros(1).at[0], method):
        AT.add(f'at.{method}', 'N[5,4] s32[3]:wild N[3,4]',
               lambda f, a, i, v, m=method: getattr(a.at[i], m)(v))
        AT.add(f'at.{method}', 'N[5,4] s32[3]:index N[]',
               lambda f, a, i, v, m=method: getattr(a.at[i, i], m)(v, mode='clip'))
        AT.add(f'at.{method}', 'R[6] R[2]:pos', lambda f, a, v, m=method: getattr(a.at[1:5:2], m)(v))
AT.add('at.get', 'A[5,4] s32[3]:wild', lambda f, a, i: a.at[i].get(mode='fill', fill_value=1),
       lambda f, a, i: a[i, i],
       lambda f, a, i: a[:, i][::-1], lambda f, a, i: a[..., None, 1:3],
       lambda f, a, i: a.at[i].get(mode='drop'), lambda f, a, i: a[i[0]])
AT.add('at.apply', 'F[5] s32[2]:index', lambda f, a, i: a.at[i].apply(jnp.sin))
AT.add('view', 'f32[4]', lambda f, a: a.view(jnp.int32), lambda f, a: a.view(jnp.int8), transformed=False)
AT.add('view', 's8[8]', lambda f, a: a.view(jnp.float32), lambda f, a: a.view(jnp.int4), transformed=False)
