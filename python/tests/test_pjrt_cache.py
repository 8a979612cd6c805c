"""JAX's persistent compilation cache, and programs that are kept:
a second process finds what a first one compiled."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")
import assay.jax_plugin

if not assay.jax_plugin.LIBRARY.exists():
    pytest.skip(f"no plugin: {assay.jax_plugin.LIBRARY} is not there", allow_module_level=True)

# What JAX tells its monitors of the cache, and the results.
START = """
import json, jax, jax.numpy as jnp, numpy as np
from jax._src import monitoring
events = []
monitoring.register_event_listener(lambda name, **_: events.append(name.rsplit("/", 1)[-1]))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
"""
END = """
print(json.dumps([[events.count(name) for name in ("cache_hits", "cache_misses")], np.asarray(found).tolist()]))
"""
FUNCTION = """
with jax.default_device(jax.devices("assay")[0]):
    found = jax.jit(lambda x: jnp.sin(x) * 2)(np.arange(3, dtype=np.float32))
"""
CALLBACK = """
import jax.experimental
with jax.default_device(jax.devices("assay")[0]):
    found = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * FACTOR, x, x))(np.arange(3, dtype=np.float32))
"""
SHARDED = """
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
rows = NamedSharding(Mesh(np.array(jax.devices("assay")[:2]), ("x",)), P("x"))
found = jax.jit(lambda x: x @ x.T, in_shardings=rows, out_shardings=rows)(np.arange(4, dtype=np.float32).reshape(2, 2))
"""


def run(code, folder, **environment):
    done = subprocess.run([sys.executable, "-c", START + code + END], capture_output=True, text=True,
                          check=False,
                          env={**os.environ, "JAX_COMPILATION_CACHE_DIR": str(folder), "ASSAY_DEVICES": "2",
                               "JAX_PLATFORMS": "assay,cpu", **environment})
    assert done.returncode == 0, done.stderr
    (hits, misses), found = json.loads(done.stdout.splitlines()[-1])
    return hits, misses, found


@pytest.mark.parametrize("code", [FUNCTION, SHARDED], ids=["function", "sharded"])
def test_a_second_process_finds_the_program(code, tmp_path):
    first, second = run(code, tmp_path), run(code, tmp_path)
    assert first[0] == 0 and first[1] > 0
    assert second[0] == first[1] and second[1] == 0
    assert first[2] == second[2]


def test_another_engine_has_programs_of_its_own(tmp_path):
    run(FUNCTION, tmp_path)
    hits, misses, _ = run(FUNCTION, tmp_path, ASSAY_ENGINE="fast")
    assert hits == 0 and misses > 0


def test_a_program_with_a_callback_is_not_kept(tmp_path):
    assert run(CALLBACK.replace("FACTOR", "2"), tmp_path)[2] == [0, 2, 4]
    hits, _, found = run(CALLBACK.replace("FACTOR", "3"), tmp_path)
    assert found == [0, 3, 6] and hits == 0
