"""How far JAX's backend is from the exact results, function by function, as a plot.

    pip install '.[examples]'
    python examples/python/ulp_errors.py [PLOT.png]

The lines "# %%" make it a notebook in editors that know them (VS Code, Spyder, Jupytext).
"""

# %% What is compared: functions of one array, over the range where they are interesting.
import sys

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import assay

POINTS = 4001
FUNCTIONS = {
    "exp": (jnp.exp, -87, 88),
    "log1p": (jnp.log1p, -0.99, 4),
    "sin": (jnp.sin, -100, 100),
    "tanh": (jnp.tanh, -9, 9),
    "erf": (jax.scipy.special.erf, -4, 4),
    "gelu": (jax.nn.gelu, -6, 6),
    "softmax": (jax.nn.softmax, -20, 20),
    "log_softmax": (jax.nn.log_softmax, -20, 20),
}

# %% One line for each function: how many elements differ, by how much at most, and where.
for name, (function, low, high) in FUNCTIONS.items():
    print(f"{name:12}", assay.check(function, np.linspace(low, high, POINTS, dtype=np.float32)))

# %% The distance of every element from the exact result, in units in the last place.
figure, axes = plt.subplots(3, 3, figsize=(12, 9), layout="constrained")
for axis, (name, (function, low, high)) in zip(axes.flat, FUNCTIONS.items()):
    x = np.linspace(low, high, POINTS, dtype=np.float32)
    distances = assay.ulp_distances(np.asarray(jax.jit(function)(x)), assay.evaluate(function)(x))
    axis.plot(x, distances, ".", markersize=2)
    axis.set_yscale("symlog", linthresh=1)
    axis.set(title=name, xlabel="x", ylabel="ulp")

# %% A sum of products: the exact result is the sum rounded once, however long it is.
lengths = 2 ** np.arange(2, 17)
worst = []
for length in lengths:
    a, b = np.random.default_rng(length).standard_normal((2, 32, length), dtype=np.float32)
    worst.append(assay.check(lambda a, b: (a * b).sum(axis=-1), a, b).max_ulps)
axes.flat[-1].loglog(lengths, np.maximum(worst, 1), "o-")
axes.flat[-1].set(title="sum of n products, the worst of 32", xlabel="n", ylabel="ulp")

# %% In a notebook the figure is shown; from the command line it goes to a file.
target = sys.argv[1] if len(sys.argv) > 1 else "ulp_errors.png"
figure.suptitle(f"f32 on {jax.default_backend()}: distance from the exact result")
figure.savefig(target, dpi=120)
print("written:", target)
