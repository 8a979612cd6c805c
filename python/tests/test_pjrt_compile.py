"""Programs for several platforms on the plugin, and decompositions by other algorithms. The oracle is XLA:CPU
where it has the same, else NumPy."""

import numpy as np
import pytest

from on_both import ASSAY, CPU, NamedSharding, P, check_both, iota, jax, mesh, shards
import jax.numpy as jnp
from jax import lax

# --- Programs for several platforms ---


def exported(function, *arguments, **options):
    pytest.importorskip("flatbuffers")
    made = jax.export.export(jax.jit(function, **options), platforms=["tpu", "cpu", "assay"])(*arguments)
    return jax.export.deserialize(made.serialize(vjp_order=1))


def test_one_program_for_several_platforms():
    def by_platform(x):
        return lax.platform_dependent(x, cpu=lambda v: v + 1, assay=lambda v: v + 2, default=lambda v: v + 3)

    program = exported(by_platform, iota(4))
    assert tuple(program.platforms) == ("tpu", "cpu", "assay")
    for devices, plus in ((ASSAY, 2), (CPU, 1)):
        np.testing.assert_array_equal(np.asarray(program.call(jax.device_put(iota(4), devices[0]))),
                                      iota(4) + plus)
        inside = jax.jit(lambda x: program.call(x) * 2)(jax.device_put(iota(4), devices[0]))
        np.testing.assert_array_equal(np.asarray(inside), (iota(4) + plus) * 2)


def test_the_gradient_of_a_program_for_several_platforms():
    program = exported(lambda x: jnp.sin(x) * x, iota(4))
    check_both(
        lambda devices: jax.grad(lambda x: jnp.sum(program.call(x)))(jax.device_put(iota(4), devices[0])))


def test_a_sharded_program_for_several_platforms():
    def program(devices):
        sharding = NamedSharding(mesh(devices), P("x", "y"))
        product = exported(lambda x: x @ x.T, jax.ShapeDtypeStruct((8, 8), np.float32), in_shardings=sharding,
                           out_shardings=sharding)
        return product.nr_devices, shards(jax.jit(product.call)(jax.device_put(iota(8, 8), sharding)))

    check_both(program)


def test_symbolic_sizes_of_a_program_for_several_platforms():
    (size,) = jax.export.symbolic_shape("b,")
    program = exported(lambda x: jnp.sum(x) * 2 + x.shape[0], jax.ShapeDtypeStruct((size,), np.float32))
    for count in (1, 5):
        check_both(lambda devices, count=count: program.call(jax.device_put(iota(count), devices[0])))


def test_a_program_for_other_platforms_alone_is_refused():
    pytest.importorskip("flatbuffers")
    program = jax.export.export(jax.jit(jnp.sin), platforms=["tpu"])(iota(4))
    with pytest.raises(ValueError, match="was exported for platforms"):
        program.call(jax.device_put(iota(4), ASSAY[0]))


# --- Decompositions ---


def hermitian(n, dtype, batch=()):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(*batch, n, n))
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.normal(size=x.shape)
    return (x + np.swapaxes(x, -1, -2).conj()).astype(dtype)


# JAX 0.8 has no choice, and the one algorithm of CPUs.
HAS_EIGH_CHOICE = hasattr(lax.linalg, "EighImplementation")


@pytest.mark.parametrize("algorithm", lax.linalg.EighImplementation if HAS_EIGH_CHOICE else [None])
@pytest.mark.parametrize("n, dtype, batch", [(1, np.float32, ()), (9, np.float32, (2,)),
                                             (5, np.complex64, ()), (0, np.float32, ())])
def test_eigenvalues_by_each_algorithm(algorithm, n, dtype, batch):
    x = hermitian(n, dtype, batch)
    with jax.default_device(ASSAY[0]):
        vectors, values = jax.tree.map(np.asarray,
                                       jax.jit(lambda a: lax.linalg.eigh(
                                           a, **({"implementation": algorithm} if algorithm else {})))(x))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(x), atol=1e-5)
    np.testing.assert_allclose(x @ vectors, vectors * values[..., None, :], atol=1e-4)
    np.testing.assert_allclose(np.swapaxes(vectors, -1, -2).conj() @ vectors,
                               np.broadcast_to(np.eye(n), x.shape), atol=1e-5)


@pytest.mark.parametrize("algorithm", lax.linalg.SvdAlgorithm)
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 3), (0, 2)])
def test_singular_values_by_each_algorithm(algorithm, shape):
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    with jax.default_device(ASSAY[0]):
        u, s, vt = jax.tree.map(
            np.asarray, jax.jit(lambda a: lax.linalg.svd(a, full_matrices=False, algorithm=algorithm))(x))
        alone = np.asarray(jax.jit(lambda a: lax.linalg.svd(a, compute_uv=False, algorithm=algorithm))(x))
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), atol=1e-5)
    np.testing.assert_allclose(alone, s, atol=1e-6)
    np.testing.assert_allclose(u * s @ vt, x, atol=1e-5)


@pytest.mark.skipif(not HAS_EIGH_CHOICE, reason="JAX before 0.9 has no choice of the algorithm")
def test_some_eigenvalues_by_qdwh():
    x = hermitian(12, np.float32)
    with jax.default_device(ASSAY[0]):
        _, values = jax.jit(lambda a: lax.linalg.eigh(a, implementation=lax.linalg.EighImplementation.QDWH,
                                                      subset_by_index=(2, 5)))(x)
    np.testing.assert_allclose(np.asarray(values), np.linalg.eigvalsh(x)[2:5], atol=1e-5)


def test_a_polar_decomposition():
    x = np.random.default_rng(2).normal(size=(6, 4)).astype(np.float32)
    check_both(lambda devices: jax.jit(lambda a: lax.linalg.qdwh(a)[:2])(jax.device_put(x, devices[0])),
               rtol=1e-4)


