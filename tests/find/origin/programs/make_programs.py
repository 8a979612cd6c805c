#!/usr/bin/env python3
"""Writes the programs of cli_origin_test.py: functions of JAX whose results have NaNs, or nearly so.

Usage: make_programs.py [FOLDER]      (by default the folder of this script)
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax import lax


def sinc(x):
    """Its derivative divides by zero in the branch that where does not take."""
    return jnp.sum(jnp.where(x != 0, jnp.sin(x) / x, 1.0))


def log_mean(x):
    return jnp.log(jnp.mean(x)) + x


def bf16_difference(x):
    y = x.astype(jnp.bfloat16)
    return y - y


def masked_softmax(x, mask):
    return jax.nn.softmax(jnp.where(mask, x, -jnp.inf), axis=1)


def zero_times_infinity(x, y):
    return jnp.sum(x * y, axis=0)


def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


def sum_of_padded(x):
    padded = lax.pad(x, jnp.float32(jnp.nan), [(1, 1, 0)])
    return lax.reduce_window(padded, 0.0, lax.add, (2,), (1,), "VALID")


def cast(x):
    return jnp.log(x).astype(jnp.int32)


def selected(x):
    return jnp.where(x > 0, jnp.log(x), 0.0)


def clipped(x):
    return jnp.clip(jnp.log(x), -1.0, 1.0)


def branch(x):
    return lax.cond(x[0] > 0, lambda y: jnp.sqrt(y), lambda y: jnp.sqrt(-jnp.exp(y)), x)


F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
F23 = jax.ShapeDtypeStruct((2, 3), jnp.float32)
PROGRAMS = {
    "masked_gradient": (jax.grad(sinc), [F4]),
    "log_mean": (log_mean, [F4]),
    "bf16_overflow": (bf16_difference, [F4]),
    "masked_softmax": (masked_softmax, [F23, jax.ShapeDtypeStruct((2, 3), jnp.bool_)]),
    "zero_times_infinity": (zero_times_infinity, [F23, F23]),
    "norm_gradient": (jax.grad(norm), [F4]),
    "nan_padding": (sum_of_padded, [F4]),
    "nan_to_int": (cast, [F4]),
    "nan_selected": (selected, [F4]),
    "nan_clipped": (clipped, [F4]),
    "nan_in_branch": (branch, [F4]),
}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    for name, (function, arguments) in PROGRAMS.items():
        text = jax.jit(function).lower(*arguments).as_text()
        (folder / f"{name}.mlir").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
