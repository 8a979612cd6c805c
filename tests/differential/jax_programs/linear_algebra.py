"""jax.numpy.linalg and jax.scipy.linalg: what XLA:CPU leaves to LAPACK becomes a custom call,
the rest is a program."""

import jax.numpy as jnp

from jax_programs.table import Table

NUMPY = Table('jax.numpy.linalg')
NUMPY.each('cholesky det eig eigh eigvals eigvalsh inv pinv qr slogdet svd svdvals cond matrix_rank',
           'X[3,3]:definite')
NUMPY.each('matrix_transpose diagonal trace matrix_norm', 'X[2,3,3]')
NUMPY.add('matrix_norm', 'X[3,3]',
          *[lambda f, a, o=o: f(a, ord=o) for o in (1, -1, jnp.inf, -jnp.inf, 'fro', 2, 'nuc')])
NUMPY.add('norm', 'N[3,4]', lambda f, a: f(a), lambda f, a: f(a, axis=1), lambda f, a: f(a, ord=1))
NUMPY.add('norm', 'X[5]', *[lambda f, a, o=o: f(a, ord=o) for o in (0, 1, 3, -1, jnp.inf)])
NUMPY.add('vector_norm', 'X[3,4]', lambda f, a: f(a), lambda f, a: f(a, axis=1, ord=3))
NUMPY.add('matmul', 'X[3,4] X[4,2]')
NUMPY.add('multi_dot', 'X[3,4] X[4,2] X[2,3]', lambda f, *a: f(a))
NUMPY.add('matrix_power', 'X[3,3]:definite', lambda f, a: f(a, 0), lambda f, a: f(a, 5),
          lambda f, a: f(a, -2))
NUMPY.add('cross', 'N[2,3] N[2,3]')
NUMPY.each('outer', 'N[3] N[4]')
NUMPY.add('vecdot', 'N[3,4] N[3,4]')
NUMPY.add('tensordot', 'N[3,4] N[4,3]', lambda f, a, b: f(a, b, axes=1))
NUMPY.add('solve', 'X[3,3]:definite X[3]')
NUMPY.add('lstsq', 'X[4,3] X[4]')
NUMPY.add('tensorinv', 'X[3,3]:definite', lambda f, a: f(a, ind=1))
NUMPY.add('tensorsolve', 'X[3,3]:definite X[3]')

SCIPY = Table('jax.scipy.linalg')
SCIPY.add('block_diag', 'N[2,3] N[1,2]')
SCIPY.each('circulant companion fiedler fiedler_companion', 'F[4]:pos')
SCIPY.add('convolution_matrix', 'N[3]', lambda f, a: f(a, 4))
SCIPY.each('toeplitz hankel', 'N[3] N[4]')
SCIPY.add('leslie', 'F[4] F[3]')
SCIPY.each('dft hadamard helmert hilbert invhilbert invpascal pascal', '', call=lambda f: f(4))
SCIPY.each('cho_factor cholesky det eigh expm hessenberg inv lu lu_factor polar qr schur svd sqrtm',
           'X[3,3]:definite')
SCIPY.add('cho_solve', 'X[3,3]:definite X[3]', lambda f, c, b: f((c, True), b))
SCIPY.add('lu_solve', 'X[3,3]:definite X[3]', lambda f, c, b: f((c, jnp.array([0, 2, 2], jnp.int32)), b))
SCIPY.add('eigh_tridiagonal', 'F[4] F[3]', lambda f, d, e: f(d, e, eigvals_only=True))
SCIPY.add('expm_frechet', 'F[3,3] F[3,3]')
SCIPY.add('funm', 'X[3,3]:definite', lambda f, a: f(a, jnp.exp))
SCIPY.add('qr_multiply', 'X[3,3]:definite X[3]')
SCIPY.add('rsf2csf', 'F[3,3] F[3,3]')
SCIPY.add('solve', 'X[3,3]:definite X[3]')
SCIPY.add('solve_sylvester', 'F[3,3]:definite F[3,3]:definite F[3,3]')
SCIPY.add('solve_triangular', 'X[3,3]:definite X[3,2]', lambda f, a, b: f(a, b),
          lambda f, a, b: f(a, b, lower=True, trans=1))

TABLES = [NUMPY, SCIPY]
