#!/usr/bin/env python3
"""JAX's own cases of its primitives, by the plugin and by XLA:CPU.

Usage: tests/differential/pjrt_harnesses.py [--every N] [--part I/N] [NAME...]
(python: one with jax, absl-py and the wheel)

`jax._src.internal_test_util.test_harnesses` has some 5,600 calls, written by JAX's authors for its exporters:
each primitive with its types, shapes and parameters. Both devices get the same arguments. Integers and
predicates have to be equal, types and shapes as well, NaNs in the same places; floats agree within 64 units
of roundoff of the element and of a twentieth of the largest one, which XLA:CPU's sums and functions keep.
What XLA:CPU refuses is left out, and so are:

  - decompositions, whose factors are as far apart as their condition lets them be: lapack_programs.py looks
    at residuals;
  - sorts that are not stable, of several arrays: which of two equal keys comes first is the backend's
    business.
"""

import argparse
import collections
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu,assay"

import jax
import numpy as np
from jax._src.internal_test_util import test_harnesses

DECOMPOSITIONS = {"cholesky", "eig", "eigh", "qr", "svd"}
# What docs/jax.md lists with its reason.
REFUSED = {"clamp_dtypes_min_complex64_operand_complex64_2_3_max_complex64_"}
UNITS = 64


def is_left_out(harness):
    if harness.group_name in DECOMPOSITIONS:
        return True
    return harness.group_name == "sort" and not harness.params["is_stable"] and harness.params[
        "num_arrays"] > 1


def run(harness, device):
    """The leaves of the result, as NumPy's; or the error."""
    with jax.default_device(device):
        arguments = harness.dyn_args_maker(np.random.RandomState(42))
        arguments = jax.tree.map(lambda x: jax.device_put(x, device) if hasattr(x, "dtype") else x, arguments)
        try:
            leaves = jax.tree.leaves(jax.jit(harness.dyn_fun)(*arguments))
            return [np.asarray(jax.random.key_data(x) if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)
                               else x)
                    for x in leaves]
        except Exception as error:  # of any kind: both devices' are compared
            return error


def difference(wanted, got):
    """What is wrong with an array; None: nothing."""
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return f"{got.dtype}{got.shape}, XLA:CPU has {wanted.dtype}{wanted.shape}"
    if not jax.numpy.issubdtype(wanted.dtype, np.inexact):
        count = np.sum(wanted != got)
        return f"{count} of {wanted.size} differ" if count else None
    wide = np.complex128 if jax.numpy.issubdtype(wanted.dtype, np.complexfloating) else np.float64
    unit = float(jax.numpy.finfo(wanted.dtype).eps)
    x, y = wanted.astype(wide).ravel(), got.astype(wide).ravel()
    if np.any(np.isnan(x) != np.isnan(y)):
        return f"{np.sum(np.isnan(x) != np.isnan(y))} of {x.size} are NaN on one side"
    apart = ~((x == y) | np.isnan(x))
    if not np.any(apart):
        return None
    size = np.where(np.isfinite(x), np.abs(x), 0)
    with np.errstate(invalid="ignore"):
        error = np.abs(x - y)[apart] / (UNITS * unit * (size + 0.05 * np.max(size))[apart]
                                        + np.finfo(np.float64).tiny)
    worst = np.argmax(error)
    return None if error[worst] <= 1 else f"{y[apart][worst]}, XLA:CPU has {x[apart][worst]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--every", type=int, default=1, help="one of so many")
    parser.add_argument("--part", default="0/1", help="I/N: each N-th from the I-th on")
    parser.add_argument("names", nargs="*", help="parts of names")
    flags = parser.parse_args()
    first, parts = map(int, flags.part.split("/"))
    cpu, assay = jax.devices("cpu")[0], jax.devices("assay")[0]
    counts, failed, start = collections.Counter(), 0, time.time()
    for number, harness in enumerate(test_harnesses.all_harnesses):
        if number % flags.every or number // flags.every % parts != first:
            continue
        if flags.names and not any(name in harness.fullname for name in flags.names):
            continue
        if is_left_out(harness):
            counts["left out"] += 1
            continue
        wanted = run(harness, cpu)
        got = run(harness, assay)
        if isinstance(wanted, Exception):
            counts["refused by XLA:CPU"] += 1
            continue
        if isinstance(got, Exception):
            wrong = f"{type(got).__name__}: {got}".splitlines()[0]
            if harness.fullname in REFUSED:
                counts["refused"] += 1
                continue
        elif len(got) != len(wanted):
            wrong = f"{len(got)} results, XLA:CPU has {len(wanted)}"
        else:
            wrong = next(filter(None, map(difference, wanted, got)), None)
        counts["equal" if wrong is None else "wrong"] += 1
        if wrong is not None:
            failed += 1
            print(f"{harness.fullname}: {wrong}", flush=True)
    text = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{text}; {time.time() - start:.0f} s")
    return 1 if failed or not counts["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
