#!/usr/bin/env python3
"""Compares the exact engine with XLA:CPU on the same HLO text, side by side.

Usage: bench/peers.py [--assay PATH] [--threads N] [--rounds N] [NAME...]

Runs `assay bench PROGRAM --json` and XLA:CPU (jaxlib, in this process) alternately and prints, for each program, the
best time of both and their ratio: 0.5 means that Assay has half of XLA's throughput. Needs jax.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

SUM = "add { a = TYPE[] parameter(0)\n b = TYPE[] parameter(1)\n ROOT c = TYPE[] add(a, b) }\n"


def unary(op, kind, n):
    return f"HloModule {op}\nENTRY e {{\n x = {kind}[{n}] parameter(0)\n ROOT y = {kind}[{n}] {op}(x)\n}}\n"


def dot(kind, n, result):
    return (f"HloModule dot\nENTRY e {{\n x = {kind}[{n},{n}] parameter(0)\n y = {kind}[{n},{n}] parameter(1)\n"
            f" ROOT z = {result}[{n},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n")


def reduce_add(kind, n):
    return (f"HloModule sum\n{SUM.replace('TYPE', kind)}ENTRY e {{\n x = {kind}[{n}] parameter(0)\n"
            f" i = {kind}[] constant(0)\n ROOT y = {kind}[] reduce(x, i), dimensions={{0}}, to_apply=add\n}}\n")


def convolution(kind):
    return (f"HloModule conv\nENTRY e {{\n x = {kind}[8,56,56,64] parameter(0)\n k = {kind}[3,3,64,64] parameter(1)\n"
            f" ROOT z = {kind}[8,56,56,64] convolution(x, k), window={{size=3x3 pad=1_1x1_1}}, "
            "dim_labels=b01f_01io->b01f\n}\n")


def cumulative_sum(n):
    return (f"HloModule cumsum\n{SUM.replace('TYPE', 'f32')}ENTRY e {{\n x = f32[{n}] parameter(0)\n"
            f" i = f32[] constant(0)\n ROOT y = f32[{n}] reduce-window(x, i), window={{size={n} pad={n - 1}_0}}, "
            "to_apply=add\n}\n")


PROGRAMS = {
    "exp f32 2^24": unary("exponential", "f32", 2**24),
    "tanh f32 2^24": unary("tanh", "f32", 2**24),
    "log f32 2^24": unary("log", "f32", 2**24),
    "erf f32 2^24": unary("erf", "f32", 2**24),
    "exp f64 2^22": unary("exponential", "f64", 2**22),
    "dot f32 1024": dot("f32", 1024, "f32"),
    "dot bf16 1024": dot("bf16", 1024, "bf16"),
    "dot s8 1024": dot("s8", 1024, "s32"),
    "dot f64 512": dot("f64", 512, "f64"),
    "convolution f32": convolution("f32"),
    "reduce-add f32 2^24": reduce_add("f32", 2**24),
    "cumulative sum f32 2^20": cumulative_sum(2**20),
}


class Xla:
    """One compiled program and random arguments."""

    def __init__(self, text):
        import jax
        import ml_dtypes
        import numpy
        from jax._src.lib import xla_client
        from jaxlib import _hlo, _jax

        devices = jax.devices("cpu")[:1]
        proto = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        self.program = devices[0].client.compile_and_load(
            _jax.mlir.xla_computation_to_mlir_module(proto), _jax.DeviceList(tuple(devices)), xla_client.CompileOptions())
        random = numpy.random.default_rng(1)
        dtypes = {"f32": numpy.float32, "f64": numpy.float64, "s8": numpy.int8, "bf16": ml_dtypes.bfloat16}
        self.arrays = []
        for line in text.splitlines():
            if not line.startswith(" ") or " parameter(" not in line or "[]" in line:
                continue
            kind, sizes = line.split(" = ")[1].split("]")[0].split("[")
            shape = [int(size) for size in sizes.split(",")]
            if kind == "s8":
                values = random.integers(-128, 128, shape)
            else:
                values = random.standard_normal(shape)
                if " log(" in text:
                    values = abs(values)
            self.arrays.append(values.astype(dtypes[kind]))
        self.arguments = [jax.device_put(array, devices[0]) for array in self.arrays]

    def seconds(self):
        start = time.perf_counter()
        for result in self.program.execute_sharded(self.arguments).disassemble_into_single_device_arrays():
            result[0].block_until_ready()
        return time.perf_counter() - start


def assay_seconds(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)["min_s"]


def compare(text, options):
    """Best seconds of Assay and of XLA on equal arguments, in alternation."""
    import numpy

    xla = Xla(text)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        program, inputs = os.path.join(folder, "program.hlo"), os.path.join(folder, "inputs.npz")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        numpy.savez(inputs, **{f"arg{k}": array for k, array in enumerate(xla.arrays)})
        xla.seconds()
        for _ in range(options.rounds):
            ours.append(assay_seconds([options.assay, "bench", "--jobs", str(options.threads), program, "--inputs",
                                       inputs, "--json"]))
            theirs += [xla.seconds() for _ in range(5)]
    return min(ours), min(theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default="build/release/tools/assay")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("names", nargs="*", help="parts of program names; default: all")
    options = parser.parse_args()
    os.environ.setdefault("NPROC", str(options.threads))  # the size of XLA's thread pool
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    jax.config.update("jax_enable_x64", True)
    print(f"{'program':26} {'assay ms':>10} {'XLA ms':>10} {'XLA / assay':>12}")
    for name, text in PROGRAMS.items():
        if options.names and not any(part in name for part in options.names):
            continue
        ours, theirs = compare(text, options)
        print(f"{name:26} {ours * 1e3:10.3f} {theirs * 1e3:10.3f} {theirs / ours:12.3f}", flush=True)


if __name__ == "__main__":
    main()
