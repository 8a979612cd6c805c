"""jax.lax: the primitives, control flow, windows, indexing; what of jax.lax.linalg needs no custom call."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_programs.table import Table

LAX = Table('jax.lax')
add = LAX.add

# Elementwise.
LAX.each('abs neg sign', 'N[40]*')
LAX.each('acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log1p logistic rsqrt sin sinh sqrt tan tanh',
         'X[40]*')
LAX.each('square reciprocal', 'X[40]*')
LAX.each('bessel_i0e bessel_i1e cbrt ceil digamma erf erf_inv erfc floor is_finite lgamma round', 'F[40]*')
add('round', 'F[40]*', lambda f, a: f(a, lax.RoundingMethod.TO_NEAREST_EVEN))
add('erf_inv', 'F[20]:sym')
LAX.each('digamma lgamma', 'F[20]:large')
LAX.each('bitwise_not clz population_count', 'I[16]:bits')
LAX.each('conj imag real', 'C[40]*')
LAX.each('add sub mul div', 'N[60]* N[60]*')
LAX.each('max min eq ne', 'A[60]* A[60]*')
LAX.each('ge gt le lt', 'R[60]* R[60]*')
LAX.each('rem', 'R[60]* R[60]*')
add('pow', 'X[60]* X[60]*')
add('pow', 'N[20] s32[20]:wild')
add('atan2', 'X[60]* X[60]*')
add('nextafter', 'F[60]* F[60]*')
add('complex', 'f32[9] f32[9]', lambda f, a, b: f(a, b),
    lambda f, a, b: f(a.astype(jnp.float64), b.astype(jnp.float64)))
LAX.each('bitwise_and bitwise_or bitwise_xor', 'Z[16]:bits Z[16]:bits')
LAX.each('shift_left shift_right_arithmetic shift_right_logical', 'I[16]:bits I[16]:wild')
LAX.each('mulhi', 'I[16]:bits I[16]:bits')
LAX.each('igamma igammac', 'F[60]* F[60]*', 'F[20]:pos F[20]:pos')
LAX.each('igamma_grad_a random_gamma_grad', 'F[20]:pos F[20]:pos')
LAX.each('polygamma', 'F[12]:count F[12]:pos', 'F[40]* F[40]*')
LAX.each('zeta', 'F[12]:above1 F[12]:pos', 'F[40]* F[40]*')
add('betainc', 'F[20]:pos F[20]:pos F[20]:unit')
add('betainc', 'F[40]* F[40]* F[40]*')
for power in (0, 2, 3, -1, -3, 7):
    add('integer_pow', 'X[20]', lambda f, a, power=power: f(a, power))
add('integer_pow', 'I[9]', lambda f, a: f(a, 5))
add('clamp', 'R[] R[9] R[]')
add('clamp', 'R[30]* R[30]* R[30]*')
add('select', 'B[4] A[4] A[4]')
add('select_n', 's32[5]:index A[5] A[5] A[5]')
add('select_n', 'B[] A[3] A[3]')
add('reduce_precision', 'F[40]*', lambda f, a: f(a, 5, 3), lambda f, a: f(a, 8, 7), lambda f, a: f(a, 3, 0))
for target in ('int8', 'uint16', 'float16', 'bfloat16', 'float8_e5m2', 'complex64', 'bool'):
    add('convert_element_type', 'A[40]*', lambda f, a, target=target: f(a, jnp.dtype(target)),
        transformed=False)
add('bitcast_convert_type', 'f32[5]', lambda f, a: f(a, jnp.int32), lambda f, a: f(a, jnp.uint16),
    transformed=False)
add('bitcast_convert_type', 'u8[6,4]:bits', lambda f, a: f(a, jnp.uint32), transformed=False)
LAX.each('stop_gradient optimization_barrier stage', 'A[4]')
add('dce_sink', 'F[3]', lambda f, a: (f(a), a)[1], transformed=False)

# Reductions and cumulative operations.
LAX.each('reduce_max reduce_min reduce_sum reduce_prod', 'N[3,5]', call=lambda f, a: f(a, axes=(1,)))
LAX.each('reduce_and reduce_or reduce_xor', 'Z[3,5]:bits', call=lambda f, a: f(a, axes=(0,)))
add('reduce', 'N[3,5] N[]', lambda f, a, b: f(a, b, lax.add, (0,)),
    lambda f, a, b: f(a, b, lambda x, y: x * y + 1, (1,)))
add('reduce', 'R[3,5] s32[3,5]', lambda f, a, b: f((a, b), (jnp.zeros((), a.dtype), jnp.int32(0)),
    lambda x, y: (lax.max(x[0], y[0]), lax.add(x[1], y[1])), (1,)), transformed=False)
LAX.each('argmax argmin', 'R[4,6]:ties', call=lambda f, a: f(a, 1, jnp.int32))
LAX.each('cumsum cumprod cummax cummin', 'N[3,6]', call=lambda f, a: f(a, axis=1))
LAX.each('cumsum cumprod cummax cummin cumlogsumexp', 'F[9]', call=lambda f, a: f(a, reverse=True))
for kind in ('sum', 'max', 'min', 'prod'):
    operation, start = {'sum': (lax.add, 0), 'max': (lax.max, -np.inf), 'min': (lax.min, np.inf),
                        'prod': (lax.mul, 1)}[kind]
    add('reduce_window', 'F[6,7]', *[functools.partial(
        lambda f, a, operation, start, **settings: f(a, np.asarray(start, a.dtype), operation, **settings),
        operation=operation, start=start, **settings) for settings in (
            dict(window_dimensions=(2, 3), window_strides=(1, 2), padding='SAME'),
            dict(window_dimensions=(2, 2), window_strides=(2, 2), padding='VALID', window_dilation=(2, 1)))])
add('reduce_window', 'I[6]',
    lambda f, a: f(a, jnp.ones((), a.dtype), lambda x, y: x * 2 + y, (3,), (1,), 'SAME'))
add('associative_scan', 'X[7,2]', lambda f, a: f(jnp.add, a), lambda f, a: f(jnp.multiply, a, reverse=True))

# Shapes.
add('broadcast', 'A[3]', lambda f, a: f(a, (2,)))
add('broadcast_in_dim', 'A[3,1]', lambda f, a: f(a, (2, 3, 4), (1, 2)))
add('broadcast_like', 'A[] A[3,4]', lambda f, a, b: f(a, b))
add('broadcast_to_rank', 'A[3]', lambda f, a: f(a, 3))
add('broadcasted_iota', '', lambda f: (f(jnp.int32, (2, 3), 1), f(jnp.bfloat16, (3, 2), 0)),
    transformed=False)
add('iota', '', lambda f: (f(jnp.float32, 5), f(jnp.uint8, 3)), transformed=False)
add('collapse', 'A[2,3,4]', lambda f, a: f(a, 1, 3))
LAX.each('concatenate', 'A[2,3] A[2,4]', call=lambda f, a, b: f([a, b], 1))
add('stack', 'A[2,3] A[2,3]', lambda f, a, b: f([a, b], 1))
add('unstack', 'A[3,2]', lambda f, a: f(a, axis=1))
add('expand_dims', 'A[3]', lambda f, a: f(a, (0, 2)))
add('full', 'A[]', lambda f, a: f((2, 3), a))
add('full_like', 'A[3]', lambda f, a: f(a, 2), lambda f, a: f(a, 2, shape=(2,)))
add('empty', 'A[]', lambda f, a: f((2, 3), a.dtype) * 0, transformed=False)
add('pad', 'A[3,4] A[]', lambda f, a, b: f(a, b, ((1, 2, 0), (0, -1, 1))))
add('reshape', 'A[3,4]', lambda f, a: f(a, (2, 6)), lambda f, a: f(a, (12,), dimensions=(1, 0)))
add('rev', 'A[3,4]', lambda f, a: f(a, (0, 1)))
add('squeeze', 'A[1,3]', lambda f, a: f(a, (0,)))
add('split', 'A[5,4]', lambda f, a: f(a, (2, 3)))
add('tile', 'A[2,3]', lambda f, a: f(a, (2, 2)))
add('transpose', 'A[2,3,4]', lambda f, a: f(a, (2, 0, 1)))
add('slice', 'A[5,6]', lambda f, a: f(a, (1, 0), (4, 6), (2, 3)))
add('slice_in_dim', 'A[5,6]', lambda f, a: f(a, 1, 5, 2, axis=1))
add('dynamic_slice', 'A[5,6] s32[]:wild s32[]:wild', lambda f, a, i, j: f(a, (i, j), (2, 3)))
add('dynamic_slice_in_dim', 'A[5,6] s32[]:wild', lambda f, a, i: f(a, i, 3, 1))
add('dynamic_index_in_dim', 'A[5,6] s32[]:index', lambda f, a, i: f(a, i, 1),
    lambda f, a, i: f(a, i, keepdims=False))
add('index_in_dim', 'A[5,6]', lambda f, a: f(a, 2, 1))
add('index_take', 'A[5,6] s32[3]:index s32[3]:index', lambda f, a, i, j: f(a, (i, j), (0, 1)))
add('dynamic_update_slice', 'A[5,6] A[2,3] s32[]:wild s32[]:wild', lambda f, a, b, i, j: f(a, b, (i, j)))
add('dynamic_update_slice_in_dim', 'A[5] A[2] s32[]:wild', lambda f, a, b, i: f(a, b, i, 0))
add('dynamic_update_index_in_dim', 'A[5,3] A[3] s32[]:wild', lambda f, a, b, i: f(a, b, i, 0))

# Gather and scatter.
rows = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
pairs = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(1, 0))
for mode in ('clip', 'fill', 'promise_in_bounds'):
    domain = 'wild' if mode != 'promise_in_bounds' else 'index'
    add('gather', f'A[5,4] s32[3,1]:{domain}', lambda f, a, i, mode=mode: f(a, i, rows, (1, 4), mode=mode))
    add('gather', f'A[5,4] s32[3,2]:{domain}', lambda f, a, i, mode=mode: f(a, i, pairs, (2, 2), mode=mode)
        if mode != 'promise_in_bounds' else f(a, jnp.minimum(i, 2), pairs, (2, 2), mode=mode))
updated_rows = lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,),
                                           scatter_dims_to_operand_dims=(0,))
for mode in ('clip', 'drop'):
    LAX.each('scatter scatter_add scatter_sub scatter_mul scatter_min scatter_max',
             'N[5,4] s32[3,1]:wild N[3,4]',
             call=lambda f, a, i, v, mode=mode: f(a, i, v, updated_rows, mode=mode))
add('scatter_apply', 'F[5,4] s32[3,1]:index',
    lambda f, a, i: f(a, i, jnp.sin, updated_rows, update_shape=(3, 4)))

# Contractions and convolutions.
add('dot', 'A[3,5] A[5]')
add('dot', 'F[3,5] F[5,2]', lambda f, a, b: f(a, b, precision='highest'),
    lambda f, a, b: f(a, b, preferred_element_type=jnp.float32))
add('dot', 'f32[3,5] f32[5,2]',
    *[lambda f, a, b, how=how: f(a, b, precision=getattr(lax.DotAlgorithmPreset, how))
                                  for how in ('F32_F32_F32', 'BF16_BF16_F32', 'BF16_BF16_F32_X3',
                                              'TF32_TF32_F32')])
add('batch_matmul', 'X[2,3,4] X[2,4,3]')
add('dot_general', 'N[2,3,4] N[4,2,5]', lambda f, a, b: f(a, b, (((2,), (0,)), ((0,), (1,)))))
add('dot_general', 'bf16[3,4] f32[4,5]',
    lambda f, a, b: f(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32))
add('ragged_dot', 'F[7,3] F[2,3,4] s32[2]:order', lambda f, a, b, n: f(a, b, n))
add('ragged_dot_general', 'F[7,3] F[2,3,4] s32[2]:order',
    lambda f, a, b, n: f(a, b, n, lax.RaggedDotDimensionNumbers(
    dot_dimension_numbers=(((1,), (1,)), ((), ())), lhs_ragged_dimensions=[0], rhs_group_dimensions=[0])))
add('scaled_dot', 'f32[4,32] f32[32,4] f32[4,1]:pos f32[1,4]:pos', lambda f, a, b, s, t: f(
    a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e4m3fn), lhs_scale=s.astype(jnp.float8_e8m0fnu),
    rhs_scale=t.astype(jnp.float8_e8m0fnu), preferred_element_type=jnp.float32), transformed=False)
add('conv', 'N[1,2,6,5] N[3,2,3,2]', lambda f, a, b: f(a, b, (1, 2), 'SAME'))
add('conv_with_general_padding', 'F[1,2,6,5] F[3,2,3,2]',
    lambda f, a, b: f(a, b, (1, 1), ((1, 0), (2, -1)), (2, 1), (1, 2)))
add('conv_transpose', 'F[1,5,6,2] F[3,2,2,3]', lambda f, a, b: f(a, b, (2, 1), 'SAME'),
    lambda f, a, b: f(a, b, (2, 2), 'VALID', transpose_kernel=False))
add('conv_general_dilated', 'N[2,4,7] N[6,2,3]',
    lambda f, a, b: f(a, b, (2,), 'VALID', feature_group_count=2))
add('conv_general_dilated', 'F[4,2,7] F[6,2,3]', lambda f, a, b: f(a, b, (1,), 'SAME', batch_group_count=2))
add('conv_general_dilated', 'X[1,5,5,2] X[3,3,2,4]', lambda f, a, b: f(a, b, (1, 1), 'SAME', (2, 1), (1, 2),
    dimension_numbers=('NHWC', 'HWIO', 'NHWC')))
add('conv_general_dilated_local', 'F[1,2,4] F[3,4,3]', lambda f, a, b: f(a, b, (1,), 'VALID', (2,)))
add('conv_general_dilated_patches', 'F[1,2,5,5]', lambda f, a: f(a, (2, 3), (1, 2), 'SAME'))

# Sorting.
LAX.each('sort', 'A[30]*', 'A[3,5]:ties')
add('sort', 'R[6]:ties R[6]', lambda f, a, b: f((a, b), num_keys=2), lambda f, a, b: f((a, b), num_keys=1))
add('sort_key_val', 'N[6]:ties s32[6]')
add('top_k', 'R[3,7]', lambda f, a: f(a, 3), lambda f, a: f(a, 2, axis=0))
add('top_k', 'R[30]*', lambda f, a: f(a, 9))
LAX.each('approx_max_k approx_min_k', 'F[3,16]', call=lambda f, a: f(a, 3))
LAX.each('approx_max_k approx_min_k', 'F[3,16]',
         call=lambda f, a: f(a, 3, reduction_dimension=0 - 1, recall_target=0.8,
                                                                     aggregate_to_topk=False))

# Control flow.
add('cond', 'B[] X[3]', lambda f, p, a: f(p, lambda x: jnp.sin(x), lambda x: x * 2, a))
add('switch', 's32[]:wild X[3]', lambda f, i, a: f(i, [jnp.sin, jnp.cos, lambda x: x * x], a))
add('while_loop', 'X[3]', lambda f, a: f(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 2 + 1), (0, a))[1])
add('fori_loop', 'N[3]', lambda f, a: f(0, 5, lambda i, x: x * x.dtype.type(2) + i.astype(x.dtype), a))
add('fori_loop', 'N[3] s32[]:index', lambda f, a, n: f(0, n, lambda i, x: x + x, a))
add('scan', 'X[2] X[5,2]', lambda f, c, xs: f(lambda c, x: (c * x, c + x), c, xs),
    lambda f, c, xs: f(lambda c, x: (c - x, c), c, xs, reverse=True, unroll=2))
add('map', 'X[5,2]', lambda f, a: f(lambda x: x @ x, a), lambda f, a: f(lambda x: x.sum(), a, batch_size=2))
add('platform_dependent', 'F[3]', lambda f, a: f(a, cpu=jnp.sin, default=jnp.cos))
add('composite', 'F[3]', lambda f, a: f(lambda x: jnp.sin(x) + 1, name='my.op')(a))
add('custom_linear_solve', 'F[4]', lambda f, b: f(lambda x: 2 * x, b, lambda m, y: y / 2, lambda m, y: y / 2))
add('custom_root', 'F[]:pos', lambda f, a: f(lambda x: x * x - a, a, lambda g, x: lax.fori_loop(
    0, 6, lambda i, x: (x + a / x) / 2, x), lambda g, y: y / g(jnp.ones_like(y))))
add('create_token', 'F[3]', lambda f, a: (f(a), a)[1], transformed=False)
add('with_sharding_constraint', 'F[4]',
    lambda f, a: f(a, jax.sharding.SingleDeviceSharding(jax.devices('cpu')[0])))

# Random bits and Fourier transforms.
for algorithm, state in (('RNG_DEFAULT', 'u32[4]'), ('RNG_DEFAULT', 'u64[2]'), ('RNG_THREE_FRY', 'u32[4]'),
                         ('RNG_THREE_FRY', 'u64[2]'), ('RNG_PHILOX', 'u32[4]'), ('RNG_PHILOX', 'u64[3]')):
    for dtype in (jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64):
        add('rng_bit_generator', f'{state}:bits', lambda f, k, algorithm=algorithm, dtype=dtype: f(
            k, (3, 5), dtype, getattr(lax.RandomAlgorithm, algorithm)), transformed=False)
add('rng_uniform', 'f32[] f32[]:above1', lambda f, a, b: f(a, a + b, (3,)), transformed=False)
for kind, lengths, signature in (('FFT', (8,), 'C[3,8]'), ('IFFT', (6,), 'C[3,6]'), ('RFFT', (7,), 'F[3,7]'),
                                 ('IRFFT', (8,), 'C[3,5]'), ('FFT', (3, 5), 'C[3,5]'),
                                 ('IRFFT', (3, 4), 'C[3,3]')):
    add('fft', signature, lambda f, a, kind=kind, lengths=lengths: f(a, getattr(lax.FftType, kind), lengths))

for name, call in {
        'psum': lambda f, a: f(a, 'i'), 'pmax': lambda f, a: f(a, 'i'), 'pmin': lambda f, a: f(a, 'i'),
        'pmean': lambda f, a: f(a, 'i'), 'all_gather': lambda f, a: f(a, 'i'),
        'ppermute': lambda f, a: f(a, 'i', [(0, 1), (1, 2), (2, 0)]),
        'pshuffle': lambda f, a: f(a, 'i', [2, 0, 1]),
        'pswapaxes': lambda f, a: f(a, 'i', 0), 'all_to_all': lambda f, a: f(a, 'i', 0, 0),
        'psum_scatter': lambda f, a: f(a, 'i'), 'axis_index': lambda f, a: f('i') + a,
        'axis_size': lambda f, a: a * f('i')}.items():
    add(name, 'F[3,3]', lambda f, a, call=call: jax.vmap(lambda x: call(f, x), axis_name='i')(a))

LAX.leave_out('asks about types or shapes outside a program',
              'ConvGeneralDilatedDimensionNumbers DotDimensionNumbers '
              'PrecisionLike broadcast_shapes conv_dimension_numbers conv_general_permutations conv_general_shape_tuple '
              'conv_shape_tuple conv_transpose_shape_tuple dtype padtype_to_pads reduce_window_shape_tuple shape_as_value')
LAX.leave_out('fails under vmap in JAX itself', 'pbroadcast')
LAX.leave_out('needs several devices', 'after_all pcast precv psend ragged_all_to_all')

LINALG = Table('jax.lax.linalg')
LINALG.add('qdwh', 'F[3,3]')
LINALG.add('symmetric_product', 'F[3,2] F[3,3]')
LINALG.add('tridiagonal_solve', 'F[4] F[4]:above1 F[4] F[4,2]')
LINALG.add('triangular_solve', 'X[3,3]:definite X[3,2]', lambda f, a, b: f(a, b, left_side=True, lower=True))
LINALG.add('cholesky', 'X[3,3]:definite')
LINALG.add('cholesky_update', 'F[3,3]:definite F[3]')
LINALG.add('lu_pivots_to_permutation', 's32[3]:index', lambda f, p: f(p, 4))
LINALG.each('eigh hessenberg lu qr schur svd eig tridiagonal', 'X[3,3]:definite')
LINALG.add('householder_product', 'X[3,3] X[3]')
LINALG.add('ormqr', 'X[3,3] X[3] X[3,2]')
