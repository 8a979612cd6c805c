"""Programs with free dimensions on the plugin: exported with symbolic sizes and called by JAX, which refines
them; compiled as they
stand they are refused. The oracle is the function compiled for these sizes, by XLA:CPU and by the plugin."""

import numpy as np
import pytest

from on_both import ASSAY, CPU, jax
import jax.numpy as jnp
from jax import lax
from jaxlib import xla_client

pytest.importorskip("jax.export")

SIZES = ((1, 1), (3, 5), (4, 16))


def pooled_attention(x, y):
    scores = jax.nn.softmax(jnp.einsum("bti,bsi->bts", x, x) / 2)
    return jnp.einsum("bts,bsi->bi", scores, x) + y[:, None] * x.shape[1], x.reshape(-1, 4)[::-1]


def running(x, y):
    return lax.scan(lambda c, row: (jnp.tanh(c + row), c.sum()), jnp.zeros((x.shape[0], 4)) + y[:, None],
                    jnp.swapaxes(x, 0, 1))


def exported(function, platforms):
    b, t = jax.export.symbolic_shape("b, t")
    return jax.export.export(jax.jit(function), platforms=platforms)(
        jax.ShapeDtypeStruct((b, t, 4), np.float32), jax.ShapeDtypeStruct((b,), np.float32))


def arguments(sizes, device):
    b, t = sizes
    x = np.sin(np.arange(b * t * 4)).astype(np.float32).reshape(b, t, 4)
    return jax.device_put((x, np.arange(b, dtype=np.float32) / 4), device)


def same_bytes(found, wanted):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert one.shape == other.shape and np.asarray(one).tobytes() == np.asarray(other).tobytes()


def near(found, wanted):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [pooled_attention, running])
def test_an_exported_program_is_called_with_several_sizes(function):
    program = exported(function, ["assay"])
    assert "?" in program.mlir_module()
    for sizes in SIZES:
        found = program.call(*arguments(sizes, ASSAY[0]))
        same_bytes(found, jax.jit(function)(*arguments(sizes, ASSAY[0])))
        near(found, jax.jit(function)(*arguments(sizes, CPU[0])))


@pytest.mark.parametrize("function", [pooled_attention, running])
def test_an_exported_program_is_called_within_a_program_and_has_a_gradient(function):
    pytest.importorskip("flatbuffers")
    program = jax.export.deserialize(exported(function, ["cpu", "assay"]).serialize(vjp_order=1))

    def loss(call):
        return lambda x, y: sum(jnp.sum(leaf * leaf) for leaf in jax.tree.leaves(call(x, y)))

    for sizes in SIZES:
        found = jax.jit(jax.value_and_grad(loss(program.call)))(*arguments(sizes, ASSAY[0]))
        near(found, jax.jit(jax.value_and_grad(loss(function)))(*arguments(sizes, CPU[0])))


def test_sizes_that_contradict_each_other_are_jaxs_error():
    program = exported(pooled_attention, ["assay"])
    x, _ = arguments((3, 5), ASSAY[0])
    with pytest.raises(ValueError, match="[Ss]hape|dimension|expected"):
        program.call(x, jax.device_put(np.zeros(4, np.float32), ASSAY[0]))


@pytest.mark.parametrize("form", ["text", "bytecode"])
def test_a_program_with_free_dimensions_is_not_compiled(form):
    program = exported(pooled_attention, ["assay"])
    code = program.mlir_module() if form == "text" else program.mlir_module_serialized
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"UNIMPLEMENTED.*free dimensions.*Exported\.call"):
        ASSAY[0].client.compile_and_load(code, xla_client.DeviceList(tuple(ASSAY[:1])),
                                         xla_client.CompileOptions())
