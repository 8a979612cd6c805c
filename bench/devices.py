#!/usr/bin/env python3
"""What a grid of devices costs: bench/devices.py ASSAY [PROGRAMS]

  - an all-reduce of f32[2^20] over 8 devices, over the reduce of the same 8 x 2^20 elements on one;
  - a program without collectives on one device, and its share on each of 8 (all work is
    done on the same cores);
  - 64 devices of each program below PROGRAMS (program.hlo and inputs.npz in a folder each), as `assay run`
    from start to end.

Times are the smallest of several interleaved runs. They are printed, and nothing is asserted."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n"
ALL_REDUCE = SUM + """ENTRY main {
  x = f32[1048576] parameter(0)
  ROOT r = f32[1048576] all-reduce(x), to_apply=sum, replica_groups={{0,1,2,3,4,5,6,7}}
}
"""
REDUCE = SUM + """ENTRY main {
  x = f32[8,1048576] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[1048576] reduce(x, zero), dimensions={0}, to_apply=sum
}
"""
CHAIN = """ENTRY main {
  x = f32[1024,1024] parameter(0)
  y = f32[1024,1024] tanh(x)
  z = f32[1024,1024] multiply(y, x)
  ROOT d = f32[1024,1024] dot(z, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def bench(assay, path, *flags):
    done = subprocess.run([assay, "bench", path, "--random-inputs", "1", "--json", *flags],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["min_s"]


def smallest(rounds, *measures):
    """The smallest time of each of several measures, taken in turn."""
    return [min(times) for times in zip(*[[measure() for measure in measures] for _ in range(rounds)])]


def main():
    assay = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, text in (("all_reduce", ALL_REDUCE), ("reduce", REDUCE), ("chain", CHAIN)):
            files[name] = pathlib.Path(folder) / f"{name}.hlo"
            files[name].write_text(f"HloModule {name}\n\n{text}")
        reduced, together = smallest(5, lambda: bench(assay, files["reduce"]),
                                     lambda: bench(assay, files["all_reduce"], "--replicas", "8"))
        print(f"all-reduce of f32[2^20] over 8 devices: {together * 1e3:.2f} ms, {together / reduced:.2f} x the reduce of the same data")
        alone, eight = smallest(3, lambda: bench(assay, files["chain"]),
                                lambda: bench(assay, files["chain"], "--replicas", "8"))
        print(f"no collective: {alone * 1e3:.2f} ms on one device, {eight / 8 * 1e3:.2f} ms each on 8: {eight / 8 / alone:.3f} x")
    for folder in sorted(pathlib.Path(sys.argv[2]).iterdir()) if len(sys.argv) > 2 else []:
        program, inputs = folder / "program.hlo", folder / "inputs.npz"
        if not program.exists():
            continue
        best = float("inf")
        for _ in range(3):
            begin = time.perf_counter()
            done = subprocess.run(
                [assay, "run", program, "--inputs", inputs, "--replicas", "64", "--output", "/dev/null"],
                                  capture_output=True, text=True)
            best = min(best, time.perf_counter() - begin)
        failed = "" if done.returncode == 0 else "  " + done.stderr.splitlines()[0]
        print(f"{folder.name}, 64 devices: {best * 1e3:.0f} ms{failed}")


main()
