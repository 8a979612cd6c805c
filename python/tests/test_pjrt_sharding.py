"""Shardings on the plugin as JAX's own tests have them: copies that differ by device, unreduced and reduced
values, shard_alike, custom_partitioning, ragged exchanges, callbacks of each device. The oracle is XLA:CPU,
or the numbers are worked by hand."""

import functools

import numpy as np
import pytest

from on_both import ASSAY, CPU, NamedSharding, P, check_both, iota, jax, mesh, shards
import jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.layout import Layout, with_layout_constraint
from jax.experimental.shard_alike import shard_alike

# --- Copies that differ by device ---


def test_pmap_without_an_output_axis_keeps_each_devices_value():
    def program(devices):
        return shards(jax.pmap(lambda x: x + 1, out_axes=None, devices=devices)(iota(4)))

    check_both(program)
    assert [float(s) for s in program(ASSAY)] == [1, 2, 3, 4]


def test_copies_that_differ_stay_with_their_devices():
    def program(devices):
        double = jax.shard_map(lambda x: x * 2, mesh=mesh(devices), in_specs=P("x", "y"), out_specs=P("x"),
                               check_vma=False)
        plus = jax.shard_map(lambda x: x + 1, mesh=mesh(devices), in_specs=P("x"), out_specs=P("x"),
                             check_vma=False)
        apart = jax.jit(double)(iota(4, 4))
        # Through the program, and through an array between two programs.
        return shards(apart), shards(jax.jit(lambda x: plus(double(x) + 10))(iota(4, 4))), shards(
            jax.jit(plus)(apart))

    check_both(program)


def test_a_result_has_a_buffer_of_its_own():
    x = jax.device_put(iota(2000), ASSAY[0])
    same = jax.jit(lambda v: v)(x)
    first, second, third = jax.jit(lambda v: (v, v, v + 1))(x)
    arrays = (x, same, first, second, third)
    assert len({a.unsafe_buffer_pointer() for a in arrays}) == len(arrays)
    for array in (same, first, second):
        np.testing.assert_array_equal(np.asarray(array), iota(2000))
    with jax.default_device(ASSAY[0]):
        constant = jax.jit(lambda: jnp.asarray(iota(100)))
        held = [constant() for _ in range(3)]
    assert len({a.unsafe_buffer_pointer() for a in held}) == 3


def test_the_buffer_of_a_donated_argument_may_be_the_results():
    x = jax.device_put(iota(2000), ASSAY[0]) + 0
    pointer = x.unsafe_buffer_pointer()
    assert jax.jit(lambda v: v, donate_argnums=0)(x).unsafe_buffer_pointer() == pointer


# --- Unreduced and reduced values ---


def dot(a, b):
    return jnp.einsum("ij,jk->ik", a, b, out_sharding=P(None, None, unreduced={"x"}))


def factors():
    return jax.device_put(iota(4, 8), P(None, "x")), jax.device_put(iota(8, 4), P("x", None))


@pytest.mark.parametrize("spec", [P(None, None), P("x", None), P(None, ("x", "y")), P("y", "x")])
def test_a_product_stays_unreduced_between_programs(spec):
    def program(devices):
        with jax.set_mesh(mesh(devices, explicit=True)):
            product = jax.jit(dot)(*factors())
            whole = jax.jit(lambda v: jax.sharding.reshard(v, spec))(product)
            return str(jax.typeof(product)), str(product.sharding.spec), shards(whole)

    check_both(program)


def test_unreduced_values_are_added_and_resharded():
    def program(devices):
        with jax.set_mesh(mesh(devices, (2,), explicit=True)):
            product = jax.jit(dot)(*factors())
            twice = jax.jit(lambda u, v: u + v)(product, product)
            inside = jax.jit(lambda a, b: jax.sharding.reshard(dot(a, b) + dot(a, b), P("x", None)))(
                *factors())
            return str(jax.typeof(twice)), shards(jax.sharding.reshard(twice, P())), shards(inside)

    check_both(program)


def test_the_summands_of_an_unreduced_value_make_it_up():
    with jax.set_mesh(mesh(ASSAY, explicit=True)):
        product = jax.jit(dot)(*factors())
        by_device = shards(product)  # x is the first axis of the mesh
    np.testing.assert_array_equal(by_device[0] + by_device[2], iota(4, 8) @ iota(8, 4))
    np.testing.assert_array_equal(by_device[1] + by_device[3], iota(4, 8) @ iota(8, 4))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint32", "complex64", "float8_e4m3fn"])
def test_summands_that_the_caller_brings_are_summed_up(dtype):
    def program(devices):
        with jax.set_mesh(mesh(devices, (2,), explicit=True)):
            sharding = NamedSharding(mesh(devices, (2,), explicit=True), P(None, unreduced={"x"}))
            parts = [jax.device_put(iota(4).astype(jnp.dtype(dtype)) * (k + 1), devices[k]) for k in range(2)]
            value = jax.make_array_from_single_device_arrays((4,), sharding, parts)
            found = shards(jax.jit(lambda v: jax.sharding.reshard(v, P("x")))(value))
            return [f.astype(np.complex64 if dtype == "complex64" else np.float32) for f in found]

    check_both(program)


def test_unreduced_values_cross_the_border_of_a_region():
    def program(devices):
        with jax.set_mesh(mesh(devices, explicit=True)):
            x = jax.device_put(iota(4, 4), P("x", "y"))
            leave = jax.shard_map(lambda v: v, in_specs=P("x", "y"), out_specs=P("x", None, unreduced={"y"}))
            enter = jax.shard_map(lambda v: lax.psum(v, "y"), in_specs=P("x", None, unreduced={"y"}),
                                  out_specs=P("x", None))
            scatter = jax.shard_map(lambda v: lax.psum_scatter(v, "y", scatter_dimension=1, tiled=True),
                                    in_specs=P("x", None, unreduced={"y"}), out_specs=P("x", "y"))
            apart = jax.jit(leave)(x)
            return str(jax.typeof(apart)), shards(jax.jit(enter)(apart)), shards(jax.jit(scatter)(apart))

    check_both(program)


def test_a_reshard_to_unreduced():
    def program(devices):
        with jax.set_mesh(mesh(devices, (2,), explicit=True)):
            x = jax.device_put(iota(4), P())
            apart = jax.jit(lambda v: jax.sharding.reshard(v, P(None, unreduced={"x"})))(x)
            return str(jax.typeof(apart)), shards(apart), shards(jax.sharding.reshard(apart, P()))

    check_both(program)


def test_gradients_of_reduced_weights_are_unreduced():
    def program(devices):
        with jax.set_mesh(mesh(devices, (2,), explicit=True)):
            weights = jax.device_put(iota(4, 2) / 8, P(None, None, reduced={"x"}))
            batches = jax.device_put(iota(3, 4, 4) / 48, P(None, "x", None))

            def loss(w, x):
                return jnp.sum(jnp.tanh(x @ w))

            def accumulate(w, xs):
                zeros = jax.sharding.reshard(jnp.zeros((4, 2), np.float32), P(None, None, unreduced={"x"}))
                total, _ = lax.scan(lambda acc, x: (acc + jax.grad(loss)(w, x), None), zeros, xs)
                return jax.sharding.reshard(total, P())

            gradient = jax.jit(jax.grad(loss))(weights, batches[0])
            return (str(jax.typeof(gradient)), shards(jax.sharding.reshard(gradient, P())),
                    shards(jax.jit(accumulate)(weights, batches)))

    check_both(program)


def test_an_all_gather_to_reduced():
    def program(devices):
        with jax.set_mesh(mesh(devices, (2,), explicit=True)):
            gather = jax.shard_map(lambda v: lax.all_gather(v, "x", tiled=True, to="reduced"),
                                   in_specs=P("x"), out_specs=P(None, reduced={"x"}))
            gathered = jax.jit(gather)(jax.device_put(iota(4), P("x")))
            return str(jax.typeof(gathered)), shards(gathered)

    check_both(program)


# --- shard_alike ---


@pytest.mark.parametrize("function", [
    lambda x: shard_alike(x, jnp.ones((8, 2), np.float32) * 3)[1],
    lambda x: shard_alike(jnp.ones((8, 2), np.float32) * 3, x)[0] + 1,
    lambda x: shard_alike(shard_alike(x, jnp.full((8, 2), 2.0))[1], jnp.full((8, 2), 5.0))[1],
    jax.grad(lambda x: jnp.sum(shard_alike(x, jnp.sin(x))[1])),
    jax.vmap(lambda row: shard_alike(row, row * 2)[1]),
], ids=["constant", "first", "chain", "grad", "vmap"])
def test_shard_alike(function):
    def program(devices):
        x = jax.device_put(iota(8, 2), NamedSharding(mesh(devices), P("x", "y")))
        return jax.jit(function)(x), x.sharding

    check_both(lambda devices: program(devices)[0])
    result, sharding = program(ASSAY)
    assert result.sharding.is_equivalent_to(sharding, 2)


def test_shard_alike_wants_equal_shapes():
    with pytest.raises(ValueError, match="shapes of `x` and `y` should match"):
        jax.jit(lambda x: shard_alike(x, x[:1]))(jax.device_put(iota(4), ASSAY[0]))


# --- Layouts that are kept ---


@pytest.mark.parametrize("function, spec", [
    (lambda x: x.reshape(8, 1, 2) + 1, P("x", None, "y")),
    (lambda x: x.reshape(1, 8, 2), P(None, "x", "y")),
    (lambda x: x[:, None].reshape(8, 2) * 2, P("x", "y")),
    (lambda x: x.reshape(16), P("x")),
    (lambda x: x.reshape(2, 4, 2), P("x", None, "y")),
    (lambda x: with_layout_constraint(x, Layout(major_to_minor=(1, 0))) + x, P("x", "y")),
], ids=["reshape", "leading", "back", "merged", "split", "layout"])
def test_a_reshape_and_a_layout_keep_the_sharding(function, spec):
    def program(devices):
        return jax.jit(function)(jax.device_put(iota(8, 2), NamedSharding(mesh(devices), P("x", "y"))))

    check_both(program)
    for devices in (ASSAY, CPU):
        result = program(devices)
        assert result.sharding.is_equivalent_to(NamedSharding(mesh(devices), spec), result.ndim)


# --- custom_partitioning ---


def product_by_rows():
    @custom_partitioning
    def product(x, y):
        return x @ y

    def rows(sharding):
        return NamedSharding(sharding.mesh, P(sharding.spec[0] if len(sharding.spec) else None, None))

    def partition(_, arguments, __):
        x = rows(arguments[0].sharding)
        return x.mesh, lambda a, b: a @ b, x, (x, NamedSharding(x.mesh, P()))

    product.def_partition(infer_sharding_from_operands=lambda _, arguments, __: rows(arguments[0].sharding),
                          partition=partition, sharding_rule="i j, j k -> i k")
    return product


@pytest.mark.parametrize("where", ["one device", "mesh", "grad", "region"])
def test_custom_partitioning_is_the_function_itself(where):
    def program(devices):
        product = product_by_rows()
        if where == "one device":
            return jax.jit(product)(jax.device_put(iota(8, 8), devices[0]), iota(8, 8))
        x = jax.device_put(iota(8, 8), NamedSharding(mesh(devices), P("x", None)))
        if where == "region":
            local = jax.shard_map(product, mesh=mesh(devices), in_specs=(P("x"), P()), out_specs=P("x"),
                                  check_vma=False)
            return jax.jit(local)(x, iota(8, 8))
        if where == "grad":
            with_rule = jax.custom_vjp(product)
            with_rule.defvjp(lambda a, b: (product(a, b), (a, b)),
                             lambda kept, ct: (ct @ kept[1].T, kept[0].T @ ct))
            return jax.jit(jax.grad(lambda a: jnp.sum(with_rule(a, a) ** 2)))(x)
        return jax.jit(product)(x, x.T)

    check_both(program)


@pytest.mark.parametrize("dtype", ["bool", "int2", "int4", "uint4", "int8", "uint32", "bfloat16", "float16",
                                   "complex64", "float4_e2m1fn",
                                   "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
                                   "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                                   "float8_e8m0fnu"])
def test_values_of_every_type_enter_a_region(dtype):
    x = np.array([1, 1, 0, 1] if dtype != "float8_e8m0fnu" else [1, 2, 4, 8]).astype(jnp.dtype(dtype))
    swap = jax.shard_map(lambda v: lax.ppermute(v, "x", [(0, 1), (1, 0)]), mesh=mesh(ASSAY, (2,)),
                         in_specs=P("x"), out_specs=P("x"))
    found = np.asarray(jax.jit(swap)(x))
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, np.concatenate([x[2:], x[:2]]))


# --- ragged_all_to_all: XLA:CPU has none ---


def exchange(devices, groups, operand, output, *sizes):
    region = jax.shard_map(lambda *a: lax.ragged_all_to_all(*a, axis_name="x", axis_index_groups=groups),
                           mesh=mesh(devices, (operand.shape[0] // 3,)), in_specs=P("x"), out_specs=P("x"),
                           check_vma=False)
    return region(operand, output, *sizes)


# Device 0 sends its row 0 to device 0 and rows 1, 2 to device 1, device 1 its row 0 to device 0 and row 1 to
# device 1. Of what a device gets, device 1's part begins at 1 on device 0 and at 2 on device 1.
STARTS, SIZES, PLACES, TAKEN = ([0, 1, 0, 1], [1, 2, 1, 1], [0, 0, 1, 2], [1, 1, 2, 1])


@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_ragged_exchange(pairs, dtype):
    operand = np.arange(1, 6 * pairs + 1).astype(dtype)
    groups = None if pairs == 1 else ((0, 1), (2, 3))
    sizes = [np.array(s * pairs, np.int32) for s in (STARTS, SIZES, PLACES, TAKEN)]
    found = jax.jit(functools.partial(exchange, ASSAY, groups))(operand, np.zeros(8 * pairs, dtype), *sizes)
    one = np.array([1, 4, 0, 0, 2, 3, 5, 0])
    np.testing.assert_array_equal(np.asarray(found),
                                  np.concatenate([one + 6 * k * (one > 0) for k in range(pairs)]))


def test_the_gradient_of_a_ragged_exchange():
    sizes = [np.array(s, np.int32) for s in (STARTS, SIZES, PLACES, TAKEN)]
    weights = np.arange(8, dtype=np.float32)

    def loss(x):
        return jnp.sum(exchange(ASSAY, None, x, np.zeros(8, np.float32), *sizes) * weights)

    # Rows 0, 1, 2 of device 0 went to places 0, 4, 5, rows 0, 1 of device 1 to places 1, 6.
    np.testing.assert_array_equal(np.asarray(jax.jit(jax.grad(loss))(np.ones(6, np.float32))),
                                  [0, 4, 5, 1, 6, 0])


# --- Callbacks ---


def test_each_device_calls_back_in_a_region():
    def program(devices):
        seen = []

        def local(v):
            jax.debug.callback(lambda a: seen.append(("debug", float(a[0]))), v)
            io_callback(lambda a: seen.append(("io", float(a[0]))), None, v)
            doubled = jax.pure_callback(lambda a: a * 2, jax.ShapeDtypeStruct(v.shape, v.dtype), v)
            plus = io_callback(lambda a: (seen.append(("result", float(a[0]))), a + 1)[1],
                               jax.ShapeDtypeStruct(v.shape, v.dtype), v)
            return doubled + plus

        region = jax.shard_map(local, mesh=mesh(devices, (4,)), in_specs=P("x"), out_specs=P("x"),
                               check_vma=False)
        result = jax.jit(region)(iota(8)).block_until_ready()
        jax.effects_barrier()
        return np.asarray(result), sorted(seen)

    check_both(program)


def test_ordered_callbacks_in_a_region():
    seen = []

    def local(v):
        io_callback(lambda a: seen.append(("first", float(a[0]))), None, v, ordered=True)
        io_callback(lambda a: seen.append(("second", float(a[0]))), None, v, ordered=True)
        return v

    region = jax.shard_map(local, mesh=mesh(ASSAY, (2,)), in_specs=P("x"), out_specs=P("x"), check_vma=False)
    jax.jit(region)(iota(4)).block_until_ready()
    jax.effects_barrier()
    for device in (0.0, 2.0):
        assert [name for name, value in seen if value == device] == ["first", "second"]
    assert len(seen) == 4


def test_prints_of_each_device(capfd):
    def local(v):
        jax.debug.print("{i} has {v}", i=lax.axis_index("x"), v=v)
        return v

    jax.jit(jax.shard_map(local, mesh=mesh(ASSAY, (2,)), in_specs=P("x"), out_specs=P("x")))(
        iota(4)).block_until_ready()
    jax.effects_barrier()
    assert sorted(capfd.readouterr().out.splitlines()) == ["0 has [0. 1.]", "1 has [2. 3.]"]


@pytest.mark.parametrize("spec", [P("x"), P(("x", "y")), P()])
def test_a_partitioned_callback_has_each_devices_part(spec):
    def program(devices):
        seen = []

        def function(v):
            jax.debug.callback(lambda a: seen.append(np.asarray(a).tolist()), v, partitioned=True)
            return v + 1

        jax.jit(function)(jax.device_put(iota(4), NamedSharding(mesh(devices), spec))).block_until_ready()
        jax.effects_barrier()
        return [str(sorted(seen))]

    check_both(program)


# --- Random numbers ---


@pytest.mark.parametrize("draw", [
    lambda key: jax.random.uniform(key, (8, 4)), lambda key: jax.random.normal(key, (8, 4)),
    lambda key: jax.random.bits(key, (8, 4)), lambda key: jax.random.randint(key, (8, 4), 0, 1000),
    lambda key: jax.random.key_data(jax.random.split(key, (8, 4)))[..., 0],
], ids=["uniform", "normal", "bits", "randint", "split"])
def test_random_numbers_need_no_collective(draw):
    def program(devices):
        sharding = NamedSharding(mesh(devices), P("x", "y"))
        key = jax.device_put(jax.random.key(3), NamedSharding(mesh(devices), P()))
        compiled = jax.jit(draw, out_shardings=sharding).lower(key).compile()
        text = compiled.as_text()
        collectives = [op for op in ("all-reduce", "all-gather", "collective-permute", "all-to-all")
                       if op in text]
        return collectives, shards(compiled(key))

    check_both(program)
    assert program(ASSAY)[0] == []


# --- What compiled programs say ---


def test_what_a_compiled_program_says_of_its_shardings():
    def program(devices):
        sharding = NamedSharding(mesh(devices), P("x", "y"))
        rows = NamedSharding(mesh(devices), P("x"))
        arguments = [jax.ShapeDtypeStruct((8, 4), np.float32)] * 2
        compiled = jax.jit(lambda x, y: {"a": x @ y.T, "b": x + 1}, in_shardings=sharding,
                           out_shardings={"a": rows, "b": sharding}).lower(*arguments).compile()
        memory = compiled.memory_analysis()
        return (compiled.input_shardings[0][0].is_equivalent_to(sharding, 2),
                compiled.output_shardings["b"].is_equivalent_to(sharding, 2),
                str(compiled.output_shardings["a"].spec), memory.argument_size_in_bytes,
                compiled.input_formats[0][0].layout.major_to_minor,
                compiled.output_formats["a"].layout.major_to_minor,
                str(compiled.in_avals), {"flops", "bytes accessed"} <= set(compiled.cost_analysis()))

    check_both(program)


def test_a_compiled_program_takes_only_what_it_was_compiled_for():
    def program(devices):
        rows, columns = (NamedSharding(mesh(devices), s) for s in (P("x", None), P(None, "x")))
        compiled = jax.jit(lambda x: x * 2,
                           in_shardings=rows).lower(jax.ShapeDtypeStruct((8, 4), np.float32)).compile()
        with pytest.raises(ValueError, match="disagree with the sharding"):
            compiled(jax.device_put(iota(8, 4), columns))
        with pytest.raises(TypeError, match="shaped|type"):
            compiled(iota(8, 5))
        return shards(compiled(iota(8, 4)))

    check_both(program)


@pytest.mark.parametrize("function", [
    lambda x: x * 2 + 1, lambda x: x.T, lambda x: x.sum(0), lambda x: x.max(1), lambda x: x @ x.T,
    lambda x: x.T @ x,
    lambda x: lax.broadcast_in_dim(x, (8, 3, 4), (0, 2)), lambda x: jnp.einsum("ij,kl->ikjl", x, x[:2, :2]),
    lambda x: (x - x.mean(1, keepdims=True)).T, lambda x: jnp.sin(x).astype(jnp.bfloat16),
    lambda x: lax.with_sharding_constraint(x + 1, P(P.UNCONSTRAINED, "y")),
    lambda x: lax.with_sharding_constraint(x + 1, P(P.UNCONSTRAINED, None)),
], ids=["elementwise", "transpose", "columns", "rows", "product", "gram", "broadcast", "outer", "mean",
        "convert", "open", "open row"])
def test_results_lie_as_their_operands(function):
    def program(devices):
        with jax.set_mesh(mesh(devices)):
            x = jax.device_put(iota(8, 4), NamedSharding(mesh(devices), P("x", "y")))
            result = jax.jit(function)(x)
            return str(result.sharding.spec), [s.astype(np.float32) for s in shards(result)]

    check_both(program, rtol=1e-2)


def test_explicit_types_of_results():
    def program(devices):
        with jax.set_mesh(mesh(devices, explicit=True)):
            x = jax.device_put(iota(8, 4), P("x", "y"))
            results = jax.jit(
                lambda v: (v.T, jnp.sum(v, 0), jnp.reshape(v, (8, 2, 2)), jnp.concatenate([v, v], 0),
                                         jnp.einsum("ij,kj->ik", v, v, out_sharding=P("x", None))))(x)
            return [str(jax.typeof(r)) for r in results], [shards(r) for r in results]

    check_both(program)

