"""Kinds of memory on the plugin: where arrays are put, where results lie, what devices say.
The oracle is XLA:CPU."""

import functools

import numpy as np
import pytest

from on_both import ASSAY, NamedSharding, P, check_both, iota, jax, mesh, shards
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental.compute_on import compute_on
from jax.sharding import SingleDeviceSharding

KINDS = ["device", "pinned_host", "unpinned_host"]


def placed(devices, kind):
    """On the device, and in memory of this kind."""
    sharding = NamedSharding(mesh(devices), P("x", "y"))
    return sharding, sharding.with_memory_kind(kind)


def test_what_devices_say_of_their_memories():
    def program(devices):
        one = devices[0]
        return (sorted(memory.kind for memory in one.addressable_memories()), one.default_memory().kind,
                [one.memory(kind).kind for kind in KINDS],
                [len(one.memory(kind).addressable_by_devices()) for kind in KINDS])

    check_both(program)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_put_into_a_memory_and_out_of_it(kind):
    def program(devices):
        sharding, there = placed(devices, kind)
        x = jax.device_put(iota(8, 2), there)
        back = jax.device_put(x, sharding)
        one = jax.device_put(iota(3), SingleDeviceSharding(devices[1], memory_kind=kind))
        return [a.sharding.memory_kind for a in (x, back, one)], shards(x), shards(back), np.asarray(one)

    check_both(program)


@pytest.mark.parametrize("kind", KINDS)
def test_results_lie_in_the_memory_that_the_caller_names(kind):
    def program(devices):
        sharding, there = placed(devices, kind)
        x, y = jax.device_put(iota(8, 2), sharding), jax.device_put(iota(8, 2), there)
        one = SingleDeviceSharding(devices[0], memory_kind=kind)
        results = (jax.jit(lambda v: v * 2, out_shardings=there)(x),
                   jax.jit(lambda v: v, out_shardings=there)(x),
                   jax.jit(lambda v: v, in_shardings=there, out_shardings=sharding)(y),
                   jax.jit(lambda v: v)(y),
                   *jax.jit(lambda v: (v + 1, v, v[0]), out_shardings=(sharding, there, None))(x))
        on_one = jax.jit(lambda v: v + 1, out_shardings=one)(iota(8, 2))
        nothing = jax.jit(lambda: jnp.arange(3), out_shardings=one)()
        return ([r.sharding.memory_kind for r in (*results, on_one, nothing)],
                [shards(r) for r in results[:-1]], np.asarray(results[-1]), np.asarray(on_one),
                np.asarray(nothing))

    check_both(program)


@pytest.mark.parametrize("kind", ["pinned_host", "unpinned_host"])
def test_a_put_inside_of_a_program(kind):
    def program(devices):
        sharding, there = placed(devices, kind)
        x = jax.device_put(iota(8, 2), sharding)

        @jax.jit
        def away_and_back(v):
            away = jax.device_put(v, there)
            return away, jax.device_put(away, sharding) * 2

        away, back = away_and_back(x)
        return away.sharding.memory_kind, back.sharding.memory_kind, shards(away), shards(back)

    check_both(program)


def test_spaces_of_memory_are_types():
    def program(devices):
        sharding, there = placed(devices, "pinned_host")
        x = jax.device_put(iota(8, 2), sharding)
        result = jax.jit(lambda v: jax.device_put(v * 2, jax.memory.Space.Host), out_shardings=there)(x)
        again = jax.jit(lambda v: jax.device_put(v, jax.memory.Space.Device) + 1)(result)
        return result.sharding.memory_kind, again.sharding.memory_kind, shards(result), shards(again)

    check_both(program)


def test_a_memory_that_there_is_not():
    with pytest.raises(ValueError, match="Could not find memory"):
        NamedSharding(mesh(ASSAY), P("x"), memory_kind="tpu_hbm")


def test_an_argument_in_another_memory_than_the_program_says():
    def program(devices):
        sharding, there = placed(devices, "pinned_host")
        with pytest.raises(ValueError, match="Memory kinds passed to jax.jit does not match"):
            jax.jit(lambda v: v, in_shardings=there)(jax.device_put(iota(8, 2), sharding))
        return True

    check_both(program)


def test_donation_into_another_memory():
    def program(devices):
        sharding, there = placed(devices, "pinned_host")
        x = jax.device_put(iota(8, 2), sharding) + 0
        away = jax.jit(lambda v: v * 2, out_shardings=there, donate_argnums=0)(x)
        back = jax.jit(lambda v: v * 2, out_shardings=there, donate_argnums=0)(away)
        return back.sharding.memory_kind, shards(back), away.is_deleted()

    check_both(program)


def test_residuals_are_offloaded():
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["y"], names_which_can_be_offloaded=["z", "w"], offload_src="device",
        offload_dst="pinned_host")

    @functools.partial(jax.remat, policy=policy)
    def function(x):
        def step(carry, _):
            y = checkpoint_name(jnp.sin(carry[0]), "y")
            z = checkpoint_name(jnp.sin(y), "z")
            w = checkpoint_name(jnp.sin(z.T), "w")
            return (w.T, jnp.sum(w)), None

        return lax.scan(step, (x, jnp.float32(1)), None, length=3)[0][1]

    def program(devices):
        x = jax.device_put(iota(4, 4), NamedSharding(mesh(devices, (2,)), P("x", None)))
        return np.asarray(jax.jit(jax.grad(function))(x))

    check_both(program)


def test_weights_stay_in_the_hosts_memory():
    def program(devices):
        sharding, there = placed(devices, "pinned_host")
        weights = jax.device_put(iota(8, 2) / 8, there)

        @functools.partial(jax.jit, out_shardings=(there, None))
        def step(w, x):
            on_device = jax.device_put(w, sharding)
            loss, gradient = jax.value_and_grad(lambda u: jnp.sum(jnp.tanh(x @ u)))(on_device)
            return jax.device_put(on_device - 0.1 * gradient, there), loss

        for _ in range(2):
            weights, loss = step(weights, iota(4, 8) / 32)
        return weights.sharding.memory_kind, shards(weights), np.asarray(loss)

    check_both(program)


def test_computing_on_the_host():
    # Since JAX 0.12 it wants to know where the results are.
    named = {"compute_type": "device_host", "out_memory_spaces": jax.memory.Space.Host}
    is_new = jax.__version_info__ >= (0, 12)
    on_host = compute_on(**named) if is_new else compute_on("device_host")

    def program(devices):
        sharding, there = placed(devices, "pinned_host")

        @jax.jit
        def function(v):
            tripled = on_host(jax.jit(lambda u: u * 3))(v)
            return jax.device_put(tripled, sharding) + 1

        return np.asarray(function(jax.device_put(iota(8, 2), there)))

    check_both(program)


def test_what_a_compiled_program_says_of_its_memories():
    def program(devices):
        sharding, there = placed(devices, "pinned_host")
        compiled = jax.jit(lambda v: (v + 1, v), in_shardings=sharding,
                           out_shardings=(sharding, there)).lower(
            jax.ShapeDtypeStruct((8, 2), np.float32)).compile()
        return [s.memory_kind for s in compiled.output_shardings]

    check_both(program)
