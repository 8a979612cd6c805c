"""jax.numpy: arithmetic, functions of numbers, comparisons, reductions,
linear algebra without decompositions."""

import jax
import jax.numpy as jnp

from jax_programs.table import Table

NUMPY = Table('jax.numpy')
add = NUMPY.add

NUMPY.each('abs absolute conj conjugate exp imag isfinite isinf isnan iscomplex isreal negative positive real reciprocal '
           'sign sqrt square nan_to_num sin cos tan', 'A[40]*')
NUMPY.each('acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cosh exp2 expm1 log log10 '
           'log1p log2 sinh tanh sinc angle', 'N[40]*')
NUMPY.each('cbrt ceil deg2rad degrees fabs floor i0 isneginf isposinf rad2deg radians rint signbit spacing trunc',
           'R[40]*')
NUMPY.each('acosh arccosh', 'X[12]:above1')
NUMPY.each('acos asin arctanh atanh', 'X[12]:sym')
NUMPY.each('logical_not', 'A[9]')
NUMPY.each('bitwise_count bitwise_invert bitwise_not invert', 'Z[16]:bits')
NUMPY.each('fix' if hasattr(jnp, 'fix') else 'trunc', 'F[12]:large')
add('frexp', 'F[40]*')
add('modf', 'F[40]*')
add('round', 'R[40]*', lambda f, a: f(a), lambda f, a: f(a, 2), lambda f, a: f(a, -1))
add('around', 'N[12]:large', lambda f, a: f(a, 1))

NUMPY.each('add divide equal greater greater_equal less less_equal logical_and logical_or logical_xor maximum minimum '
           'multiply not_equal power subtract true_divide', 'A[60]* A[60]*', 'A[3,1] A[4]')
NUMPY.each('pow float_power', 'N[60]* N[60]*', 'F[4]:pos s32[3,1]:wild')
NUMPY.each('arctan2 atan2 copysign divmod floor_divide fmax fmin fmod heaviside hypot logaddexp2 mod nextafter '
           'remainder', 'R[60]* R[60]*', 'R[3,1] R[4]:nonzero')
NUMPY.each('logaddexp', 'X[60]* X[60]*', 'X[3,1] X[4]')
NUMPY.each('bitwise_and bitwise_or bitwise_xor', 'Z[16]:bits Z[16]:bits')
NUMPY.each('bitwise_left_shift bitwise_right_shift left_shift right_shift', 'I[16]:bits I[16]:count',
           'I[16]:bits I[16]:bits')
NUMPY.each('gcd lcm', 'I[16] I[16]', 'I[16]:bits I[16]:count')
add('ldexp', 'F[40]* s32[40]:wild')
add('clip', 'R[30]* R[] R[]')
add('clip', 'R[4,5]', lambda f, a: f(a, -1, 2), lambda f, a: f(a, max=1))
add('where', 'B[3,4] A[3,4] A[4]')
add('where', 'R[5]', lambda f, a: f(a > 0, size=4, fill_value=-1))
NUMPY.each('isclose', 'R[40]* R[40]*')
NUMPY.each('allclose array_equal array_equiv', 'R[6]:ties R[6]:ties')
add('array_equal', 'F[6]* F[6]*', lambda f, a, b: f(a, b, equal_nan=True))

# Reductions.
NUMPY.each('sum prod mean any all amax amin max min std var nansum nanprod nanmean nanmax nanmin nanstd nanvar '
           'count_nonzero ptp median nanmedian argmax argmin nanargmax nanargmin', 'A[4,6]',
           call=lambda f, a: f(a, axis=1))
NUMPY.each('sum prod mean max min nansum nanmean nanmax argmax median', 'R[30]*', call=lambda f, a: f(a))
NUMPY.each('sum prod mean max min std var', 'X[3,4,5]', call=lambda f, a: f(a, axis=(0, 2), keepdims=True))
NUMPY.each('sum prod max min', 'R[4,5] B[4,5]', call=lambda f, a, m: f(a, axis=0, where=m, initial=1))
NUMPY.each('mean std var', 'F[4,5] B[4,5]', call=lambda f, a, m: f(a, where=m))
add('sum', 'N[4,5]', lambda f, a: f(a, dtype=jnp.float32), lambda f, a: f(a, axis=-1, promote_integers=False))
add('var', 'X[7]', lambda f, a: f(a, ddof=1))
NUMPY.each('cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod', 'A[3,5]',
           call=lambda f, a: f(a, axis=1))
NUMPY.each('cumsum cumprod', 'R[20]*')
add('cumulative_sum', 'N[6]', lambda f, a: f(a, include_initial=True))
NUMPY.each('percentile nanpercentile', 'F[4,7] F[2]:unit', call=lambda f, a, q: f(a, 100 * q, axis=1))
NUMPY.each('quantile nanquantile', 'F[4,7] F[2]:unit', call=lambda f, a, q: f(a, q, axis=1))
for method in ('lower', 'higher', 'midpoint', 'nearest'):
    add('quantile', 'F[9] F[3]:unit', lambda f, a, q, method=method: f(a, q, method=method))
add('average', 'F[3,5]', lambda f, a: f(a, axis=1))
add('average', 'F[3,5] F[5]:pos', lambda f, a, w: f(a, axis=1, weights=w, returned=True))
NUMPY.each('corrcoef cov', 'X[3,6]')
add('cov', 'F[3,6] s32[6]:order F[6]:pos', lambda f, a, w, v: f(a, fweights=w, aweights=v, ddof=0))

# Products and contractions.
NUMPY.each('dot inner vdot', 'A[5] A[5]')
NUMPY.each('dot matmul', 'A[3,5] A[5,4]', 'F[60] F[60]')
NUMPY.each('matmul', 'X[2,3,5] X[2,5,2]')
add('matmul', 's8[3,5] s8[5,4]', lambda f, a, b: f(a, b, preferred_element_type=jnp.int32))
add('matmul', 'bf16[3,5] bf16[5,4]', lambda f, a, b: f(a, b, preferred_element_type=jnp.float32))
add('matvec', 'N[2,3,5] N[2,5]')
add('vecmat', 'N[2,5] N[2,5,3]')
add('vecdot', 'N[2,5] N[2,5]')
add('outer', 'A[3] A[4]')
add('kron', 'A[2,3] A[3,2]')
add('cross', 'N[4,3] N[4,3]')
add('cross', 'N[4,2] N[4,2]')
add('tensordot', 'N[2,3,4] N[3,4,5]', lambda f, a, b: f(a, b), lambda f, a, b: f(a, b, axes=[[1], [0]]))
for subscripts in ('ij,jk->ik', 'ij,ij->', 'ij,jk->ki', 'ab,cb->ac'):
    add('einsum', 'N[3,3] N[3,3]', lambda f, a, b, s=subscripts: f(s, a, b))
add('einsum', 'N[3,3]', lambda f, a: f('ii->i', a), lambda f, a: f('ii', a), lambda f, a: f('ij->ji', a))
add('einsum', 'F[2,3,4] F[2,4,5] F[2,5]', lambda f, a, b, c: f('bij,bjk,bk->bi', a, b, c))
add('trace', 'A[3,4]', lambda f, a: f(a), lambda f, a: f(a, offset=1))
NUMPY.each('convolve correlate', 'N[7] N[3]', call=lambda f, a, b: f(a, b))
NUMPY.each('convolve correlate', 'F[7] F[3]', call=lambda f, a, b: f(a, b, mode='same'))
NUMPY.each('convolve correlate', 'F[3] F[8]', call=lambda f, a, b: f(a, b, mode='valid'))

# Differences, interpolation, polynomials.
add('diff', 'A[3,6]', lambda f, a: f(a), lambda f, a: f(a, n=2, axis=0), lambda f, a: f(a, prepend=0))
add('ediff1d', 'R[6]', lambda f, a: f(a, to_begin=1, to_end=2))
add('gradient', 'X[4,5]', lambda f, a: f(a), lambda f, a: f(a, 0.5, axis=1))
add('gradient', 'F[6] F[6]:steps')
add('trapezoid', 'F[3,6]', lambda f, a: f(a, dx=0.5))
add('trapezoid', 'F[6] F[6]:steps')
add('interp', 'F[7] F[5]:steps F[5]', lambda f, *a: f(*a), lambda f, *a: f(*a, left=-1, right='extrapolate'),
    lambda f, *a: f(*a, period=3.0))
add('unwrap', 'F[8]:large', lambda f, a: f(a), lambda f, a: f(a, period=3))
add('digitize', 'F[8] F[5]:steps', lambda f, a, b: f(a, b), lambda f, a, b: f(a, b, right=True))
add('searchsorted', 'F[5]:steps F[8]', lambda f, a, v: f(a, v), lambda f, a, v: f(a, v, side='right'),
    lambda f, a, v: f(a, v, method='sort'), lambda f, a, v: f(a, v, method='compare_all'),
    lambda f, a, v: f(a, v, method='scan_unrolled'))
NUMPY.each('polyadd polysub', 'N[4] N[6]')
NUMPY.each('polymul', 'X[4] X[6]')
NUMPY.each('polyval', 'N[4] N[5]')
add('polyval', 'F[20] F[5]', lambda f, a, b: f(a, b, unroll=2))
add('polyder', 'N[6]', lambda f, a: f(a), lambda f, a: f(a, 2))
add('polyint', 'X[5]', lambda f, a: f(a), lambda f, a: f(a, 2, k=jnp.array([1, 2])))
add('polydiv', 'F[6] F[3]')
add('poly', 'X[4]')
add('vander', 'N[5]', lambda f, a: f(a), lambda f, a: f(a, 3, increasing=True))
NUMPY.each('polyfit', 'F[6]:steps F[6]', call=lambda f, x, y: f(x, y, 2))
NUMPY.each('roots', 'F[4]', call=lambda f, a: f(a, strip_zeros=False))

# Element types.
for target in ('float32', 'int32', 'uint8', 'bool', 'bfloat16', 'float16', 'complex64', 'int8',
               'float8_e4m3fn',
               'float8_e5m2', 'int4', 'uint4', 'float8_e4m3b11fnuz', 'float8_e8m0fnu', 'float4_e2m1fn'):
    add('astype', 'A[40]*', lambda f, a, target=target: f(a, jnp.dtype(target)), transformed=False)
for target in ('int64', 'float64', 'complex128'):
    add('astype', 'A[40]*',
        lambda f, a, target=target: f(a, jnp.dtype(target)) if jax.config.jax_enable_x64 else None,
        transformed=False)
