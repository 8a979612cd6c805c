"""Layouts that the caller names or leaves to the compiler. The oracle is XLA:CPU."""

import numpy as np
import pytest

from on_both import ASSAY, NamedSharding, P, check_both, iota, jax, mesh, shards
import jax.numpy as jnp
from jax.experimental.layout import Format, Layout, with_layout_constraint

ROWS, COLUMNS = Layout((0, 1)), Layout((1, 0))


def order(array):
    return array.format.layout.major_to_minor


def pieces(devices):
    return NamedSharding(mesh(devices), P("x", "y"))


def test_layouts_left_to_the_compiler():
    def program(devices):
        ours, turned = pieces(devices), NamedSharding(mesh(devices), P("y", "x"))
        compiled = jax.jit(lambda v: v.T * 2, in_shardings=Format(Layout.AUTO, ours),
                           out_shardings=Format(Layout.AUTO, turned)).lower(
                               jax.ShapeDtypeStruct((16, 4), np.float32)).compile()
        wanted = compiled.input_formats[0][0]
        result = compiled(jax.device_put(iota(16, 4), wanted))
        return isinstance(wanted, Format), result.format == compiled.output_formats, shards(result)

    check_both(program)


def test_several_layouts_left_to_the_compiler():
    def program(devices):
        auto = Format(Layout.AUTO, pieces(devices))
        shape = jax.ShapeDtypeStruct((8, 4), np.float32)
        compiled = jax.jit(lambda x, y: (x @ y.T, y * 2), in_shardings=auto,
                           out_shardings=auto).lower(shape, shape).compile()
        return [shards(r)
                for r in compiled(*(jax.device_put(iota(8, 4), f) for f in compiled.input_formats[0]))]

    check_both(program)


@pytest.mark.parametrize("wanted", [ROWS, COLUMNS])
@pytest.mark.parametrize("given", [ROWS, COLUMNS])
def test_a_compiled_program_refuses_another_layout(given, wanted):
    def program(devices):
        sharding = pieces(devices)
        compiled = jax.jit(lambda v: v * 2, in_shardings=Format(wanted, sharding)).lower(
            jax.ShapeDtypeStruct((16, 4), np.float32)).compile()
        x = jax.device_put(iota(16, 4), Format(given, sharding))
        try:
            return "taken", shards(compiled(x))
        except ValueError as error:
            return "refused", str(error).split("\n", 1)[0][:60]

    check_both(program)


def test_jit_refuses_another_layout():
    def program(devices):
        x = jax.device_put(iota(16, 4), pieces(devices))
        with pytest.raises(ValueError,
                           match="Layout passed to jit does not match the layout on the respective arg"):
            jax.jit(lambda v: v * 2, in_shardings=Format(COLUMNS, pieces(devices)))(x)
        return True

    check_both(program)


@pytest.mark.parametrize("name", ["other rank", "other rank put", "auto put", "bare"])
def test_layouts_that_are_none(name):
    def program(devices):
        sharding = pieces(devices)
        calls = {
            "other rank": lambda: jax.jit(lambda v: v,
                                          in_shardings=Format(Layout((0, 1, 2)), sharding)).lower(
                jax.ShapeDtypeStruct((4, 4), np.float32)).compile(),
            "other rank put": lambda: jax.device_put(iota(4, 4), Format(Layout((0, 1, 2)), sharding)),
            "auto put": lambda: jax.device_put(iota(4, 4), Format(Layout.AUTO, sharding)),
            "bare": lambda: jax.device_put(iota(4, 4), ROWS),
        }
        try:
            calls[name]()
        except Exception as error:  # pylint: disable=broad-except
            return type(error).__name__
        return "taken"

    check_both(program)
    assert program(ASSAY) != "taken"


def test_a_constraint_within_a_program():
    def program(devices):
        x = jax.device_put(iota(16, 4), pieces(devices))
        before = jax.jit(lambda v: with_layout_constraint(v.T, COLUMNS) * 2)(x)
        after = jax.jit(lambda v: with_layout_constraint(v * 2, COLUMNS))(x)
        return np.asarray(before), np.asarray(after), order(after)

    check_both(lambda devices: program(devices)[:2])
    assert program(ASSAY)[2] == COLUMNS.major_to_minor  # XLA:CPU takes another one


def test_a_constraint_by_itself():
    def program(devices):
        turned = with_layout_constraint(jax.device_put(iota(16, 4), pieces(devices)), COLUMNS)
        return shards(turned), order(turned)

    check_both(program)


def test_puts_from_layout_to_layout():
    def program(devices):
        sharding = pieces(devices)
        x = jax.device_put(iota(16, 4), Format(COLUMNS, sharding))
        back = jax.device_put(x, Format(ROWS, sharding))
        again = jax.device_put(back, Format(COLUMNS, sharding))
        return order(x), order(back), order(again), shards(x), shards(back), shards(again)

    check_both(program)


def test_donation_with_a_layout():
    def program(devices):
        form = Format(COLUMNS, pieces(devices))
        x = jax.device_put(iota(16, 4), form) + 0
        x = jax.device_put(x, form)
        result = jax.jit(lambda v: v * 2, donate_argnums=0, in_shardings=form, out_shardings=form)(x)
        return order(result), shards(result), x.is_deleted()

    check_both(program)


def test_random_keys_have_layouts():
    def program(devices):
        form = Format(Layout.AUTO, NamedSharding(mesh(devices), P("x")))
        compiled = jax.jit(lambda k: jnp.cos(jax.random.uniform(k[0], (4, 2))), out_shardings=form).lower(
            jax.random.split(jax.random.key(1), 4)).compile()
        return np.asarray(compiled(jax.random.split(jax.random.key(1), 4)))

    check_both(program)
