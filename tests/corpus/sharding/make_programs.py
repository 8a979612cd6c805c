#!/usr/bin/env python3
"""Writes the programs of this folder: what JAX emits for sharded functions on four devices, in each form.

NAME.mlir is JAX's StableHLO, NAME.mlirbc the portable artifact of its export, NAME.hlo what XLA makes of it.
NAME.canonical.mlir is NAME.mlir as MLIR prints it without what Assay does not keep
(locations, jax.result_info, stablehlo.mesh): Assay's own StableHLO of the program, printed by MLIR, must be
the same text.

Usage: tests/corpus/sharding/make_programs.py        (with jax 0.10.2)
"""

import os
import pathlib
import re

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

# Programs hold the names of source files, not where they lay.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

FOLDER = pathlib.Path(__file__).parent
GRID = jax.make_mesh((2, 2), ("r", "c"), axis_types=(AxisType.Auto,) * 2)
RING = jax.make_mesh((4,), ("i",), axis_types=(AxisType.Auto,))
EXPLICIT = jax.make_mesh((2, 2), ("r", "c"), axis_types=(AxisType.Explicit,) * 2)
X = jnp.arange(16, dtype=jnp.int32).reshape(4, 4)
F = jnp.arange(16, dtype=jnp.float32).reshape(4, 4)


def on(mesh, *axes):
    return NamedSharding(mesh, P(*axes))


def constrained(x, y):
    return jax.lax.with_sharding_constraint(x + y, on(GRID, "c", "r")), x


def open_dimensions(x):
    return jax.lax.with_sharding_constraint(x * 2, on(GRID, "r", P.UNCONSTRAINED))


def row_sums(x):
    return jnp.sum(x, axis=1) + 100 * jax.lax.axis_index("r")


def ring(x):
    return jax.lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 3)]) + 10 * jax.lax.axis_index("i")


def loop(x):
    return jax.lax.fori_loop(0, 3, lambda i, v: jax.lax.ppermute(v, "i", [(j, (j + 1) % 4) for j in range(4)])
                             + i, x)


def shard_map(function, mesh, in_specs, out_specs, **options):
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


def programs():
    yield "constrained", jax.jit(
        constrained,
        in_shardings=(on(GRID, "r", "c"), on(GRID, "r")),
        out_shardings=(on(GRID, ("c", "r"), None), on(GRID, "r", "c")),
    ), (X, X)
    yield "open_dimensions", jax.jit(open_dimensions, in_shardings=on(GRID, "r")), (X,)
    yield "psum", jax.jit(
        shard_map(
            lambda a, b: (jax.lax.psum(a, "r"), b * jax.lax.axis_index("r")),
            GRID,
            (P("r", "c"), P("r")),
            (P(None, "c"), P("r")),
        )
    ), (X, X)
    yield "ring", jax.jit(shard_map(ring, RING, (P("i"),), P("i"))), (jnp.arange(8, dtype=jnp.int32),)
    yield "loop", jax.jit(shard_map(loop, RING, (P("i"),), P("i"))), (jnp.arange(8, dtype=jnp.int32),)
    yield "partly_manual", jax.jit(
        shard_map(lambda x: jax.lax.psum(row_sums(x), "r"), GRID, (P("r"),), P(None), axis_names={"r"})
    ), (X,)
    yield "gathered", jax.jit(
        shard_map(
            lambda a: jax.lax.psum_scatter(jax.lax.all_gather(a, "c", axis=1, tiled=True), "r", tiled=True),
            GRID,
            (P("r", "c"),),
            P("r"),
            check_vma=False,
        )
    ), (F,)
    twice = shard_map(lambda a: jax.lax.psum(a, "r"), GRID, (P("r", "c"),), P(None, "c"))
    yield "two_regions", jax.jit(lambda x: twice(twice(x) + 1)), (X,)
    inner = shard_map(lambda a: jax.lax.psum(a, "c"), None, (P(None, "c"),), P(), axis_names={"c"})
    yield "nested", jax.jit(
        shard_map(lambda a: jax.lax.psum(inner(a) * 2, "r"), GRID, (P("r"),), P(), axis_names={"r"})
    ), (X,)
    yield "no_results_of_their_own", jax.jit(
        shard_map(lambda: jax.lax.axis_index("i") * jnp.ones((2,), jnp.int32), RING, (), P("i"))
    ), ()
    yield "rule", jax.jit(lambda a: jnp.linalg.cholesky(a @ a.T + 4 * jnp.eye(4)),
                          in_shardings=on(GRID)), (F,)
    yield "all_to_all", jax.jit(
        shard_map(lambda a: jax.lax.all_to_all(a, "i", 1, 0, tiled=True), RING, (P("i"),), P(None, "i"))
    ), (X,)
    with jax.set_mesh(EXPLICIT):
        sharded = jax.device_put(F, NamedSharding(EXPLICIT, P("r", "c")))
        yield "explicit", jax.jit(lambda x: jnp.sin(x) * 2 + jnp.sum(x)), (
            jax.device_put(F, NamedSharding(EXPLICIT, P("r", None))),
        )
        yield "unreduced", jax.jit(
            lambda x, y: jax.sharding.reshard(jnp.einsum("ab,bc->ac", x, y, out_sharding=P(unreduced={"c"})),
                                              P())
        ), (
            jax.device_put(F, NamedSharding(EXPLICIT, P(None, "c"))),
            jax.device_put(F, NamedSharding(EXPLICIT, P("c", None))),
        )


def canonical(text):
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        module.operation.verify()
        printed = module.operation.get_asm(enable_debug_info=False)
    printed = re.sub(r" \{stablehlo\.mesh = \{.*\}\}$", "", printed, flags=re.M)
    printed = re.sub(r'jax\.result_info = "[^"]*"(, )?', "", printed)
    return re.sub(r"(tensor<[^>]*>) \{\}", r"\1", printed)


def write(name, function, arguments):
    lowered = function.lower(*arguments)
    text = lowered.as_text()
    (FOLDER / f"{name}.mlir").write_text(text)
    (FOLDER / f"{name}.hlo").write_text(lowered.as_text(dialect="hlo"))
    (FOLDER / f"{name}.canonical.mlir").write_text(canonical(text))
    exported = jax.export.export(function)(*arguments)
    (FOLDER / f"{name}.mlirbc").write_bytes(exported.mlir_module_serialized)


def main():
    for name, function, arguments in programs():
        write(name, function, arguments)
    jax.config.update("jax_use_shardy_partitioner", False)
    for name, function, arguments in programs():
        if name not in ("constrained", "psum", "partly_manual"):
            continue
        lowered = function.lower(*arguments)
        (FOLDER / f"gspmd_{name}.mlir").write_text(lowered.as_text())
        (FOLDER / f"gspmd_{name}.hlo").write_text(lowered.as_text(dialect="hlo"))


if __name__ == "__main__":
    main()
