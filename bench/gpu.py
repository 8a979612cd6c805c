#!/usr/bin/env python3
"""The engine gpu on a GPU, beside JAX's GPU backend (cuBLAS, cuDNN, XLA's own kernels) where that can be
imported, in one run.

Usage: bench/gpu.py ASSAY [PROGRAMS] [--small] [--cuda-driver LIB]

PROGRAMS: a folder with program.hlo and inputs.npz in a folder each, timed from inputs on the host to results
on the host. --small: sizes with which the emulated driver ends in seconds; such times say nothing.

Programs but for these end in a slice of one element, so that what is timed lies on the device: inputs are
there after the first run. Times are the smallest of several runs. They are printed, and nothing is asserted.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

DOT = """HloModule dot
ENTRY e {{
  x = {t}[{n},{n}] parameter(0)
  y = {t}[{n},{n}] parameter(1)
  d = {r}[{n},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT s = {r}[1,1] slice(d), slice={{[0:1], [0:1]}}
}}
"""
# Every sum of products is 0: x y - x y.
CANCELLING = """HloModule cancelling
ENTRY e {{
  x = f32[{n},{h}] parameter(0)
  y = f32[{h},{n}] parameter(1)
  m = f32[{n},{h}] negate(x)
  l = f32[{n},{n}] concatenate(x, m), dimensions={{1}}
  r = f32[{n},{n}] concatenate(y, y), dimensions={{0}}
  d = f32[{n},{n}] dot(l, r), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT s = f32[1,1] slice(d), slice={{[0:1], [0:1]}}
}}
"""
UNARY = """HloModule unary
ENTRY e {{
  x = f32[{n}] parameter(0)
  y = f32[{n}] {op}(x)
  ROOT s = f32[1] slice(y), slice={{[0:1]}}
}}
"""
CHAIN_AND_REDUCE = """HloModule chain
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[{n}] parameter(0)
  c = f32[] constant(1.5)
  b = f32[{n}] broadcast(c), dimensions={{}}
  m = f32[{n}] multiply(x, b)
  a = f32[{n}] add(m, x)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(a, z), dimensions={{0}}, to_apply=sum
}}
"""
GATHER = """HloModule gather
ENTRY e {{
  x = f32[{n},64] parameter(0)
  i = s32[{n}] parameter(1)
  g = f32[{n},64] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1,
    slice_sizes={{1,64}}
  ROOT s = f32[1,1] slice(g), slice={{[0:1], [0:1]}}
}}
"""


def device_name():
    if shutil.which("nvidia-smi") is None:
        return "a device without nvidia-smi"
    listed = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False)
    return listed.stdout.strip().splitlines()[
        0] if listed.returncode == 0 else "a device that nvidia-smi does not list"


def import_jax():
    try:
        import jax
    except ImportError:
        return None
    return jax if jax.default_backend() == "gpu" else None


def peer_seconds(jax, function, shapes):
    """The smallest time of 10 calls behind one that compiles; none without a peer."""
    if jax is None or function is None:
        return None
    keys = jax.random.split(jax.random.key(1), len(shapes))
    arguments = []
    for key, (shape, dtype) in zip(keys, shapes):
        if dtype.startswith("int"):
            arguments.append(jax.random.randint(key, shape, 0, 100, dtype="int32").astype(dtype))
        else:
            arguments.append(jax.random.uniform(key, shape).astype(dtype))
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(*arguments))
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        times.append(time.perf_counter() - begin)
    return min(times)


class Bench:
    def __init__(self, flags):
        self.flags = flags
        self.engine = ["--engine", "gpu", "--gpu-min-elements", "0"]
        if flags.cuda_driver:
            self.engine += ["--cuda-driver", flags.cuda_driver]
        self.jax = import_jax()

    def own(self, program, *inputs):
        done = subprocess.run([self.flags.assay, "bench", program, "--json", *inputs, *self.engine],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{program}: {done.stderr}")
        return json.loads(done.stdout)["min_s"]

    def row(self, name, text, work, unit, peer=None, shapes=()):
        """`work`: what a run does, in `unit`: Tflop or GB."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program.hlo"
            program.write_text(text, encoding="utf-8")
            seconds = self.own(program, "--random-inputs", "1")
        other = peer_seconds(self.jax, peer, shapes)
        line = f"{name:38}  {seconds * 1e3:10.3f} ms  {work / seconds:9.1f} {unit}/s"
        if other is not None:
            line += f"  JAX {other * 1e3:10.3f} ms  {other / seconds:6.2f} of its speed"
        print(line, flush=True)

    def run(self):
        small = self.flags.small
        print(f"{device_name()}; peer: {'JAX ' + self.jax.__version__ if self.jax else 'none, as JAX has no GPU here'}")
        dot = None if self.jax is None else lambda x, y: self.jax.lax.dot(x, y, precision="highest")
        wide = None if self.jax is None else lambda x, y: self.jax.lax.dot(
            x, y, preferred_element_type="int32")
        for n in (32,) if small else (2048, 4096, 8192):
            flops = 2e-12 * n**3
            f32, bf16, s8 = ([((n, n), t)] * 2 for t in ("float32", "bfloat16", "int8"))
            self.row(f"dot f32 {n}", DOT.format(n=n, t="f32", r="f32"), flops, "Tflop", dot, f32)
            self.row(f"dot f32 {n}, every sum 0", CANCELLING.format(n=n, h=n // 2), flops, "Tflop", dot, f32)
            self.row(f"dot bf16 {n}", DOT.format(n=n, t="bf16", r="bf16"), flops, "Tflop", dot, bf16)
            self.row(f"dot s8 to s32 {n}", DOT.format(n=n, t="s8", r="s32"), flops, "Tflop", wide, s8)
        n = 1 << (10 if small else 28)
        line = [((n,), "float32")]
        jnp = self.jax.numpy if self.jax else None
        for op, short in (("exponential", "exp"), ("tanh", "tanh"), ("negate", "negative")):
            self.row(f"{op} of 2^{n.bit_length() - 1} f32", UNARY.format(n=n, op=op), 8e-9 * n, "GB",
                     getattr(jnp, short) if jnp else None, line)
        chain = (lambda x: jnp.sum(x * 1.5 + x)) if jnp else None
        self.row(f"chain and sum of 2^{n.bit_length() - 1} f32", CHAIN_AND_REDUCE.format(n=n), 4e-9 * n, "GB",
                 chain, line)
        n = 1000 if small else 10**7
        take = (lambda x, i: x[i]) if jnp else None
        self.row(f"gather of {n} rows of 64", GATHER.format(n=n), 512e-9 * n, "GB", take,
                 [((n, 64), "float32"), ((n,), "int32")])
        for program in sorted(
            pathlib.Path(self.flags.programs).glob("*/program.hlo")) if self.flags.programs else ():
            seconds = self.own(program, "--inputs", program.with_name("inputs.npz"))
            print(f"{program.parent.name:38}  {seconds * 1e3:10.3f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("programs", nargs="?")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--cuda-driver")
    Bench(parser.parse_args()).run()


if __name__ == "__main__":
    main()
