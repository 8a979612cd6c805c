"""JAX on the plugin as JAX's own tests use a platform: many small programs, x64 on and off, buffers that are
donated and deleted, what compiled programs and devices say, errors, threads (docs/jax.md)."""

import concurrent.futures
import copy
import gc
import os
import pickle

os.environ.setdefault("ASSAY_DEVICES", "4")

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402
import assay.jax_plugin  # noqa: E402

if not assay.jax_plugin.LIBRARY.exists():
    pytest.skip(f"no plugin: {assay.jax_plugin.LIBRARY} is not there", allow_module_level=True)
ASSAY = jax.devices("assay")
V = np.arange(8, dtype=np.float32)
several = pytest.mark.skipif(len(ASSAY) < 4,
                             reason="JAX was asked for its devices before this module: want 4")


@pytest.fixture(autouse=True)
def on_assay():
    with jax.default_device(ASSAY[0]):
        yield


def halves():
    return NamedSharding(Mesh(np.array(ASSAY[:4]), ("a",)), P("a"))


# --- Programs ---


def test_many_small_programs():
    for k in range(300):
        assert float(jax.jit(lambda x, k=k: x * k + 1)(2.0)) == 2 * k + 1


def test_x64_on_and_off_and_on():
    third = jax.jit(lambda x: x / 3)
    for on in (True, False, True, False):
        with jax.enable_x64(on):
            found = third(jnp.asarray(np.arange(3.0)))
            assert found.dtype == (np.float64 if on else np.float32)
            np.testing.assert_array_equal(np.asarray(found),
                                          (np.arange(3.0).astype(found.dtype) / found.dtype.type(3)))
            assert jax.jit(lambda i: i + 2**30 + 2**30)(jnp.arange(2)).dtype == (np.int64 if on else np.int32)


def test_programs_come_back_after_the_caches_are_cleared():
    function = jax.jit(lambda x: x + 1)
    before = function(V)
    jax.clear_caches()
    gc.collect()
    np.testing.assert_array_equal(np.asarray(function(V)), np.asarray(before))


def test_operations_one_by_one():
    x = jnp.asarray(V)
    np.testing.assert_array_equal(np.asarray(x.at[2].set(9)[1:4]), [1, 9, 3])
    np.testing.assert_array_equal(np.asarray(x[::-2]), V[::-2])
    np.testing.assert_array_equal(np.asarray(x[jnp.array([7, 1])]), [7, 1])
    assert (f"{x[1]:.2f}", int(x[3]), bool(x[0]),
            repr(x[:2])) == ("1.00", 3, False, "Array([0., 1.], dtype=float32)")


@several
@pytest.mark.xfail(jax.__version_info__ >= (0, 12), strict=True,
                   reason="JAX 0.12 groups devices by axes of a mesh, which all_reduce refuses by name")
def test_pmap():
    total = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i",
                     devices=ASSAY[:4])(np.arange(4.0, dtype=np.float32))
    np.testing.assert_array_equal(np.asarray(total), [6, 6, 6, 6])


def test_threads_compile_and_run_at_once():
    def one(n):
        return [float(
            jax.jit(lambda x, n=n, k=k: jnp.sum(x * n + k))(jax.device_put(V, ASSAY[n % len(ASSAY)])))
                for k in range(20)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for n, found in enumerate(pool.map(one, range(8))):
            assert found == [28 * n + 8 * k for k in range(20)]


# --- Buffers ---


def test_a_deleted_buffer_is_not_used():
    x = jnp.asarray(V) + 0
    x.delete()
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="has been deleted"):
        jax.jit(lambda v: v + 1)(x)


def test_a_donated_buffer_is_not_used_again_nor_donated_twice():
    plus = jax.jit(lambda v: v + 1, donate_argnums=0)
    x = jnp.asarray(V) + 0
    np.testing.assert_array_equal(np.asarray(plus(x)), V + 1)
    with pytest.raises((RuntimeError, ValueError), match="deleted or donated|has been deleted"):
        plus(x)
    y = jnp.asarray(V) + 0
    with pytest.raises((RuntimeError, ValueError), match="is donated, and argument 1 as well"):
        jax.jit(lambda p, q: (p + 1, q + 1), donate_argnums=(0, 1))(y, y)
    np.testing.assert_array_equal(np.asarray(y), V)  # the call was refused before it took anything


@several
def test_every_piece_of_a_donated_array_is_deleted():
    x = jax.device_put(V, halves())
    pieces = [shard.data for shard in x.addressable_shards]
    y = jax.jit(lambda v: v * 2, donate_argnums=0)(x)
    assert x.is_deleted() and all(piece.is_deleted() for piece in pieces)
    np.testing.assert_array_equal(np.asarray(y), V * 2)


@several
def test_arrays_are_made_of_pieces():
    made = jax.make_array_from_callback((8,), halves(), lambda index: V[index])
    np.testing.assert_array_equal(np.asarray(made), V)
    pieces = [jax.device_put(V[2 * i:2 * i + 2], device) for i, device in enumerate(ASSAY[:4])]
    np.testing.assert_array_equal(
        np.asarray(jax.make_array_from_single_device_arrays((8,), halves(), pieces)), V)


def test_what_arrays_say():
    x = jnp.asarray(V) + 0
    x.copy_to_host_async()
    assert x.is_ready() and x.unsafe_buffer_pointer() != 0 and x.on_device_size_in_bytes() == 32
    assert pickle.loads(pickle.dumps(x)).devices() == copy.deepcopy(x).devices() == {ASSAY[0]}
    assert any(x is live for live in jax.live_arrays("assay"))
    with jax.transfer_guard("disallow"):
        assert float(jax.device_get(jax.jit(jnp.sum)(jax.device_put(V, ASSAY[0])))) == 28
    with pytest.raises(Exception, match="DLPack"):
        np.from_dlpack(x)


# --- What compiled programs and devices say ---


def test_costs_and_memory_of_a_compiled_program():
    compiled = jax.jit(lambda x: jnp.sin(x) * 2).lower(V).compile()
    costs = compiled.cost_analysis()
    assert (costs["transcendentals"], costs["flops"]) == (8, 8) and costs["bytes accessed"] >= 64
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes,
            memory.alias_size_in_bytes) == (32, 32, 0)
    donating = jax.jit(lambda x: x + 1, donate_argnums=0).lower(V).compile().memory_analysis()
    assert donating.alias_size_in_bytes == 32


def test_compiled_programs_check_their_arguments():
    compiled = jax.jit(jnp.sin).lower(V).compile()
    with pytest.raises(TypeError):
        compiled(np.arange(8))
    with pytest.raises(TypeError):
        compiled(V[:3])


def test_options_of_the_compiler():
    lowered = jax.jit(lambda x: x + 1).lower(V)
    np.testing.assert_array_equal(lowered.compile(compiler_options={"xla_cpu_enable_fast_math": True})(V),
                                  V + 1)
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option: 'invalid_key'"):
        lowered.compile(compiler_options={"invalid_key": "invalid_value"})


def test_what_devices_say():
    device = ASSAY[0]
    assert (device.id, device.process_index, device.platform,
            device.default_memory().kind) == (0, 0, "assay", "device")
    assert [memory.kind
            for memory in device.addressable_memories()] == ["device", "pinned_host", "unpinned_host"]
    assert jax.device_count("assay") == jax.local_device_count("assay") == len(ASSAY)
    assert device.memory_stats() is None


# --- Exported programs ---


def test_a_program_of_two_platforms_and_one_of_any_size():
    both = jax.export.export(jax.jit(jnp.sin), platforms=["assay", "cpu"])(V)
    here = np.asarray(both.call(jnp.asarray(V)))
    with jax.default_device(jax.devices("cpu")[0]):
        np.testing.assert_allclose(here, np.asarray(both.call(jnp.asarray(V))), rtol=1e-6)
    size, = jax.export.symbolic_shape("b")
    total = jax.export.export(jax.jit(lambda x: jnp.sum(x) + x.shape[0]), platforms=["assay"])(
        jax.ShapeDtypeStruct((size,), np.float32))
    assert (float(total.call(jnp.asarray(V))), float(total.call(jnp.asarray(V[:3])))) == (36, 6)


# --- Errors ---


def test_a_nan_is_traced_to_its_operation():
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="log"):
        jax.jit(lambda x: jnp.log(-1 - x))(V)


def test_an_error_keeps_the_users_lines_and_the_next_run_is_fine():
    def fails(_):
        raise KeyError("of the user's own")

    function = jax.jit(lambda x: jax.pure_callback(fails, jax.ShapeDtypeStruct((8,), np.float32), x))
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="of the user's own") as raised:
            function(V)
        assert any(entry.path == __file__ or str(entry.path) == __file__ for entry in raised.traceback)
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x + 1)(V)), V + 1)
