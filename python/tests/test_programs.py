"""assay.evaluate on the fifteen functions of programs.py, and on their gradients, vmaps and scans, against
the answers of JAX's CPU backend."""

import contextlib

import numpy as np
import pytest

import assay

jax = pytest.importorskip("jax")
jnp = jax.numpy

from programs import PROGRAMS  # noqa: E402

NAMES = sorted(PROGRAMS)


@contextlib.contextmanager
def types_of(name):
    """The element types that the function needs: f64 only where it asks for them."""
    with jax.enable_x64(PROGRAMS[name].x64):
        yield


def arguments_of(name, seed=0):
    return PROGRAMS[name].arguments(np.random.default_rng([seed, NAMES.index(name)]))


def stacked(name, count=3):
    """`count` different sets of arguments, along a new first dimension."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves),
                        *[arguments_of(name, seed) for seed in range(count)])


def is_float(leaf):
    return jnp.issubdtype(leaf.dtype, jnp.inexact)


# XLA:CPU rounds each operation, and some of its functions are a few ulps off; it may also keep an
# intermediate result of bf16 in f32. Integers and predicates must be equal; of floats the error is measured
# against the largest number in the array, in units of the type's epsilon: at most this many for f32 and f64
# (found: 16), and for narrower types.
EPSILONS, NARROW_EPSILONS = 32, 4


def assert_near(actual, exact):
    actual_leaves, exact_leaves = jax.tree.leaves(actual), jax.tree.leaves(exact)
    assert jax.tree.structure(actual) == jax.tree.structure(exact) and actual_leaves
    for a, e in zip(actual_leaves, exact_leaves):
        assert isinstance(e, np.ndarray) and a.dtype == e.dtype and a.shape == e.shape
        if not is_float(a):
            assert np.array_equal(a, e)
            continue
        info = jnp.finfo(a.dtype)
        allowed = float(info.eps) * (NARROW_EPSILONS if info.bits <= 16 else EPSILONS)
        wide = np.complex128 if np.iscomplexobj(a) else np.float64
        a, e = np.asarray(a).astype(wide), e.astype(wide)
        assert np.array_equal(np.isnan(a), np.isnan(e))
        assert np.nanmax(np.abs(a - e), initial=0) <= allowed * np.nanmax(np.abs(e), initial=0)


def assert_means_the_same(function, *args):
    assert_near(jax.jit(function)(*args), assay.evaluate(function, crosscheck="sample")(*args))


@pytest.mark.parametrize("name", NAMES)
def test_evaluate(name):
    with types_of(name):
        assert_means_the_same(PROGRAMS[name].function, *arguments_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_vmap(name):
    with types_of(name):
        assert_means_the_same(jax.vmap(PROGRAMS[name].function), *stacked(name))


@pytest.mark.parametrize("name", NAMES)
def test_scan(name):
    def scanned(*args):
        # The carry makes each step depend on the one before: how many elements were not zero.
        def step(count, slices):
            result = PROGRAMS[name].function(*slices)
            return count + sum(jnp.count_nonzero(leaf) for leaf in jax.tree.leaves(result)), result

        return jax.lax.scan(step, 0, args)

    with types_of(name):
        assert_means_the_same(scanned, *stacked(name))


def loss_of(name, args):
    """A smooth scalar of the function's float results, of its float arguments alone; and those arguments."""
    leaves, tree = jax.tree.flatten(args)
    where = [i for i, leaf in enumerate(leaves) if is_float(np.asarray(leaf))]

    def loss(floats):
        whole = list(leaves)
        for i, leaf in zip(where, floats):
            whole[i] = leaf
        results = jax.tree.leaves(PROGRAMS[name].function(*jax.tree.unflatten(tree, whole)))
        results = [r if jnp.iscomplexobj(r) or r.dtype == jnp.float64 else r.astype(jnp.float32)
                   for r in results if is_float(r)]
        # Different weights for the elements, so that no gradient vanishes for symmetry's sake.
        return sum(jnp.sum(jnp.abs(r) ** 2 * (1 + jnp.arange(r.size).reshape(r.shape) % 7)) for r in results)

    return loss, [leaves[i] for i in where]


WITHOUT_GRAD = ["int8_matmul", "newton_while", "random_draws"]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_GRAD])
def test_grad(name):
    with types_of(name):
        loss, floats = loss_of(name, arguments_of(name))
        assert_means_the_same(jax.value_and_grad(loss), floats)


def test_grad_of_integer_results():
    # JAX refuses a loss of integers; pulling back through them gives a gradient of zeros.
    a, b, scale = arguments_of("int8_matmul")
    function = lambda scale: PROGRAMS["int8_matmul"].function(a, b, scale)
    with pytest.raises(TypeError, match="real-valued outputs"):
        jax.grad(lambda scale: function(scale)[0].sum())(scale)

    def pulled_back(scale):
        results, pull = jax.vjp(function, scale)
        return pull(tuple(np.zeros(r.shape, jax.dtypes.float0) for r in results))

    assert_means_the_same(pulled_back, scale)


def test_grad_of_integer_arguments():
    with pytest.raises(TypeError, match="real- or complex-valued inputs"):
        jax.grad(lambda key: PROGRAMS["random_draws"].function(key)[1].sum())(*arguments_of("random_draws"))


def test_derivative_of_a_while_loop():
    # Only forward mode goes through a while loop. Newton's iteration ends at the square root: d/dx sqrt(x) is
    # half of its inverse.
    with types_of("newton_while"):
        function, (x,) = PROGRAMS["newton_while"].function, arguments_of("newton_while")
        with pytest.raises(ValueError, match="Reverse-mode"):
            jax.grad(lambda x: function(x)[0])(x)

        def root(x):
            return function(x)[0]

        value, derivative = assay.evaluate(lambda x: jax.jvp(root, (x,), (jnp.ones_like(x),)))(x)
        assert abs(value - np.sqrt(x)) < 1e-13 and abs(derivative - 0.5 / np.sqrt(x)) < 1e-13
        assert_means_the_same(lambda x: jax.jvp(root, (x,), (jnp.ones_like(x),)), x)
