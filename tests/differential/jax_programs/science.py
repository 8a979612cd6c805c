"""jax.scipy but for its linear algebra (which is in linear_algebra.py): functions, distributions,
signals, images."""

import jax
import jax.numpy as jnp
import jax.scipy as scipy

from jax_programs.table import Table

SPECIAL = Table('jax.scipy.special')
add = SPECIAL.add
SPECIAL.each('bernoulli', '', call=lambda f: f(6))
SPECIAL.each('exp1 expi', 'F[20]:pos')  # near zero its continued fraction takes 2^24 turns
SPECIAL.each('dawsn digamma entr erf erfc erfcx erfinv expit fresnel gamma gammaln gammasgn i0 i0e i1 i1e '
             'log_ndtr logit loggamma ndtr ndtri sici spence factorial wofz', 'F[40]*', 'F[20]:pos')
SPECIAL.each('erfinv logit ndtri', 'F[20]:unit')
SPECIAL.each('gamma gammaln digamma erfcx log_ndtr sici', 'F[20]:large')
SPECIAL.each('wofz loggamma', 'C[20]')
SPECIAL.each('beta betaln gammainc gammaincc kl_div poch polygamma rel_entr xlog1py xlogy zeta owens_t boxcox boxcox1p '
             'comb', 'F[40]* F[40]*', 'F[12]:above1 F[12]:pos')
add('betainc', 'F[12]:pos F[12]:pos F[12]:unit')
add('expn', 's32[12]:count F[12]:pos')
add('hyp1f1', 'F[12]:pos F[12]:pos F[12]:large')
add('hyp2f1', 'F[12]:pos F[12]:pos F[12]:above1 F[12]:unit')
add('multigammaln', 'F[12]:large', lambda f, a: f(jnp.abs(a) + 3, 3))
add('bessel_jn', 'F[8]:pos', lambda f, a: f(a, v=3, n_iter=20))
add('sph_harm_y', 's32[3]:order s32[3]:index F[3]:pos F[3]:pos',
    lambda f, n, m, t, p: f(n, jnp.minimum(m, n), t, p, n_max=5),
    transformed=False)
SPECIAL.each('logsumexp softmax log_softmax', 'F[3,5]:large', call=lambda f, a: f(a, axis=1))
SPECIAL.each('logsumexp', 'X[3,5] X[5]', call=lambda f, a, b: f(a, b=b, axis=1, return_sign=True))
SPECIAL.each('logsumexp softmax', 'F[30]*')

# jax.scipy.stats: the distributions are modules of functions of one shape.
DISTRIBUTIONS = []


def distribution(name, support, *parameters):
    """Every public function of the distribution, at values of its support and with these parameters."""
    module = getattr(scipy.stats, name)
    table = Table(f'jax.scipy.stats.{name}')
    for function in (n for n in dir(module) if not n.startswith('_')):
        if function == 'entropy':
            table.add(function, ' '.join(parameters))
            continue
        first = 'F[12]:unit' if function in ('ppf', 'isf') else support
        table.add(function, ' '.join((first,) + parameters))
        if '[12]' in first and name != 'multivariate_normal':
            table.add(function, ' '.join(('F[40]*',) + tuple(p.replace('[12]', '[]') for p in parameters)))
    DISTRIBUTIONS.append(table)


distribution('bernoulli', 's32[12]:index', 'F[12]:unit')
distribution('beta', 'F[12]:unit', 'F[12]:pos', 'F[12]:pos')
distribution('betabinom', 's32[12]:index', 's32[12]:order', 'F[12]:pos', 'F[12]:pos')
distribution('binom', 's32[12]:index', 's32[12]:order', 'F[12]:unit')
for name in ('cauchy', 'expon', 'gumbel_l', 'gumbel_r', 'laplace', 'logistic', 'norm', 'uniform'):
    distribution(name, 'F[12]', 'F[12]', 'F[12]:pos')
for name in ('chi2', 'gennorm', 'pareto', 't'):
    distribution(name, 'F[12]:above1', 'F[12]:pos')
distribution('gamma', 'F[12]:pos', 'F[12]:pos')
distribution('geom', 's32[12]:order', 'F[12]:unit')
distribution('nbinom', 's32[12]:count', 'F[12]:pos', 'F[12]:unit')
distribution('poisson', 's32[12]:count', 'F[12]:pos')
distribution('truncnorm', 'F[12]:sym', 'F[12]:unit', 'F[12]:above1')
distribution('vonmises', 'F[12]', 'F[12]:pos')
distribution('wrapcauchy', 'F[12]:pos', 'F[12]:unit')
distribution('dirichlet', 'F[4]:prob', 'F[4]:pos')
distribution('multinomial', 's32[4]:count', 's32[]:count', 'F[4]:prob')
distribution('multivariate_normal', 'F[5,3]', 'F[3]', 'F[3,3]:definite')

STATS = Table('jax.scipy.stats')
STATS.add('mode', 'R[9]:ties', lambda f, a: f(a), lambda f, a: f(a.reshape(3, 3), axis=1, keepdims=True))
STATS.add('rankdata', 'R[9]:ties',
          *[lambda f, a, m=m: f(a, method=m) for m in ('average', 'min', 'max', 'dense', 'ordinal')])
STATS.add('sem', 'F[9]', lambda f, a: f(a), lambda f, a: f(a.reshape(3, 3), axis=1, ddof=0))

SIGNAL = Table('jax.scipy.signal')
SIGNAL.each('convolve correlate', 'N[8] N[3]', call=lambda f, a, b: f(a, b))
SIGNAL.each('convolve correlate', 'F[8] F[3]', call=lambda f, a, b: f(a, b, mode='same', method='direct'))
SIGNAL.each('convolve', 'X[8] X[3]', call=lambda f, a, b: f(a, b, method='fft'))
SIGNAL.each('convolve2d correlate2d', 'N[4,5] N[2,3]', call=lambda f, a, b: f(a, b))
SIGNAL.each('convolve2d correlate2d', 'F[4,5] F[2,3]', call=lambda f, a, b: f(a, b, mode='same'))
SIGNAL.add('fftconvolve', 'F[8] F[3]', lambda f, a, b: f(a, b), lambda f, a, b: f(a, b, mode='valid'))
SIGNAL.add('detrend', 'F[3,8]', lambda f, a: f(a, type='constant'), lambda f, a: f(a))
SIGNAL.add('stft', 'X[32]', lambda f, a: f(a, nperseg=8),
           lambda f, a: f(a, nperseg=8, window='boxcar', padded=False))
SIGNAL.add('istft', 'C[5,9]', lambda f, a: f(a, nperseg=8))
SIGNAL.add('welch', 'F[32]', lambda f, a: f(a, nperseg=8), lambda f, a: f(a, nperseg=8, average='median'))
SIGNAL.add('csd', 'F[32] F[32]', lambda f, a, b: f(a, b, nperseg=8))

OTHERS = [Table('jax.scipy.ndimage'), Table('jax.scipy.fft'), Table('jax.scipy.integrate'),
          Table('jax.scipy.cluster.vq'),
          Table('jax.scipy.interpolate'), Table('jax.scipy.spatial.transform'), Table('jax.scipy.optimize'),
          Table('jax.scipy.sparse.linalg')]
NDIMAGE, FFT, INTEGRATE, VQ, INTERPOLATE, SPATIAL, OPTIMIZE, SPARSE = OTHERS
for mode in ('reflect', 'nearest', 'wrap', 'mirror', 'constant'):
    for order in (0, 1):
        NDIMAGE.add('map_coordinates', 'F[4,5] F[6]:wild F[6]', lambda f, a, i, j, mode=mode, order=order: f(
            a, (i, j), order=order, mode=mode))
FFT.each('dct idct', 'F[3,8]', call=lambda f, a: f(a))
FFT.each('dct idct', 'F[3,8]', call=lambda f, a: f(a, norm='ortho', n=6, axis=0))
FFT.each('dctn idctn', 'F[3,4]', call=lambda f, a: f(a))
INTEGRATE.add('trapezoid', 'F[3,6]', lambda f, a: f(a, dx=0.5))
VQ.add('vq', 'F[6,2] F[3,2]')
for method in ('linear', 'nearest'):
    INTERPOLATE.add('RegularGridInterpolator', 'F[4]:steps F[3]:steps F[4,3] F[5,2]',
                    lambda f, x, y, v, p, method=method: f(
        (x, y), v, method=method, bounds_error=False, fill_value=None)(p))
for call in (lambda f, q: f.from_quat(q).as_matrix(), lambda f, q: f.from_quat(q).as_euler('xyz'),
             lambda f, q: f.from_quat(q).as_rotvec(), lambda f, q: f.from_quat(q).inv().magnitude(),
             lambda f, q: f.from_quat(q).apply(q[:3]), lambda f, q: f.from_euler('zyx', q[:3]).as_quat(),
             lambda f, q: f.from_rotvec(q[:3]).as_mrp(),
             lambda f, q: (f.from_quat(q) * f.from_quat(q)).as_quat()):
    SPATIAL.add('Rotation', 'F[4]', call)
SPATIAL.add('Rotation', 'F[3,3]:rotation', lambda f, m: f.from_matrix(m).as_quat())
SPATIAL.add('Slerp', 'F[3,4] F[2]:unit', lambda f, q, t: f.init(jnp.arange(3.0, dtype=q.dtype),
            scipy.spatial.transform.Rotation.from_quat(q))(t).as_quat())
OPTIMIZE.add('minimize', 'F[3]', lambda f, x: f(lambda v: jnp.sum((v - 1)**2 + v**4), x, method='BFGS',
             options=dict(maxiter=4)).x, transformed=False)
SPARSE.each('cg gmres bicgstab', 'F[3,3]:definite F[3]',
            call=lambda f, a, b: f(lambda v: a @ v, b, maxiter=3)[0])
STATS.add('gaussian_kde', 'F[9] F[4]', lambda f, d, p: f(d)(p), lambda f, d, p: f(d).logpdf(p),
          lambda f, d, p: f(d).integrate_box_1d(p[0], p[1]))

TABLES = [SPECIAL, STATS, SIGNAL] + OTHERS + DISTRIBUTIONS
