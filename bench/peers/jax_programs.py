"""The programs of bench/peers that JAX writes: parts of neural networks, and linear algebra,
as it lowers them to HLO."""

import numpy
from programs import Program


def normal(*shape, seed=1, scale=1.0):
    return (scale * numpy.random.default_rng(seed).standard_normal(shape)).astype(numpy.float32)


def lowered(name, function, *inputs, in_numpy=None):
    """`function` of `inputs` as JAX lowers it, before XLA's passes."""
    import jax

    text = jax.jit(function).lower(*inputs).compiler_ir(dialect="hlo").as_hlo_text()
    return Program(name, text, list(inputs), in_numpy, False)


def softmax(rows, columns):
    import jax
    return lowered(f"softmax f32 {rows}x{columns}", jax.nn.softmax, normal(rows, columns))


def whole_layer_norm(rows, columns):
    import jax
    import jax.numpy as jnp

    def norm(x, scale, shift):
        mean = x.mean(-1, keepdims=True)
        centered = x - mean
        variance = jnp.square(centered).mean(-1, keepdims=True)
        return centered * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    return lowered(f"layer norm f32 {rows}x{columns}", norm, normal(rows, columns), normal(columns, seed=2),
                   normal(columns, seed=3))


def attention(batch, length, heads, width):
    import jax
    q, k, v = (normal(batch, length, heads, width, seed=s) for s in range(3))
    return lowered(f"attention f32 {batch}x{length}x{heads}x{width}", jax.nn.dot_product_attention, q, k, v)


def mlp(batch, width):
    """Three dense layers with ReLU."""
    import jax

    def forward(x, a, b, c):
        return jax.nn.relu(jax.nn.relu(x @ a) @ b) @ c

    return lowered(f"MLP f32 batch {batch}, {width} wide", forward, normal(batch, width),
                   *(normal(width, width, seed=s, scale=width**-0.5) for s in (2, 3, 4)))


def convolve(image, kernel, stride=1, groups=1):
    import jax
    return jax.lax.conv_general_dilated(image, kernel, (stride, stride), "SAME", feature_group_count=groups,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def resnet_bottleneck(size, wide, narrow):
    """A block of ResNet-50 with its batch norms folded: 1x1 to `narrow` features, 3x3,
    1x1 back to `wide`, and the sum."""
    import jax

    def block(x, a, b, c, shift_a, shift_b, shift_c):
        y = jax.nn.relu(convolve(x, a) + shift_a)
        y = jax.nn.relu(convolve(y, b) + shift_b)
        return jax.nn.relu(convolve(y, c) + shift_c + x)

    return lowered(f"ResNet-50 block f32 {size}x{size}x{wide}", block, normal(1, size, size, wide),
                   normal(1, 1, wide, narrow, seed=2, scale=wide**-0.5),
                   normal(3, 3, narrow, narrow, seed=3, scale=(9 * narrow)**-0.5),
                   normal(1, 1, narrow, wide, seed=4, scale=narrow**-0.5), normal(narrow, seed=5),
                   normal(narrow, seed=6), normal(wide, seed=7))


def resnet_stem():
    import jax

    def stem(x, kernel):
        return jax.nn.relu(convolve(x, kernel, stride=2))

    return lowered("ResNet-50 first convolution f32 7x7 stride 2", stem, normal(1, 224, 224, 3),
                   normal(7, 7, 3, 64, seed=2))


def small_convolution(size, features):
    return lowered(f"convolution f32 3x3 over {size}x{size}x{features}", convolve,
                   normal(1, size, size, features), normal(3, 3, features, features, seed=2))


def depthwise_convolution(size, features):
    return lowered(f"depthwise convolution f32 3x3 over {size}x{size}x{features}",
                   lambda x, k: convolve(x, k, groups=features), normal(1, size, size, features),
                   normal(3, 3, 1, features, seed=2))


def llama_layer(batch, past, width=1024, heads=16, groups=4, hidden=2816):
    """One token a sequence through a layer of a Llama model: grouped queries, rotation,
    `past` positions of keys and values."""
    import jax
    import jax.numpy as jnp
    depth = width // heads

    def root_mean_square_norm(x, scale):
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale

    def rotate(x, cosine, sine):
        a, b = jnp.split(x, 2, -1)
        return x * cosine + jnp.concatenate([-b, a], -1) * sine

    def layer(x, keys, values, cosine, sine, w):
        h = root_mean_square_norm(x, w["norm"])
        q = rotate((h @ w["q"]).reshape(batch, groups, heads // groups, depth), cosine, sine)
        k = rotate((h @ w["k"]).reshape(batch, 1, groups, depth), cosine, sine)
        v = (h @ w["v"]).reshape(batch, 1, groups, depth)
        k, v = jnp.concatenate([keys, k], 1), jnp.concatenate([values, v], 1)
        weights = jax.nn.softmax(jnp.einsum("bghd,btgd->bght", q, k) * depth**-0.5)
        x = x + jnp.einsum("bght,btgd->bghd", weights, v).reshape(batch, width) @ w["o"]
        h = root_mean_square_norm(x, w["norm"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    kv = groups * depth
    shapes = {"q": (width, width), "k": (width, kv), "v": (width, kv), "o": (width, width),
              "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}
    w = {name: normal(*shape, seed=s, scale=shape[0]**-0.5) for s, (name, shape) in enumerate(shapes.items())}
    w["norm"] = normal(width, seed=20)
    angles = numpy.arange(depth, dtype=numpy.float32) % (depth // 2) / depth
    parts = [normal(batch, width), normal(batch, past, groups, depth, seed=21),
             normal(batch, past, groups, depth, seed=22), numpy.cos(angles), numpy.sin(angles)]
    names = sorted(w)
    return lowered(f"Llama layer f32 batch {batch}",
                   lambda *args: layer(*args[:5], dict(zip(names, args[5:]))), *parts,
                   *(w[name] for name in names))


def batched_dots(batch, n):
    return lowered(f"{batch} dots f32 {n}x{n}", lambda x, y: x @ y, normal(batch, n, n),
                   normal(batch, n, n, seed=2), in_numpy=numpy.matmul)


def small_dot(n):
    return lowered(f"dot f32 {n}", lambda x, y: x @ y, normal(n, n), normal(n, n, seed=2),
                   in_numpy=numpy.matmul)


def embedding_gradient(words, width, tokens):
    import jax.numpy as jnp

    def gradient(words_of, cotangent):
        return jnp.zeros((words, width), jnp.float32).at[words_of].add(cotangent)

    ids = numpy.random.default_rng(5).integers(0, words, tokens).astype(numpy.int32)
    return lowered(f"embedding gradient f32 {tokens} of {words}x{width}", gradient, ids,
                   normal(tokens, width, seed=3))


def cumulative_maximum(rows, columns):
    import jax
    return lowered(f"cumulative maximum f32 {rows}x{columns}", lambda x: jax.lax.cummax(x, 1),
                   normal(rows, columns), in_numpy=lambda x: numpy.maximum.accumulate(x, 1))


def fft_2d(n):
    import jax.numpy as jnp
    x = (normal(n, n) + 1j * normal(n, n, seed=2)).astype(numpy.complex64)
    return lowered(f"2-D FFT c64 {n}x{n}", jnp.fft.fft2, x, in_numpy=numpy.fft.fft2)


def positive_definite(n):
    x = normal(n, n)
    return x @ x.T / n + numpy.eye(n, dtype=numpy.float32)


def cholesky(n):
    import jax.numpy as jnp
    return lowered(f"cholesky f32 {n}", jnp.linalg.cholesky, positive_definite(n),
                   in_numpy=numpy.linalg.cholesky)


def solve(n):
    import jax.numpy as jnp
    return lowered(f"solve f32 {n}", jnp.linalg.solve, positive_definite(n), normal(n, 8, seed=2),
                   in_numpy=numpy.linalg.solve)


def triangular_solve(n):
    import jax
    return lowered(f"triangular solve f32 {n}",
                   lambda a, b: jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
                   numpy.tril(positive_definite(n)), normal(n, n, seed=2))


def all_programs():
    return [
        softmax(1024, 1024),
        whole_layer_norm(1024, 1024),
        attention(2, 128, 4, 64),
        attention(1, 512, 8, 64),
        mlp(32, 512),
        llama_layer(1, 255),
        llama_layer(8, 255),
        small_dot(16),
        small_dot(64),
        small_dot(128),
        batched_dots(256, 16),
        batched_dots(64, 64),
        small_convolution(8, 16),
        small_convolution(14, 64),
        resnet_stem(),
        resnet_bottleneck(56, 256, 64),
        resnet_bottleneck(14, 1024, 256),
        depthwise_convolution(56, 144),
        embedding_gradient(10_000, 128, 8192),
        cumulative_maximum(256, 4096),
        fft_2d(512),
        cholesky(512),
        triangular_solve(512),
        solve(512),
    ]
