"""What bench/gpu.py measures beside Assay: JAX, torch (cuBLAS) and CUB, where they are, and a copy on the
device.

A peer has a name and seconds(what, parameters, given): the median of 20 runs behind two that compile and
warm up, from the host, and on the device where it can be known, else None. `what` is what the case says to
that peer.
"""
import ctypes
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

RUNS, WARM_UPS = 20, 2
JAX_TYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "s8": "int8", "s32": "int32"}


class Jax:
    name = "JAX"

    def __init__(self):
        import jax  # pylint: disable=import-outside-toplevel
        if jax.default_backend() != "gpu":
            raise ImportError("JAX has no GPU here")
        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.version = f"JAX {jax.__version__}"

    def seconds(self, what, parameters, given):
        arguments = []
        for i, (element, sizes) in enumerate(parameters):
            key = self.jax.random.key(i)
            if i in given:
                arguments.append(self.jax.numpy.asarray(given[i]))
            elif element in ("s8", "s32"):
                arguments.append(self.jax.random.randint(key, sizes, -100, 100).astype(JAX_TYPES[element]))
            else:
                arguments.append(self.jax.random.normal(key, sizes).astype(JAX_TYPES[element]))
        compiled = self.jax.jit(lambda *values: what(self.jax, *values))
        times = []
        for _ in range(RUNS + WARM_UPS):
            begin = time.perf_counter()
            self.jax.block_until_ready(compiled(*arguments))
            times.append(time.perf_counter() - begin)
        return statistics.median(times[WARM_UPS:]), None


class Torch:
    name = "torch"

    def __init__(self):
        import torch  # pylint: disable=import-outside-toplevel
        if not torch.cuda.is_available():
            raise ImportError("torch has no GPU here")
        torch.backends.cuda.matmul.allow_tf32 = False
        self.torch = torch
        self.version = f"torch {torch.__version__}"

    def seconds(self, what, parameters, given):
        torch = self.torch
        arguments = []
        for i, (element, sizes) in enumerate(parameters):
            kind = getattr(torch, JAX_TYPES[element])
            if i in given:
                arguments.append(torch.from_numpy(given[i]).to("cuda"))
            elif element in ("s8", "s32"):
                arguments.append(torch.randint(-100, 100, sizes, device="cuda").to(kind))
            else:
                arguments.append(torch.randn(sizes, device="cuda", dtype=torch.float32).to(kind))
        run = what(torch, *arguments)
        host, device = [], []
        for _ in range(RUNS + WARM_UPS):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start = time.perf_counter()
            begin.record()
            run()
            end.record()
            torch.cuda.synchronize()
            host.append(time.perf_counter() - start)
            device.append(begin.elapsed_time(end) * 1e-3)
        del arguments, run
        torch.cuda.empty_cache()
        return statistics.median(host[WARM_UPS:]), statistics.median(device[WARM_UPS:])


class Cub:
    """bench/cub_peer.cu, compiled here."""
    name = "CUB"

    def __init__(self):
        if shutil.which("nvidia-smi") is None:
            raise ImportError("there is no nvidia-smi, so no GPU for CUB")
        homes = (os.environ.get("CUDA_HOME"), "/usr/local/cuda")
        places = [shutil.which("nvcc")] + [f"{home}/bin/nvcc" for home in homes if home]
        nvcc = next((place for place in places if place and os.path.exists(place)), None)
        if nvcc is None:
            raise ImportError("there is no nvcc for CUB")
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.program = pathlib.Path(self.folder.name) / "cub_peer"
        source = pathlib.Path(__file__).with_name("cub_peer.cu")
        made = subprocess.run([nvcc, "-std=c++17", "-O2", "-arch=native", source, "-o", self.program],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise ImportError(f"nvcc does not compile cub_peer.cu: {made.stderr[-300:]}")
        self.version = self.run("version")
        self.run("sum", "1000")

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"cub_peer {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def seconds(self, what, parameters, given):
        del parameters, given
        return None, float(self.run(*what.split()))


def speed(own, other):
    """How many times as fast as another one, by (host, device): the device's times where both are known."""
    if own[1] and other[1]:
        return other[1] / own[1]
    return (other[0] or other[1]) / own[0]


def available_peers():
    """Those that can run here, and why the others can't."""
    peers, absent = [], []
    for kind in (Jax, Torch, Cub):
        try:
            peers.append(kind())
        except (ImportError, RuntimeError, OSError) as error:
            absent.append(f"no {kind.name} ({error})")
    return peers, absent


def copy_rate(library, count, runs=11):
    """Bytes read and written a second by a copy of `count` bytes on the device, by events of the driver."""
    cuda = ctypes.CDLL(library or "libcuda.so.1")

    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status != 0:
            raise SystemExit(f"{name}: error {status} of the CUDA driver")

    context, stream = ctypes.c_void_p(), ctypes.c_void_p()
    places = [ctypes.c_uint64(), ctypes.c_uint64()]
    events = [ctypes.c_void_p(), ctypes.c_void_p()]
    call("cuInit", 0)
    device = ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxPushCurrent_v2", context)
    call("cuStreamCreate", ctypes.byref(stream), 1)
    for place in places:
        call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(count))
        call("cuMemsetD8Async", place, ctypes.c_ubyte(1), ctypes.c_size_t(count), stream)
    for event in events:
        call("cuEventCreate", ctypes.byref(event), 0)
    times = []
    for _ in range(runs + WARM_UPS):
        call("cuEventRecord", events[0], stream)
        call("cuMemcpyDtoDAsync_v2", places[1], places[0], ctypes.c_size_t(count), stream)
        call("cuEventRecord", events[1], stream)
        call("cuStreamSynchronize", stream)
        milliseconds = ctypes.c_float()
        call("cuEventElapsedTime", ctypes.byref(milliseconds), events[0], events[1])
        times.append(milliseconds.value * 1e-3)
    for event in events:
        call("cuEventDestroy_v2", event)
    for place in places:
        call("cuMemFree_v2", place)
    call("cuStreamDestroy_v2", stream)
    popped = ctypes.c_void_p()
    call("cuCtxPopCurrent_v2", ctypes.byref(popped))
    call("cuDevicePrimaryCtxRelease_v2", device)
    return 2 * count / max(statistics.median(times[WARM_UPS:]), 1e-9)
