#!/usr/bin/env python3
"""Times Assay's engines, XLA:CPU and NumPy side by side on the same programs and inputs.

Usage: python3 bench/peers [--assay PATH] [--engines exact,reference] [--threads N] [--rounds N] [--markdown]
[PART...]

Each round runs every peer once, in turn, so that a noisy machine disturbs all of them alike; the best time of
each counts. The figure of an engine is its time over XLA:CPU's steady time: 2 means twice as slow. The first
lines name the machine and its instruction sets, the last one the geometric mean of each column over the lines
that have a figure. PARTs select programs by name. Needs jax; run it in the root of the source tree after
building the release preset.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class Xla:
    """One program, compiled by XLA:CPU, with its arguments on the device."""

    def __init__(self, program):
        import jax
        import jax._src.lax.linalg  # registers LAPACK's functions, which programs call by name
        from jax._src.lib import xla_client
        from jaxlib import _hlo, _jax, lapack

        lapack._lapack.initialize()

        devices = jax.devices("cpu")[:1]
        proto = _hlo.XlaComputation(_hlo.hlo_module_from_text(program.text).as_serialized_hlo_module_proto())
        self.executable = devices[0].client.compile_and_load(
            _jax.mlir.xla_computation_to_mlir_module(proto), _jax.DeviceList(tuple(devices)),
            xla_client.CompileOptions())
        self.arguments = [jax.device_put(array, devices[0]) for array in program.inputs]

    def seconds(self):
        start = time.perf_counter()
        for result in self.executable.execute_sharded(self.arguments).disassemble_into_single_device_arrays():
            result[0].block_until_ready()
        return time.perf_counter() - start


def steady(run, budget=0.5):
    """The best of up to 20 runs within `budget` seconds."""
    best, end = run(), time.perf_counter() + budget
    for _ in range(19):
        if time.perf_counter() > end:
            break
        best = min(best, run())
    return best


def numpy_seconds(program):
    start = time.perf_counter()
    program.numpy(*program.inputs)
    return time.perf_counter() - start


def assay_seconds(options, engine, program, inputs):
    command = [options.assay, "bench", program, "--inputs", inputs, "--json", "--engine", *engine.split(),
               "--jobs", str(options.threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)["min_s"]


def measure(program, options):
    """Seconds by peer."""
    import numpy

    peers = {}
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = os.path.join(folder, "program.hlo"), os.path.join(folder, "inputs.npz")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program.text)
        numpy.savez(inputs, **{f"arg{k}": array for k, array in enumerate(program.inputs)})
        xla = Xla(program)
        peers["XLA"] = lambda: steady(xla.seconds)
        for engine in options.engines.split(","):
            if engine != "reference" or program.reference:
                peers[engine] = lambda engine=engine: assay_seconds(options, engine, path, inputs)
        if program.numpy is not None:
            peers["NumPy"] = lambda: steady(lambda: numpy_seconds(program))
        best = {}
        for _ in range(options.rounds):
            for name, run in peers.items():
                best[name] = min(run(), best.get(name, float("inf")))
    return best


# What decides which kernels run, of Assay's and of its peers'.
INSTRUCTION_SETS = ("sse4_1", "avx", "f16c", "fma", "avx2", "bmi2", "avx512f", "avx512bw", "avx512dq",
                    "avx512vl", "avx512_vnni",
                    "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16")


def machine():
    """The processor's name and those of its instruction sets that matter here."""
    fields = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition(":")
                fields.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    flags = fields.get("flags", "").split()
    name = fields.get("model name", "unknown processor")
    if "cpu family" in fields:
        name += f" (family {fields['cpu family']}, model {fields.get('model', '?')})"
    return f"{name}, {os.cpu_count()} CPUs", " ".join(flag for flag in INSTRUCTION_SETS
                                                      if flag in flags) or "unknown"


def geometric_mean(ratios):
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default="build/release/tools/assay")
    parser.add_argument("--engines", default="exact,reference")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", action="store_true", help="rows of a Markdown table")
    parser.add_argument("names", nargs="*", help="parts of program names; default: all")
    options = parser.parse_args()
    os.environ.setdefault("NPROC", str(options.threads))  # the size of XLA's thread pool
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(options.threads))
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax_programs
    import programs

    processor, sets = machine()
    print(f"processor: {processor}\ninstruction sets: {sets}\nthreads: {options.threads}\n")
    columns = [*options.engines.split(","), "NumPy"]
    separator = " | " if options.markdown else "  "
    left, right = ("| ", " |") if options.markdown else ("", "")
    print(left + separator.join(
        [f"{'program':48}", f"{'XLA ms':>9}", *(f"{name + ' / XLA':>15}" for name in columns)]) +
          right)
    if options.markdown:
        print("|---|" + "---:|" * (1 + len(columns)))
    found = {name: [] for name in columns}
    for program in [*programs.all_programs("golden/programs"), *jax_programs.all_programs()]:
        if options.names and not any(part in program.name for part in options.names):
            continue
        best = measure(program, options)
        ratios = [f"{best[name] / best['XLA']:15.2f}" if name in best else f"{'':15}" for name in columns]
        for name in columns:
            if name in best:
                found[name].append(best[name] / best["XLA"])
        print(left + separator.join([f"{program.name:48}", f"{best['XLA'] * 1e3:9.3f}", *ratios]) + right,
              flush=True)
    means = [f"{geometric_mean(found[name]):15.2f}" if found[name] else f"{'':15}" for name in columns]
    print(left + separator.join([f"{'geometric mean':48}", f"{'':9}", *means]) + right)


if __name__ == "__main__":
    main()
