"""JAX on Assay's plugin beside XLA:CPU: how long it takes to dispatch compiled programs, to compile, to move
arrays.

    python bench/pjrt.py            # the assay package and JAX installed

Ratios are what matters: the machine's load moves both. What is timed is JAX's whole way, from the call to the
value.
"""

import argparse
import os
import resource
import time

import numpy as np


def best(function, repeat, number):
    """Seconds a call: the best of `repeat` rounds of `number` calls."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        for _ in range(number):
            function()
        times.append((time.perf_counter() - begin) / number)
    return min(times)


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--executions", type=int, default=10000)
    options = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "assay,cpu")
    import jax
    import jax.numpy as jnp

    devices = {"assay": jax.devices("assay")[0], "cpu": jax.devices("cpu")[0]}
    print(f"{devices['assay'].client.platform_version}; jax {jax.__version__}")

    def compare(title, make, number):
        seconds = {}
        for name, device in devices.items():
            with jax.default_device(device):
                seconds[name] = best(make(device), options.repeat, number)
        print(f"{title:32} assay {seconds['assay'] * 1e6:10.1f} us   cpu {seconds['cpu'] * 1e6:10.1f} us   "
              f"ratio {seconds['assay'] / seconds['cpu']:6.2f}")

    def dispatch(function, *shapes):
        def make(device):
            arguments = [jax.device_put(np.ones(shape, np.float32), device) for shape in shapes]
            jitted = jax.jit(function)
            jitted(*arguments).block_until_ready()
            return lambda: jitted(*arguments).block_until_ready()
        return make

    compare("jit identity, one scalar", dispatch(lambda x: x + 1, ()), 2000)
    compare("jit add, f32[8] f32[8]", dispatch(lambda x, y: x + y, (8,), (8,)), 2000)
    compare("jit of 10 arguments", dispatch(lambda *a: sum(a), *[(4,)] * 10), 1000)
    compare("jit of 100 arguments", dispatch(lambda *a: sum(a), *[(4,)] * 100), 300)
    compare("device_put f32[8]", lambda d: lambda: jax.device_put(np.ones(8, np.float32), d), 1000)
    compare("device_put f32[1024,1024]",
            lambda d: (lambda x: lambda: jax.device_put(x, d).block_until_ready())(
        np.ones((1024, 1024), np.float32)), 50)

    def fetch(device):
        x = jax.device_put(np.ones(8, np.float32), device)
        add = jax.jit(lambda v: v + 1)
        return lambda: np.asarray(add(x))

    compare("jit and np.asarray, f32[8]", fetch, 1000)

    def thousand(device):
        del device

        def lowered(n):
            def function(x):
                for i in range(500):
                    x = jnp.sin(x) * (i + n)
                return x
            return jax.jit(function).lower(np.ones(8, np.float32))
        programs = [lowered(n + 0.5) for n in range(options.repeat)]  # JAX compiles each once
        return lambda: programs.pop().compile()

    compare("compile 1,000 instructions", thousand, 1)

    with jax.default_device(devices["assay"]):
        step = jax.jit(lambda x: jnp.tanh(x @ x) * 0.5)
        x = step(np.eye(64, dtype=np.float32))
        for _ in range(1000):
            x = step(x)
        before = resident()
        for _ in range(options.executions):
            x = step(x)
        x.block_until_ready()
        after = resident()
    print(f"resident after 1,000 executions {before / 2**20:.1f} MiB, after {options.executions:,} more "
          f"{after / 2**20:.1f} MiB: {100 * (after / before - 1):+.1f} %")


if __name__ == "__main__":
    main()
