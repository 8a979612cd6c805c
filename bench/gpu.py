#!/usr/bin/env python3
"""The engines gpu and gpu-fast on a GPU, beside JAX, torch (cuBLAS) and CUB, as far as they are there, in one
run: prints one table, and then which of the speeds that are wanted were reached.

Usage: bench/gpu.py ASSAY [PROGRAMS] [--small] [--cuda-driver LIB] [--only TEXT]

PROGRAMS: a folder with program.hlo and inputs.npz in a folder each, timed from inputs on the host to
results on the host (golden/programs). --small: sizes with which the emulated driver ends in seconds; such
times say nothing. --only: cases whose names contain the text.

Times are those of the host, from a call to the end of the device's work, the median of many runs; those
behind "device" are the device's own, from the start of the first kernel to the end of the last one, of
other runs. Speeds are compared by the device's times where both have them, else by the host's. The first
case says what a call with one small step costs. Programs but for the real ones end in a slice of one
element, so that what is timed lies on the device: inputs are there after the first run. Indices are the
same for all, and so are sort keys; other inputs are random numbers of each peer's own, those of dots of
f32 and f64 normal ones. CUB's keys and terms are uniform, and its sorts and sums those of bench/cub_peer.cu.
The rate of a copy is that of 1 GiB on the device, bytes read and written. Ends with 1 where a speed that is
wanted was missed.
"""
import argparse
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: there is no numpy")
    sys.exit(77)

import gpu_peers

PRELUDE = """HloModule m
add {{
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT s = {t}[] add(a, b)
}}
most {{
  a = {t}[] parameter(0)
  b = {t}[] parameter(1)
  ROOT s = {t}[] maximum(a, b)
}}
less {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
}}
ENTRY e {{
"""
PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "golden/programs"
# From inputs on the host to results on the host, in ms.
WANTED_OF_PROGRAMS = {"gru_scan": 0.6, "tiny_gpt_train_step": 1.0}
BYTES = {"f32": 4, "f64": 8, "bf16": 2, "s8": 1, "s32": 4}


def device_name():
    if shutil.which("nvidia-smi") is None:
        return "a device without nvidia-smi"
    listed = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False)
    return listed.stdout.strip().splitlines()[
        0] if listed.returncode == 0 else "a device that nvidia-smi does not list"


def sizes_text(sizes):
    return "[" + ",".join(str(size) for size in sizes) + "]"


def one_element(value, shape, sizes):
    """The root: the first element of a value."""
    bounds = ", ".join("[0:1]" for _ in sizes)
    return f"  ROOT r = {shape}{sizes_text([1] * len(sizes))} slice({value}), slice={{{bounds}}}\n}}\n"


def reduce_case(kind, element, sizes, dimensions):
    """Text and peers of a reduction of some dimensions."""
    left = [size for d, size in enumerate(sizes) if d not in dimensions]
    start = "0" if kind == "add" else "-inf"
    text = PRELUDE.format(t=element) + (
        f"  x = {element}{sizes_text(sizes)} parameter(0)\n  z = {element}[] constant({start})\n"
        f"  v = {element}{sizes_text(left)} reduce(x, z), dimensions={{{','.join(map(str, dimensions))}}}, "
        f"to_apply={kind}\n" + one_element("v", element, left))
    if not left:
        text = text.replace(f"  ROOT r = {element}[] slice(v), slice={{}}\n",
                            f"  ROOT r = {element}[] negate(v)\n")
    name = "sum" if kind == "add" else "max"
    peers = {"JAX": lambda jax, x: getattr(jax.numpy, name)(x, axis=tuple(dimensions)),
             "torch": lambda torch, x: lambda: getattr(torch, "a" + name if name == "max" else name)(
                 x, dim=tuple(dimensions))}
    if not left and element == "f32":
        peers["CUB"] = f"{name} {sizes[0]}"
    return text, peers


class Bench:
    def __init__(self, flags):
        self.flags = flags
        self.device = ["--gpu-min-elements", "0"]
        if flags.cuda_driver:
            self.device += ["--cuda-driver", flags.cuda_driver]
        self.peers, self.absent = gpu_peers.available_peers()
        self.random = numpy.random.default_rng(1)
        self.copy_rate = gpu_peers.copy_rate(flags.cuda_driver, 1 << (16 if flags.small else 30))
        self.times = {}  # of the cases: host, device
        self.wanted = []  # what, wanted, found or None

    def own_seconds(self, program, *inputs, engine="gpu"):
        done = subprocess.run([self.flags.assay, "bench", program, "--json", *inputs, "--engine", engine,
                               "--crosscheck", "off", *self.device],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{program}: {done.stderr}")
        times = json.loads(done.stdout)
        return times["median_s"], times.get("device_s")

    def want(self, name, peer_times, wanted):
        """`wanted`: how many times as fast as a peer, by its name, or as the fastest one of all ("peers"); of
        the rate of a copy ("copy", with the GB that move)."""
        own = self.times[name]
        for what, factor in wanted.items():
            found = None
            if isinstance(what, tuple):
                what, work = what
                found = work * 1e9 / (own[1] or own[0]) / self.copy_rate
            else:
                speeds = [gpu_peers.speed(own, times) for peer, times in peer_times.items()
                          if what in (peer, "peers")]
                found = min(speeds) if speeds else None
            self.wanted.append((f"{name}: {what}", factor, found))

    def row(self, name, text, work, unit, parameters, peers=None, given=None, wanted=None, engine="gpu"):
        """`work`: what a run does, in `unit`: Tflop, or GB that must move. `peers`: what each of them does.
        `given`: inputs by parameter."""
        if self.flags.only and self.flags.only not in name:
            return
        given = given or {}
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program.hlo"
            program.write_text(text, encoding="utf-8")
            inputs = ["--random-inputs", "1"]
            if given:
                arrays = {}
                for i, (element, sizes) in enumerate(parameters):
                    value = given[i] if i in given else self.random.random(sizes, dtype=numpy.float32)
                    arrays[f"arg{i}"] = numpy.asarray(value)
                archive = pathlib.Path(folder) / "inputs.npz"
                numpy.savez(archive, **arrays)
                inputs = ["--inputs", archive]
            seconds, on_device = self.own_seconds(program, *inputs, engine=engine)
        self.times[name] = (seconds, on_device)
        line = f"{name:42}  {seconds * 1e3:11.4f} ms  {work / seconds:9.1f} {unit}/s"
        if on_device:
            line += f"  device {on_device * 1e3:11.4f} ms  {work / on_device:9.1f} {unit}/s"
        peer_times = {}
        for peer in self.peers:
            if peer.name not in (peers or {}):
                continue
            try:
                times = peer.seconds(peers[peer.name], parameters, given)
            except Exception as error:  # pylint: disable=broad-exception-caught
                # A peer that fails, for want of memory for example, does not end the table.
                line += f"  {peer.name} failed: {(str(error) or repr(error)).splitlines()[0][:80]}"
                continue
            peer_times[peer.name] = times
            line += f"  {peer.name} {(times[1] or times[0]) * 1e3:11.4f} ms"
            line += f"  {gpu_peers.speed(self.times[name], times):6.2f} of its speed"
        print(line, flush=True)
        self.want(name, peer_times, wanted or {})

    def normal(self, sizes, element):
        return self.random.standard_normal(sizes, dtype={"f32": numpy.float32, "f64": numpy.float64}[element])

    def dots(self):
        contracting = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        wanted = {("f32", 4096): 2.0, ("f32", 8192): 2.0, ("f64", 8192): 1.0, ("bf16", 8192): 0.25,
                  ("s8", 8192): 1.3}

        def by_torch(torch, x, y):
            if x.dtype == torch.int8:
                columns = y.t().contiguous().t()
                return lambda: torch._int_mm(x, columns)  # pylint: disable=protected-access
            return lambda: torch.matmul(x, y)

        for n in (32,) if self.flags.small else (2048, 4096, 8192):
            for element, result in (("f32", "f32"), ("f64", "f64"), ("bf16", "bf16"), ("s8", "s32")):
                parameters = [(element, (n, n))] * 2
                text = ("HloModule m\nENTRY e {\n" + f"  x = {element}[{n},{n}] parameter(0)\n"
                        f"  y = {element}[{n},{n}] parameter(1)\n"
                        f"  d = {result}[{n},{n}] dot(x, y), {contracting}\n" +
                        one_element("d", result, (n, n)))
                given = None
                if element in ("f32", "f64"):
                    given = {i: self.normal((n, n), element) for i in range(2)}
                wanted_here = {"peers": wanted[element, n]} if (element, n) in wanted else None
                self.row(f"dot {element} to {result}, {n}", text, 2e-12 * n**3, "Tflop", parameters,
                         {"JAX": lambda jax, x, y, result=result: jax.lax.dot(
                             x, y, precision="highest", preferred_element_type=gpu_peers.JAX_TYPES[result]),
                          "torch": by_torch}, given, wanted_here)
            # Every sum of products is 0: x y - x y.
            h = n // 2
            text = ("HloModule m\nENTRY e {\n" + f"  x = f32[{n},{h}] parameter(0)\n"
                    f"  y = f32[{h},{n}] parameter(1)\n"
                    f"  m = f32[{n},{h}] negate(x)\n  l = f32[{n},{n}] concatenate(x, m), dimensions={{1}}\n"
                    f"  k = f32[{n},{n}] concatenate(y, y), dimensions={{0}}\n"
                    f"  d = f32[{n},{n}] dot(l, k), {contracting}\n" +
                    one_element("d", "f32", (n, n)))
            cancelling = f"dot f32 where every sum is 0, {n}"
            self.row(cancelling, text, 2e-12 * n**3, "Tflop", [("f32", (n, h)), ("f32", (h, n))],
                     given={0: self.normal((n, h), "f32"), 1: self.normal((h, n), "f32")})
            normal = f"dot f32 to f32, {n}"
            if n == 8192 and normal in self.times and cancelling in self.times:
                self.wanted.append((f"{cancelling}: normal data", 1 / 1.6,
                                    gpu_peers.speed(self.times[cancelling], self.times[normal])))

    def fast_dots(self):
        """Within bounds, beside JAX's default precision: TF32 for f32."""
        contracting = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        for n in (32,) if self.flags.small else (2048, 4096, 8192):
            for element, result in (("f32", "f32"), ("bf16", "bf16"), ("bf16", "f32")):
                text = ("HloModule m\nENTRY e {\n" + f"  x = {element}[{n},{n}] parameter(0)\n"
                        f"  y = {element}[{n},{n}] parameter(1)\n"
                        f"  d = {result}[{n},{n}] dot(x, y), {contracting}\n" +
                        one_element("d", result, (n, n)))
                self.row(f"gpu-fast dot {element} to {result}, {n}", text, 2e-12 * n**3, "Tflop",
                         [(element, (n, n))] * 2,
                         {"JAX": lambda jax, x, y, result=result: jax.lax.dot(
                             x, y, preferred_element_type=gpu_peers.JAX_TYPES[result])}, engine="gpu-fast")

    def fast_functions(self):
        n = 1 << (10 if self.flags.small else 28)
        for op, short in (("exponential", "exp"), ("tanh", "tanh"), ("log", "log"), ("logistic", "logistic")):
            for element in ("f32", "bf16"):
                text = (f"HloModule m\nENTRY e {{\n  x = {element}[{n}] parameter(0)\n"
                        f"  v = {element}[{n}] {op}(x)\n" + one_element("v", element, (n,)))
                peers = {"JAX": lambda jax, x, short=short: getattr(jax.lax, short)(x)}
                self.row(f"gpu-fast {op} of 2^{n.bit_length() - 1} {element}", text,
                         2e-9 * BYTES[element] * n, "GB", [(element, (n,))], peers, engine="gpu-fast")

    def functions(self):
        n = 1 << (10 if self.flags.small else 28)
        named = f"2^{n.bit_length() - 1} f32"
        head = f"HloModule m\nENTRY e {{\n  x = f32[{n}] parameter(0)\n"
        for op, short in (("exponential", "exp"), ("tanh", "tanh"), ("negate", "negative")):
            text = head + f"  v = f32[{n}] {op}(x)\n" + one_element("v", "f32", (n,))
            self.row(f"{op} of {named}", text, 8e-9 * n, "GB", [("f32", (n,))],
                     {"JAX": lambda jax, x, short=short: getattr(jax.numpy, short)(x),
                      "torch": lambda torch, x, short=short: lambda: getattr(torch, short)(x)},
                     wanted={"JAX": 0.95} if op != "negate" else None)
        chain = (f"  c = f32[] constant(1.5)\n  b = f32[{n}] broadcast(c), dimensions={{}}\n"
                 f"  m = f32[{n}] multiply(x, b)\n  a = f32[{n}] add(m, x)\n")
        self.row(f"x * 1.5 + x of {named}", head + chain + one_element("a", "f32", (n,)), 8e-9 * n, "GB",
                 [("f32", (n,))], {"JAX": lambda jax, x: x * 1.5 + x}, wanted={"JAX": 0.95})
        text = PRELUDE.format(t="f32") + (f"  x = f32[{n}] parameter(0)\n" + chain +
                                          "  z = f32[] constant(0)\n"
                                          "  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add\n}\n")
        self.row(f"sum of x * 1.5 + x of {named}", text, 4e-9 * n, "GB", [("f32", (n,))],
                 {"JAX": lambda jax, x: jax.numpy.sum(x * 1.5 + x)})

    def reductions(self):
        small = self.flags.small
        n = 1 << (12 if small else 28)
        width = 64 if small else 1024
        for kind, elements in (("add", ("f32", "bf16", "f64")), ("most", ("f32",))):
            for element in elements:
                for name, sizes, dimensions in (("all", (n,), (0,)), ("rows", (n // width, width), (1,)),
                                                ("columns", (width * 4, n // width // 4), (0,))):
                    text, peers = reduce_case(kind, element, sizes, dimensions)
                    what = "sum" if kind == "add" else "max"
                    moved = BYTES[element] * 1e-9 * n
                    self.row(f"{what} {element}, {name} of {sizes_text(sizes)}", text, moved, "GB",
                             [(element, sizes)], peers,
                             wanted={("copy", moved): 0.9} if element == "f32" else None)
        m = 1000 if small else 10**7
        text, peers = reduce_case("add", "f32", (m,), (0,))
        self.row(f"sum f32, all of [{m}]", text, 4e-9 * m, "GB", [("f32", (m,))], peers)

    def scans(self):
        cases = ((1, 2000), (3, 500)) if self.flags.small else ((1, 1 << 26), (37, 30011), (65536, 1024))
        for lines, length in cases:
            n = lines * length
            text = PRELUDE.format(t="f32") + (
                f"  x = f32[{lines},{length}] parameter(0)\n  z = f32[] constant(0)\n"
                f"  v = f32[{lines},{length}] reduce-window(x, z), "
                f"window={{size=1x{length} pad=0_0x{length - 1}_0}}, to_apply=add\n" +
                one_element("v", "f32", (lines, length)))
            peers = {"JAX": lambda jax, x: jax.numpy.cumsum(x, axis=1),
                     "torch": lambda torch, x: lambda: torch.cumsum(x, 1)}
            if lines == 1:
                peers["CUB"] = f"scan {length}"
            self.row(f"cumulative sum f32, {lines} x {length}", text, 8e-9 * n, "GB",
                     [("f32", (lines, length))], peers,
                     wanted={("copy", 8e-9 * n): 0.45} if length == 1 << 26 else None)

    def sorts(self):
        for n in (3000,) if self.flags.small else (10**6, 1 << 26):
            text = PRELUDE.format(t="f32") + (
                f"  x = f32[{n}] parameter(0)\n  i = s32[{n}] iota(), iota_dimension=0\n"
                f"  p = (f32[{n}], s32[{n}]) sort(x, i), dimensions={{0}}, is_stable=true, to_apply=less\n"
                f"  v = s32[{n}] get-tuple-element(p), index=1\n" + one_element("v", "s32", (n,)))
            keys = self.random.standard_normal(n, dtype=numpy.float32)
            self.row(f"stable sort of {n} f32 with positions", text, 64e-9 * n, "GB", [("f32", (n,))],
                     {"JAX": lambda jax, x: jax.lax.sort(
                         (x, jax.lax.iota("int32", x.shape[0])), num_keys=1, is_stable=True),
                      "torch": lambda torch, x: lambda: torch.sort(x, stable=True), "CUB": f"sort {n}"},
                     {0: keys}, {"CUB": 1.0} if n == 1 << 26 else None)

    def moves(self):
        small = self.flags.small
        for rows, width in ((100, 8),) if small else ((10**7, 64), (200000, 48)):
            text = ("HloModule m\nENTRY e {\n" + f"  x = f32[{rows},{width}] parameter(0)\n"
                    f"  i = s32[{rows}] parameter(1)\n"
                    f"  g = f32[{rows},{width}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                    f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{width}}}\n" +
                    one_element("g", "f32", (rows, width)))
            distinct = self.random.permutation(rows).astype(numpy.int32)
            self.row(f"gather of {rows} distinct rows of {width}", text, 8e-9 * rows * width, "GB",
                     [("f32", (rows, width)), ("s32", (rows,))],
                     {"JAX": lambda jax, x, i: x[i],
                      "torch": lambda torch, x, i: lambda: torch.index_select(x, 0, i)}, {1: distinct},
                     {("copy", 8e-9 * rows * width): 0.9} if rows == 10**7 else None)
        shape, axes = ((5, 7, 6), (2, 0, 1)) if small else ((301, 77, 203), (2, 0, 1))
        for sizes, order in ((shape, axes), ((16, 24) if small else (8192, 8192), (1, 0))):
            moved = [sizes[d] for d in order]
            permutation = "{" + ",".join(map(str, order)) + "}"
            text = (f"HloModule m\nENTRY e {{\n  x = f32{sizes_text(sizes)} parameter(0)\n"
                    f"  v = f32{sizes_text(moved)} transpose(x), dimensions={permutation}\n" +
                    one_element("v", "f32", moved))
            self.row(f"transpose f32{sizes_text(sizes)} to {sizes_text(order)}", text,
                     8e-9 * float(numpy.prod(sizes)), "GB", [("f32", sizes)],
                     {"JAX": lambda jax, x, order=order: jax.numpy.transpose(x, order),
                      "torch": lambda torch, x, order=order: lambda: x.permute(order).contiguous()})
        targets, rows, width = (20, 100, 8) if small else (10**6, 10**7, 64)
        text = PRELUDE.format(t="f32") + (
            f"  x = f32[{targets},{width}] parameter(0)\n  i = s32[{rows},1] parameter(1)\n"
            f"  u = f32[{rows},{width}] parameter(2)\n"
            f"  v = f32[{targets},{width}] scatter(x, i, u), update_window_dims={{1}}, "
            f"inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, "
            f"to_apply=add\n" + one_element("v", "f32", (targets, width)))
        indices = self.random.integers(0, targets, (rows, 1), dtype=numpy.int32)
        self.row(f"scatter-add of {rows} rows of {width} into {targets}", text,
                 4e-9 * width * (rows + 2 * targets), "GB",
                 [("f32", (targets, width)), ("s32", (rows, 1)), ("f32", (rows, width))],
                 {"JAX": lambda jax, x, i, u: x.at[i[:, 0]].add(u),
                  "torch": lambda torch, x, i, u: lambda: x.index_add(0, i[:, 0], u)}, {1: indices},
                 {"torch": 3.0})

    def programs(self):
        for program in sorted(pathlib.Path(self.flags.programs).glob("*/program.hlo")):
            if self.flags.only and self.flags.only not in program.parent.name:
                continue
            seconds, on_device = self.own_seconds(program, "--inputs", program.with_name("inputs.npz"))
            name = program.parent.name
            if name in WANTED_OF_PROGRAMS:
                self.wanted.append((f"{name}: {WANTED_OF_PROGRAMS[name]} ms", 1.0,
                                    WANTED_OF_PROGRAMS[name] * 1e-3 / seconds))
            line = f"{name + ', host to host':42}  {seconds * 1e3:11.4f} ms"
            print(line + (f"  device {on_device * 1e3:11.4f} ms" if on_device else ""), flush=True)

    def report(self):
        """Which of the speeds that are wanted were reached; how many were missed."""
        print("\nspeed, as a part of the other one's")
        missed = 0
        for what, wanted, found in self.wanted:
            reached = "not known" if found is None else "reached" if found >= wanted else "MISSED"
            missed += reached == "MISSED"
            number = "-" if found is None else f"{found:.2f}"
            print(f"{what:60}  wanted {wanted:5.2f}  {number:>8}  {reached}")
        return missed

    def run(self):
        peers = ", ".join([peer.version for peer in self.peers] + self.absent)
        print(f"{device_name()}; peers: {peers}; {datetime.date.today()}")
        print(f"a copy on the device moves {self.copy_rate * 1e-9:.1f} GB/s")
        small = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT v = f32[64] negate(x)\n}\n"
        self.row("one small step", small, 512e-9, "GB", [("f32", (64,))],
                 {"JAX": lambda jax, x: -x, "torch": lambda torch, x: lambda: -x})
        for part in (self.dots, self.fast_dots, self.functions, self.fast_functions, self.reductions,
                     self.scans, self.sorts, self.moves, self.programs):
            part()
        return self.report()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("programs", nargs="?", default=PROGRAMS)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--cuda-driver")
    parser.add_argument("--only")
    flags = parser.parse_args()
    missed = Bench(flags).run()
    # Of small sizes nothing is wanted.
    return 1 if missed and not flags.small else 0


if __name__ == "__main__":
    sys.exit(main())
