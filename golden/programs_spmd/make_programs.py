#!/usr/bin/env python3
"""Writes the partitioned programs of this folder: JAX functions, partitioned by JAX and XLA over 4 or 8
devices.

Needs `pip install jax`. For each function NAME it writes NAME/
  partitioned.hlo   HLO text of one device's program, as XLA:CPU's partitioner made it
  whole.hlo         HLO text of the program before partitioning
  whole.mlir        StableHLO text, with shardings and manual regions in the sdy dialect
  whole.mlirbc      StableHLO portable artifact of the same
  inputs.npz        arg0, arg1, ...: whole values
"""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import pathlib  # noqa: E402
import re  # noqa: E402

import jax  # noqa: E402
import jax.export  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

# Programs hold the names of source files, not where they lay.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

OUT = pathlib.Path(__file__).parent
R = np.random.default_rng(20261123)
PROGRAMS = {}


def f32(*shape):
    return R.standard_normal(shape).astype(np.float32)


def mesh_of(**axes):
    count = int(np.prod(list(axes.values())))
    kinds = (jax.sharding.AxisType.Auto,) * len(axes)
    return jax.make_mesh(tuple(axes.values()), tuple(axes), devices=jax.devices()[:count], axis_types=kinds)


def program(mesh, in_specs, out_specs, *args):
    """in_specs and out_specs lay out arguments and results over the mesh."""
    def register(f):
        def layout(specs):
            return jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs,
                                is_leaf=lambda x: isinstance(x, P))
        PROGRAMS[f.__name__] = (jax.jit(f, in_shardings=layout(in_specs), out_shardings=layout(out_specs)),
                                args)
        return f
    return register


DATA = mesh_of(data=4)


@program(DATA, (P(), P(), P("data"), P("data")), (P(), P(), P()), f32(8, 16) / 3, f32(16, 4) / 4, f32(32, 8),
         f32(32, 4))
def data_parallel_mlp(w1, w2, x, y):
    def loss(w1, w2):
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)
    value, (g1, g2) = jax.value_and_grad(loss, argnums=(0, 1))(w1, w2)
    return value, w1 - 0.1 * g1, w2 - 0.1 * g2


@program(mesh_of(data=2, model=4), (P("data"), P(None, "model"), P("model")), P("data"), f32(8, 16),
         f32(16, 32) / 4, f32(32, 16) / 6)
def tensor_parallel_matmuls(x, w1, w2):
    return jax.nn.relu(x @ w1) @ w2


HEADS = mesh_of(data=2, heads=2)


@program(HEADS, (P("data", "heads"), P("data", "heads"), P("data", "heads")), P("data", "heads"),
         f32(2, 4, 8, 16), f32(2, 2, 8, 16), f32(2, 2, 8, 16))
def grouped_query_attention(q, k, v):
    """Four heads of queries share two of keys and values."""
    k, v = jnp.repeat(k, 2, axis=1), jnp.repeat(v, 2, axis=1)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4
    scores = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)


RING = mesh_of(ring=4)


@program(RING, (P("ring"), P("ring"), P("ring")), P("ring"), f32(16, 8), f32(16, 8), f32(16, 8))
def ring_attention(q, k, v):
    """Blocks of keys and values travel round the ring; sums are put together as
    they come (online softmax)."""
    def block(q, k, v):
        def turn(_, state):
            k, v, top, total, out = state
            scores = q @ k.T / 3
            new_top = jnp.maximum(top, scores.max(-1))
            weights = jnp.exp(scores - new_top[:, None])
            scale = jnp.exp(top - new_top)
            ring = [(i, (i + 1) % 4) for i in range(4)]
            return (lax.ppermute(k, "ring", ring), lax.ppermute(v, "ring", ring), new_top,
                    total * scale + weights.sum(-1), out * scale[:, None] + weights @ v)
        start = (k, v, q[:, 0] * 0 - jnp.inf, q[:, 0] * 0, q * 0)
        _, _, _, total, out = lax.fori_loop(0, 4, turn, start)
        return out / total[:, None]
    return jax.shard_map(block, mesh=RING, in_specs=P("ring"), out_specs=P("ring"))(q, k, v)


EXPERTS = mesh_of(expert=8)


@program(EXPERTS, (P("expert"), P("expert")), P("expert"), f32(64, 8), f32(8, 8, 8) / 3)
def expert_layer(x, w):
    """Each device has one expert. Tokens are dealt out in turn, go to their expert and
    come back by all-to-all."""
    def block(x, w):
        sent = lax.all_to_all(x.reshape(8, 1, 8), "expert", 0, 0)
        back = lax.all_to_all(jax.nn.relu(sent @ w[0]), "expert", 0, 0)
        return back.reshape(x.shape) + x
    return jax.shard_map(block, mesh=EXPERTS, in_specs=P("expert"), out_specs=P("expert"))(x, w)


STAGES = mesh_of(stage=4)


@program(STAGES, (P(), P("stage")), P(), f32(6, 2, 8), f32(4, 8, 8) / 3)
def pipeline(x, w):
    """Six microbatches go through four stages, one behind the other;
    what leaves the last stage is summed over all."""
    def block(x, w):
        stage = lax.axis_index("stage")

        def turn(t, state):
            here, out = state
            fed = jnp.where(stage == 0, lax.dynamic_index_in_dim(x, jnp.minimum(t, 5), keepdims=False), here)
            done = jnp.tanh(fed @ w[0])
            at = jnp.clip(t - 3, 0, 5)
            kept = jnp.where((stage == 3) & (t >= 3), done, lax.dynamic_index_in_dim(out, at, keepdims=False))
            out = lax.dynamic_update_index_in_dim(out, kept, at, 0)
            return lax.ppermute(done, "stage", [(0, 1), (1, 2), (2, 3)]), out
        zeros = lax.pcast(jnp.zeros_like(x), "stage", to="varying")
        _, out = lax.fori_loop(0, 9, turn, (zeros[0], zeros))
        return lax.psum(out, "stage")
    return jax.shard_map(block, mesh=STAGES, in_specs=(P(), P("stage")), out_specs=P())(x, w)


def without_places(text):
    """No file names, stack frames or locations."""
    text = re.sub(r"\n(FileNames|FunctionNames|FileLocations|StackFrames)\n(?:.+\n)+", "", text)
    return re.sub(r",? ?metadata=\{[^{}]*\}", "", text)


def write(name, function, args):
    folder = OUT / name
    folder.mkdir(exist_ok=True)
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
    lowered = function.lower(*shapes)
    (folder / "whole.mlir").write_text(lowered.as_text())
    (folder / "whole.hlo").write_text(without_places(lowered.as_text(dialect="hlo")))
    (folder / "partitioned.hlo").write_text(without_places(lowered.compile().as_text()))
    (folder / "whole.mlirbc").write_bytes(jax.export.export(function)(*shapes).mlir_module_serialized)
    np.savez(folder / "inputs.npz", **{f"arg{i}": a for i, a in enumerate(args)})


if __name__ == "__main__":
    for name, (function, args) in PROGRAMS.items():
        write(name, function, args)
        print(name)
