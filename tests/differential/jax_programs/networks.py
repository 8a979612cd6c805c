"""jax.nn, jax.random, jax.numpy.fft, jax.image and jax.ops."""

import jax
import jax.numpy as jnp

from jax_programs.table import Table

NN = Table('jax.nn')
NN.each('celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log1mexp log_sigmoid mish relu '
        'relu6 selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid squareplus swish tanh',
        'F[40]*', 'F[12]', 'F[12]:large')
NN.add('gelu', 'F[40]*', lambda f, a: f(a, approximate=False))
NN.add('glu', 'F[3,6]')
NN.each('log_softmax softmax standardize logsumexp logmeanexp', 'F[3,6]')
NN.each('log_softmax softmax standardize logsumexp logmeanexp', 'F[3,6] B[3,6]',
        call=lambda f, a, m: f(a, where=m))
NN.each('softmax', 'F[30]*')
NN.add('one_hot', 's32[5]:wild', lambda f, a: f(a, 4), lambda f, a: f(a, 4, dtype=jnp.int8, axis=0))
NN.add('dot_product_attention', 'F[1,4,2,3] F[1,5,2,3] F[1,5,2,3]', lambda f, q, k, v: f(q, k, v),
       lambda f, q, k, v: f(q, k[:, :4], v[:, :4], is_causal=True, scale=0.5))
NN.add('dot_product_attention', 'F[4,2,3] F[5,1,3] F[5,1,3] B[2,4,5]',
       lambda f, q, k, v, m: f(q, k, v, mask=m),
       lambda f, q, k, v, m: f(q, k, v, bias=m.astype(q.dtype), local_window_size=2))
NN.add('scaled_matmul', 'f32[1,4,32] f32[1,4,32] f32[1,4,1]:pos f32[1,4,1]:pos', lambda f, a, b, s, t: f(
    a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e4m3fn), s.astype(jnp.float8_e8m0fnu),
    t.astype(jnp.float8_e8m0fnu)), transformed=False)
NN.add('scaled_dot_general', 'f32[1,4,32] f32[1,4,32]',
       lambda f, a, b: f(a, b, (((2,), (2,)), ((0,), (0,))), configs=[
    jax.nn.get_scaled_dot_general_config('mxfp8') for _ in range(3)]), transformed=False)
NN.leave_out('makes a configuration, no program', 'get_scaled_dot_general_config')

INITIALIZERS = Table('jax.nn.initializers')
INITIALIZERS.each('glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform lecun_normal '
                  'lecun_uniform normal truncated_normal uniform xavier_normal xavier_uniform', 'K[]',
                  call=lambda f, k: f()(k, (3, 4)))
INITIALIZERS.each('ones zeros', 'K[]', call=lambda f, k: f(k, (3, 4)))
INITIALIZERS.add('constant', 'K[]', lambda f, k: f(2)(k, (3, 4)))
INITIALIZERS.add('variance_scaling', 'K[]',
                 lambda f, k: f(2, 'fan_avg', 'truncated_normal')(k, (3, 4), jnp.bfloat16))
INITIALIZERS.each('orthogonal', 'K[]', call=lambda f, k: f()(k, (3, 4)))
INITIALIZERS.each('delta_orthogonal', 'K[]', call=lambda f, k: f()(k, (3, 3, 4)))

RANDOM = Table('jax.random')
add = RANDOM.add
WIDTHS = (jnp.float32, jnp.bfloat16, jnp.float16, jnp.float64)


def samples(f, key, *parameters, dtype=jnp.float32, shape=(3, 4)):
    return f(key, *parameters, shape=shape, dtype=dtype)


def of_each_width(name, signature, *parameters):
    """A row for each float type (f64 is f32 without x64); `parameters` are numbers
    behind the key's arguments."""
    for dtype in WIDTHS:
        add(name, signature, lambda f, key, *a, dtype=dtype: samples(
            f, key, *[x.astype(dtype) for x in a], *parameters, dtype=dtype))


for name in ('cauchy', 'exponential', 'gumbel', 'laplace', 'logistic', 'maxwell', 'normal', 'uniform'):
    of_each_width(name, 'K[]')
of_each_width('double_sided_maxwell', 'K[]', 0.5, 2.0)
of_each_width('truncated_normal', 'K[]', -1.0, 2.0)
of_each_width('generalized_normal', 'K[]', 1.5)
of_each_width('triangular', 'K[]', -1.0, 0.5, 2.0)
of_each_width('weibull_min', 'K[]', 2.0, 1.5)
add('uniform', 'K[] f32[4]:unit f32[4]:above1', lambda f, k, a, b: f(k, (3, 4), minval=a, maxval=b))
for name in ('gamma', 'loggamma', 'chisquare', 'pareto', 't'):
    add(name, 'K[] f32[4]:pos', lambda f, k, a: f(k, a),
        lambda f, k, a: f(k, a.astype(jnp.float64), dtype=jnp.float64))
for name in ('beta', 'f'):
    add(name, 'K[] f32[4]:pos f32[4]:pos', lambda f, k, a, b: f(k, a, b))
add('dirichlet', 'K[] f32[4]:pos', lambda f, k, a: f(k, a), lambda f, k, a: f(k, a, (3,)))
for name in ('lognormal', 'rayleigh', 'wald', 'geometric', 'poisson'):
    domain = {'geometric': 'unit'}.get(name, 'pos')
    add(name, f'K[] f32[4]:{domain}', lambda f, k, a: f(k, a))
add('poisson', 'K[]', lambda f, k: f(k, 30.0, (5,)), lambda f, k: f(k, 0.5, (5,), dtype=jnp.uint8))
add('binomial', 'K[] f32[4]:count f32[4]:unit', lambda f, k, n, p: f(k, n, p))
add('multinomial', 'K[] f32[4]:prob', lambda f, k, p: f(k, 9, p))
add('multivariate_normal', 'K[] f32[3] f32[3,3]:definite', lambda f, k, m, c: f(k, m, c),
    lambda f, k, m, c: f(k, m, c, method='eigh'))
add('bernoulli', 'K[] f32[4]:unit', lambda f, k, p: f(k, p), lambda f, k, p: f(k, p, (3, 4), mode='high'))
for dtype in (jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64):
    add('bits', 'K[]', lambda f, k, dtype=dtype: f(k, (3, 5), dtype))
add('rademacher', 'K[]', lambda f, k: f(k, (5,)), lambda f, k: f(k, (5,), dtype=jnp.float32))
for dtype in (jnp.int8, jnp.uint8, jnp.int16, jnp.int32, jnp.uint32, jnp.int64):
    add('randint', 'K[]', lambda f, k, dtype=dtype: f(k, (3, 4), 2, 100, dtype))
add('randint', 'K[] s32[4]:wild', lambda f, k, a: f(k, (4,), a, a + 7),
    lambda f, k, a: f(k, (4,), -2**31, 2**31 - 1))
add('categorical', 'K[] f32[3,5]', lambda f, k, a: f(k, a), lambda f, k, a: f(k, a, shape=(4, 3)),
    lambda f, k, a: f(k, a, replace=False, shape=(2, 3)))
add('choice', 'K[] R[7]', lambda f, k, a: f(k, a, (3,)), lambda f, k, a: f(k, a, (3,), replace=False))
add('choice', 'K[] f32[7]:prob', lambda f, k, p: f(k, 7, (3,), p=p),
    lambda f, k, p: f(k, 7, (3,), replace=False, p=p))
add('permutation', 'K[] A[6]', lambda f, k, a: f(k, a))
add('permutation', 'K[] A[4,3]', lambda f, k, a: f(k, a, axis=1, independent=True))
add('permutation', 'K[]', lambda f, k: f(k, 9))
add('ball', 'K[]', lambda f, k: f(k, 3, shape=(4,)), lambda f, k: f(k, 2, p=1.0, shape=(3,)))
add('orthogonal', 'K[]', lambda f, k: f(k, 3))
add('split', 'K[]', lambda f, k: jax.random.key_data(f(k)), lambda f, k: jax.random.key_data(f(k, (2, 3))))
add('fold_in', 'K[] u32[]:bits', lambda f, k, n: jax.random.key_data(f(k, n)))

def typed(key, kind):
    return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key, impl=kind)


for name in ('key', 'PRNGKey'):
    for kind in ('threefry2x32', 'rbg', 'unsafe_rbg'):
        add(name, 'I[]:bits', lambda f, s, kind=kind: jax.random.bits(typed(f(s, impl=kind), kind), (5,)))
add('key_data', 'K[]')
add('clone', 'K[]', lambda f, k: jax.random.bits(f(k)))
add('wrap_key_data', 'u32[2]:bits', lambda f, k: jax.random.normal(f(k), (3,)))
RANDOM.leave_out('asks about a key outside a program', 'key_dtype key_impl')

FFT = Table('jax.numpy.fft')
FFT.each('fft ifft', 'N[3,8]', call=lambda f, a: f(a))
FFT.each('fft ifft hfft irfft', 'X[5]', call=lambda f, a: f(a, n=7, norm='ortho'))
FFT.each('rfft ihfft', 'R[3,8]', call=lambda f, a: f(a))
FFT.each('rfft ihfft', 'F[9]', call=lambda f, a: f(a, n=6, norm='forward'))
FFT.each('hfft irfft', 'X[3,5]', call=lambda f, a: f(a))
FFT.each('fft2 ifft2 fftn ifftn', 'X[2,3,4]', call=lambda f, a: f(a))
FFT.each('fftn ifftn', 'X[2,3,4]', call=lambda f, a: f(a, s=(3, 2), axes=(0, 2)))
FFT.each('rfft2 rfftn', 'F[2,3,4]', call=lambda f, a: f(a))
FFT.each('irfft2 irfftn', 'X[2,3,4]', call=lambda f, a: f(a))
FFT.each('fftshift ifftshift', 'A[3,5]', call=lambda f, a: f(a))
FFT.each('fftfreq rfftfreq', '', call=lambda f: (f(8), f(9, 0.5)))
for length in (1, 2, 16, 25, 31, 60):
    FFT.add('fft', f'X[{length}]')
    FFT.add('rfft', f'F[{length}]')

IMAGE = Table('jax.image')
for method in ('nearest', 'linear', 'cubic', 'lanczos3', 'lanczos5'):
    IMAGE.add('resize', 'F[4,5]', lambda f, a, method=method: f(a, (6, 3), method),
              lambda f, a, method=method: f(a, (8, 10), method, antialias=False))
    if method != 'nearest':
        IMAGE.add('scale_and_translate', 'F[4,5] F[2]:pos F[2]', lambda f, a, s, t, method=method: f(
            a, (6, 4), (0, 1), s, t, method))
IMAGE.add('resize', 'I[4,5]', lambda f, a: f(a, (6, 3), 'nearest'), lambda f, a: f(a, (6, 3), 'linear'))

OPS = Table('jax.ops')
OPS.each('segment_max segment_min segment_prod segment_sum', 'N[8] s32[8]:wild',
         call=lambda f, a, i: f(a, i, 5))
OPS.each('segment_max segment_min segment_prod segment_sum', 'R[8,2] s32[8]:index', call=lambda f, a, i: f(
    a, i, 3, indices_are_sorted=False, bucket_size=3, mode='clip'))

TABLES = [NN, INITIALIZERS, RANDOM, FFT, IMAGE, OPS]
