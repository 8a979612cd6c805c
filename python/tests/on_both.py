"""A program on the plugin's devices and on XLA:CPU's, for the tests of the plugin."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P  # noqa: E402
import assay.jax_plugin  # noqa: E402

if not assay.jax_plugin.LIBRARY.exists():
    pytest.skip(f"no plugin: {assay.jax_plugin.LIBRARY} is not there", allow_module_level=True)
ASSAY, CPU = jax.devices("assay"), jax.devices("cpu")
if len(ASSAY) < 4 or len(CPU) < 4:
    pytest.skip("JAX was asked for its devices before conftest.py: want 4 of each", allow_module_level=True)
ASSAY, CPU = ASSAY[:4], CPU[:4]


def mesh(devices, sizes=(2, 2), explicit=False):
    names = ("x", "y", "z")[:len(sizes)]
    kind = AxisType.Explicit if explicit else AxisType.Auto
    return Mesh(np.array(devices[:int(np.prod(sizes))]).reshape(sizes), names,
                axis_types=(kind,) * len(sizes))


def iota(*sizes):
    return np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)


def shards(array):
    """What each device holds."""
    return [np.asarray(shard.data)
            for shard in sorted(array.addressable_shards, key=lambda shard: shard.device.id)]


def check_both(program, rtol=1e-5):
    """program(devices) gives arrays and other values: those of the plugin's devices
    are those of XLA:CPU's."""
    found, wanted = (jax.tree.leaves(program(devices)) for devices in (ASSAY, CPU))
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted):
        if isinstance(w, (np.ndarray, jax.Array)):
            f, w = np.asarray(f), np.asarray(w)
            assert (f.dtype, f.shape) == (w.dtype, w.shape)
            np.testing.assert_allclose(f, w, rtol=rtol, atol=rtol)
        else:
            assert f == w
