#!/usr/bin/env python3
"""Training with Flax and Optax on Assay's plugin, beside XLA:CPU: the curves of the loss, and the time of a
step.

    python bench/training.py                                  # where assay, jax, flax and optax are installed
    python bench/training.py --svg docs/figures/training.svg  # and draws the curves

Two models, each for 200 steps of AdamW: a small classifier of images (convolutions, pooling, dense layers),
and a tiny transformer of two layers that learns to continue sequences. Data and first weights come from seeds
and are the same bits everywhere. Each backend trains in a process of its own.

Three runs say why curves part. XLA:CPU's own, once more from first weights of which one is moved by one unit
in its last place: as far as this one parts from the first, rounding alone parts them. And with --check DIR
XLA:CPU's run is held against runs of sampled conforming backends (assay.check_training, docs/jax.md): DIR
gets the curves of each model as MODEL.svg and all numbers as MODEL.json.

The time of a step is that which a tenth of the steps took less than: others' work on the machine moves it
least.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time


# --- The models ---


def classifier():
    """A step, its first state and its batches: 32 images of 12 x 12 a step, in ten classes."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    class Classifier(nn.Module):
        @nn.compact
        def __call__(self, x):
            for features in (8, 16):
                x = nn.max_pool(nn.relu(nn.Conv(features, (3, 3))(x)), (2, 2), strides=(2, 2))
            x = nn.relu(nn.Dense(64)(x.reshape(x.shape[0], -1)))
            return nn.Dense(10)(x)

    rng = np.random.default_rng(1)
    prototypes = rng.standard_normal((10, 12, 12, 1)).astype(np.float32)

    def batch(step):
        rng = np.random.default_rng([2, step])
        labels = rng.integers(0, 10, 32).astype(np.int32)
        noise = 2 * rng.standard_normal((32, 12, 12, 1)).astype(np.float32)
        return prototypes[labels] + noise, labels

    model, optimizer = Classifier(), optax.adamw(2e-3)

    def loss(parameters, images, labels):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(parameters, images), labels).mean()

    parameters = model.init(jax.random.key(0), jnp.zeros((1, 12, 12, 1)))
    return loss, optimizer, parameters, batch


def transformer():
    """Two layers of four heads, 64 wide, of 16 sequences of 32 tokens a step; each counts modulo 29 by 1,
    2 or 3."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    words, length, width = 32, 32, 64

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(
                y, mask=nn.make_causal_mask(jnp.ones(x.shape[:2])))
            y = nn.gelu(nn.Dense(4 * width)(nn.LayerNorm()(x)))
            return x + nn.Dense(width)(y)

    class Transformer(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(words, width)(tokens) + nn.Embed(length, width)(jnp.arange(tokens.shape[1]))
            for _ in range(2):
                x = Block()(x)
            return nn.Dense(words)(nn.LayerNorm()(x))

    def batch(step):
        rng = np.random.default_rng([3, step])
        first, slope = rng.integers(0, 29, (16, 1)), rng.integers(1, 4, (16, 1))
        tokens = (first + slope * np.arange(length + 1)) % 29
        return tokens[:, :-1].astype(np.int32), tokens[:, 1:].astype(np.int32)

    model = Transformer()
    optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0, 3e-3, 20, 200))

    def loss(parameters, tokens, following):
        return optax.softmax_cross_entropy_with_integer_labels(
            model.apply(parameters, tokens), following).mean()

    parameters = model.init(jax.random.key(0), jnp.zeros((1, length), jnp.int32))
    return loss, optimizer, parameters, batch


MODELS = {"classifier": classifier, "transformer": transformer}


def training_step(loss, optimizer):
    import jax
    import optax

    def step(parameters, state, inputs, wanted):
        value, gradient = jax.value_and_grad(loss)(parameters, inputs, wanted)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    return step


# --- One run, in its own process ---


def moved_by_one_unit(parameters):
    """The first element of the last array, one unit in the last place larger."""
    import jax
    import numpy as np

    leaves, tree = jax.tree.flatten(parameters)
    last = np.array(leaves[-1])
    last.flat[0] = np.nextafter(last.flat[0], np.float32(np.inf))
    return jax.tree.unflatten(tree, [*leaves[:-1], last])


def train(model, platform, steps, moved):
    import jax
    import numpy as np

    # The first weights are made on the CPU for all.
    with jax.default_device(jax.devices("cpu")[0]):
        loss, optimizer, parameters, batch = MODELS[model]()
        parameters = jax.tree.map(np.asarray, parameters)
        if moved:
            parameters = moved_by_one_unit(parameters)
        state = jax.tree.map(np.asarray, optimizer.init(parameters))
    device = jax.devices(platform)[0]
    function = training_step(loss, optimizer)
    losses, times = [], []
    with jax.default_device(device):
        begin = time.perf_counter()
        step = jax.jit(function).lower(parameters, state, *batch(0)).compile()
        compiled = time.perf_counter() - begin
        parameters, state = jax.device_put((parameters, state), device)
        for number in range(steps):
            inputs = jax.device_put(batch(number), device)
            begin = time.perf_counter()
            parameters, state, value = jax.block_until_ready(step(parameters, state, *inputs))
            times.append(time.perf_counter() - begin)
            losses.append(float(value))
    return {"losses": losses, "step_s": sorted(times)[len(times) // 10], "compile_s": compiled,
            "kind": device.device_kind}


def check(model, steps, folder):
    """XLA:CPU's run beside sampled ones."""
    import assay
    import jax
    import numpy as np

    loss, optimizer, parameters, batch = MODELS[model]()
    parameters = jax.tree.map(np.asarray, parameters)
    state = jax.tree.map(np.asarray, optimizer.init(parameters))
    function = training_step(loss, optimizer)

    def step(carried, batch):
        parameters, state, value = function(*carried, *batch)
        return (parameters, state), value

    begin = time.perf_counter()
    report = assay.check_training(step, (parameters, state), batch, steps=steps, profile="xla-cpu")
    seconds = time.perf_counter() - begin
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    report.write_svg(folder / f"{model}.svg")
    (folder / f"{model}.json").write_text(report.to_json(), encoding="utf-8")
    return f"{report}\n{seconds:.0f} s"


# --- All runs, and the drawing ---

RUNS = {
    "XLA:CPU": ("cpu", {}, False),
    "XLA:CPU, one weight moved by 1 ulp": ("cpu", {}, True),
    "Assay exact": ("assay", {"ASSAY_ENGINE": "exact"}, False),
    "Assay fast": ("assay", {"ASSAY_ENGINE": "fast"}, False),
}
COLOURS = {"XLA:CPU": "#1f6fb4", "XLA:CPU, one weight moved by 1 ulp": "#9ec7e8", "Assay exact": "#c23b22",
           "Assay fast": "#e0a030"}


def polyline(xs, ys, colour, dashed=False):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys))
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    return f'<polyline fill="none" stroke="{colour}" stroke-width="1.4"{dash} points="{points}"/>'


def text(x, y, words, anchor="start", size=11):
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def panel(left, top, width, height, title, runs, value, scale, ticks):
    """Curves of value(run) over steps; `scale` gives heights from 0 to 1, `ticks` are (value, label)."""
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
             text(left, top - 6, title, size=12)]
    for tick, label in ticks:
        y = top + height * (1 - scale(tick))
        parts += [f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                  text(left - 4, y + 4, label, "end", 10)]
    for name, run in runs.items():
        ys = value(name, run)
        if ys is None:
            continue
        xs = [left + width * i / (len(ys) - 1) for i in range(len(ys))]
        parts.append(
            polyline(xs, [top + height * (1 - scale(y)) for y in ys], COLOURS[name], name == "Assay exact"))
    steps = len(next(iter(runs.values()))["losses"])
    parts += [text(left, top + height + 13, "0", size=10),
              text(left + width, top + height + 13, f"{steps} steps", "end", 10)]
    return parts


def draw(results, path):
    import math

    columns = len(results)
    width, height = 20 + 400 * columns, 520 + 20 * math.ceil(len(RUNS) / columns)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" fill="#222">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for column, (model, runs) in enumerate(results.items()):
        left = 50 + 400 * column
        highest = math.ceil(max(max(run["losses"]) for run in runs.values()))
        parts += panel(left, 30, 340, 210, f"{model}: loss", runs, lambda name, run: run["losses"],
                       lambda y, h=highest: min(y / h, 1), [(t, str(t)) for t in range(highest + 1)])
        base = runs["XLA:CPU"]["losses"]

        def apart(name, run, base=base):
            return None if name == "XLA:CPU" else [abs(a - b) for a, b in zip(run["losses"], base)]

        parts += panel(left, 285, 340, 190, f"{model}: |loss - loss of XLA:CPU|", runs, apart,
                       lambda y: min(max((math.log10(max(y, 1e-9)) + 8) / 8, 0), 1),
                       [(10.0**e, f"1e{e}") for e in range(-8, 1, 2)])
    for i, name in enumerate(RUNS):
        x, y = 50 + 400 * (i % columns), 510 + 20 * (i // columns)
        parts += [polyline([x, x + 30], [y - 4, y - 4], COLOURS[name], name == "Assay exact"),
                  text(x + 36, y, name)]
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def worker(model, platform, steps, more, environment=None):
    """What another process prints last."""
    command = [sys.executable, __file__, "--steps", str(steps), "--worker", model, platform, *more]
    done = subprocess.run(command, env={**os.environ, "JAX_PLATFORMS": "cpu,assay", **(environment or {})},
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_apart(model, name, options):
    platform, environment, moved = RUNS[name]
    return worker(model, platform, options.steps, ["--moved"] if moved else [], environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--svg", help="where the curves are drawn to")
    parser.add_argument("--json", help="where all numbers are written to")
    parser.add_argument("--check", metavar="DIR",
                        help="holds XLA:CPU's run against sampled ones, and writes curves there")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--worker", nargs=2, metavar=("MODEL", "PLATFORM"), help=argparse.SUPPRESS)
    parser.add_argument("--moved", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker and options.check:
        print(json.dumps(check(options.worker[0], options.steps, options.check)))
        return
    if options.worker:
        print(json.dumps(train(*options.worker, options.steps, options.moved)))
        return
    if options.check:
        for model in options.models:
            print(f"{model}: {worker(model, 'cpu', options.steps, ['--check', options.check], {'JAX_PLATFORMS': 'cpu'})}")
        return
    results = {}
    for model in options.models:
        runs = results[model] = {name: run_apart(model, name, options) for name in RUNS}
        base = runs["XLA:CPU"]
        for name, run in runs.items():
            print(f"{model:12} {name:36} loss {run['losses'][0]:.6f} to {run['losses'][-1]:.6f}   "
                  f"{run['step_s'] * 1e3:8.3f} ms a step, {run['step_s'] / base['step_s']:5.2f} x   compiled in {run['compile_s']:.2f} s")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results), encoding="utf-8")
    if options.svg:
        draw(results, options.svg)


if __name__ == "__main__":
    main()
