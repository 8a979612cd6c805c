"""JAX functions, their gradients, vmap and scan, against XLA's own answers."""

import numpy as np
import pytest

import assay

jax = pytest.importorskip("jax")
jnp = jax.numpy


def loss(parameters, x, y):
    hidden = jnp.tanh(x @ parameters["w"] + parameters["b"])
    return jnp.mean((hidden.sum(axis=-1) - y) ** 2)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    parameters = {"w": rng.normal(size=(5, 4)).astype(np.float32), "b": np.zeros(4, np.float32)}
    return parameters, rng.normal(size=(8, 5)).astype(np.float32), rng.normal(size=8).astype(np.float32)


def close(report):
    assert report.within(64), str(report)


def test_pytrees_in_and_out(problem):
    value, gradient = assay.evaluate(jax.value_and_grad(loss))(*problem)
    assert value.shape == () and gradient["w"].shape == (5, 4) and isinstance(gradient["b"], np.ndarray)
    wanted = jax.value_and_grad(loss)(*problem)
    assert np.allclose(value, wanted[0],
                       rtol=1e-5) and np.allclose(gradient["w"], wanted[1]["w"], rtol=1e-4, atol=1e-5)


def test_check_names_the_outputs(problem):
    report = assay.check(jax.grad(loss), *problem)
    assert [leaf.path for leaf in report.leaves] == ["['b']", "['w']"]
    assert "ulp" in str(report) or "all equal" in str(report)


def test_vmap_and_scan():
    x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
    close(assay.check(jax.vmap(lambda row: jnp.exp(row) / jnp.exp(row).sum()), x))

    def step(carry, row):
        carry = 0.5 * carry + row
        return carry, carry.sum()

    carry, sums = assay.evaluate(lambda rows: jax.lax.scan(step, jnp.zeros(6), rows))(x)
    assert carry.shape == (6,) and sums.shape == (4,)
    close(assay.check(lambda rows: jax.lax.scan(step, jnp.zeros(6), rows), x))


def test_unused_arguments_keywords_and_scalars():
    f = lambda x, unused, scale=1.0: x * scale
    assert assay.evaluate(f)(np.float32([1, 2]), 3, scale=2.5).tolist() == [2.5, 5]


def test_random_keys():
    f = lambda key: jax.random.bits(key, (4,))
    assert (assay.evaluate(f)(jax.random.key(7)) == np.asarray(f(jax.random.key(7)))).all()


def test_a_difference_is_found():
    with pytest.raises(AssertionError, match="ulp"):
        assay.assert_matches(lambda x: jnp.exp(x), np.linspace(-9, 9, 10_000, dtype=np.float32))
    assay.assert_matches(lambda x: x + 1, np.float32([1, 2]))
