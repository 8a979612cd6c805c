"""Fifteen functions as JAX users write them, at sizes that a test can afford: what test_programs.py takes
through assay.evaluate, jax.grad, jax.vmap and jax.lax.scan. PROGRAMS[name] makes the
arguments anew for each seed."""

import dataclasses
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclasses.dataclass(frozen=True)
class Program:
    function: Callable
    arguments: Callable[[np.random.Generator], tuple]
    x64: bool = False


PROGRAMS: dict[str, Program] = {}


def program(arguments, x64=False):
    def register(function):
        PROGRAMS[function.__name__] = Program(function, arguments, x64)
        return function

    return register


def f32(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.standard_normal(sizes).astype(np.float32)


def bf16(rng: np.random.Generator, *sizes: int) -> Any:
    return jnp.asarray(f32(rng, *sizes), jnp.bfloat16)


def integers(rng: np.random.Generator, low: int, high: int, *sizes: int, dtype: Any = np.int32) -> np.ndarray:
    return rng.integers(low, high, sizes).astype(dtype)


@program(lambda rng: (f32(rng, 3, 5),))
def softmax(x):
    return jax.nn.softmax(x, axis=-1)


@program(lambda rng: (f32(rng, 6, 5), f32(rng, 5, 4) / 2, f32(rng, 4) / 8, f32(rng, 4, 3) / 2, f32(rng, 3),
                      integers(rng, 0, 3, 6)))
def mlp_train_step(x, w1, b1, w2, b2, y):
    def loss(parameters):
        w1, b1, w2, b2 = parameters
        log_p = jax.nn.log_softmax(jax.nn.gelu(x @ w1 + b1) @ w2 + b2)
        return -jnp.mean(jnp.take_along_axis(log_p, y[:, None], axis=1))

    value, gradient = jax.value_and_grad(loss)((w1, b1, w2, b2))
    return value, [p - 0.1 * g for p, g in zip((w1, b1, w2, b2), gradient)]


@program(lambda rng: (bf16(rng, 1, 2, 6, 4), bf16(rng, 1, 2, 6, 4), bf16(rng, 1, 2, 6, 4)))
def attention_bf16(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) / 2
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1).astype(jnp.bfloat16), v)


def convolved(x, w, stride, dilation=(1, 1)):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", rhs_dilation=dilation,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(lambda rng: (f32(rng, 1, 8, 8, 2), f32(rng, 3, 3, 2, 3) / 4, f32(rng, 3, 3, 3, 3) / 5,
                      f32(rng, 1, 1, 2, 3), f32(rng, 3), f32(rng, 3)))
def resnet_block(x, w1, w2, w_skip, scale, bias):
    def normalized(y):
        mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
        return (y - mean) * lax.rsqrt(variance + 1e-5) * scale + bias

    y = jax.nn.relu(normalized(convolved(x, w1, 2)))
    y = jax.nn.relu(normalized(convolved(y, w2, 1)) + convolved(x, w_skip, 2))
    pooled = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return pooled, jax.grad(lambda w: jnp.sum(convolved(x, w, 2, (2, 2)) ** 2))(w1)


@program(lambda rng: (f32(rng, 7, 3), f32(rng, 4), f32(rng, 6, 4) / 2, f32(rng, 6, 3) / 2))
def gru_scan(xs, h0, u, w):
    def step(h, x):
        a, b, c = jnp.split(jnp.concatenate([u, w], axis=1) @ jnp.concatenate([h, x]), 3)
        z = jax.nn.sigmoid(jnp.concatenate([a, b]))
        h = z * h + (1 - z) * jnp.tanh(jnp.concatenate([c, a]))
        return h, h.sum()

    return lax.scan(step, h0, xs)


@program(lambda rng: (f32(rng, 5, 5), f32(rng, 5, 2)))
def spd_solve(a, b):
    factor = lax.linalg.cholesky(a @ a.T + 5 * jnp.eye(5))
    y = lax.linalg.triangular_solve(factor, b, left_side=True, lower=True)
    return factor, lax.linalg.triangular_solve(factor, y, left_side=True, lower=True, transpose_a=True)


@program(lambda rng: (f32(rng, 2, 12),))
def fft_convolve(x):
    product = jnp.fft.rfft(x, n=16) * jnp.fft.rfft(x[::-1], n=16)
    return jnp.fft.irfft(product, n=16), jnp.fft.fft(x.astype(jnp.complex64))


@program(lambda rng: (f32(rng, 3, 12), rng.permutation(12).astype(np.int32)))
def beam_search_step(logits, ids):
    values, indices = lax.top_k(logits, 4)
    return values, indices, jnp.argsort(logits, axis=-1,
                                        stable=True), lax.sort((logits[0], ids), num_keys=1)[1]


@program(lambda rng: (f32(rng, 10, 4), integers(rng, 0, 10, 3, 5), f32(rng, 3, 5, 4)))
def embedding_update(table, ids, gradient):
    return (table[ids], table.at[ids].add(gradient), table.at[ids[0]].max(gradient[0]),
            jax.ops.segment_sum(gradient[0], ids[0] % 3, 3))


@program(lambda rng: (integers(rng, 0, 2**32, 2, dtype=np.uint32),))
def random_draws(key):
    first, second = jax.random.split(key)
    return jax.random.bits(first, (7,)), jax.random.normal(second,
                                                           (5, 3)), jax.random.randint(first, (9,), -5, 50)


@program(
    lambda rng: (integers(rng, -128, 128, 4, 9, dtype=np.int8), integers(rng, -128, 128, 9, 3, dtype=np.int8),
                      f32(rng, 3)))
def int8_matmul(a, b, scale):
    sums = lax.dot(a, b, preferred_element_type=jnp.int32)
    return sums, jnp.clip(jnp.round(sums * jnp.abs(scale) / 256), -128, 127).astype(jnp.int8)


@program(lambda rng: (f32(rng, 4, 8), f32(rng, 8, 3)))
def fp8_quantised_dot(a, b):
    qa, qb = a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e5m2)
    return qa, qb, lax.dot(qa, qb, preferred_element_type=jnp.float32)


@program(lambda rng: (np.float64(rng.uniform(1, 9)),), x64=True)
def newton_while(x):
    return lax.while_loop(lambda s: jnp.abs(s[0] ** 2 - x) > 1e-13,
                          lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1), (x, 0))


@program(lambda rng: (integers(rng, 0, 4), f32(rng, 6)))
def branches(i, x):
    by_index = lax.switch(i, [jnp.sin, jnp.cosh, lambda v: lax.cumsum(v)[::-1], lax.erf_inv], x * 0.1)
    return by_index, lax.cond(i > 1, jnp.cbrt, jnp.sqrt, jnp.abs(x))


WIDTH, HEADS, LENGTH, WORDS = 8, 2, 6, 11


def tiny_gpt_arguments(rng):
    parameters = {"words": f32(rng, WORDS, WIDTH) / 5, "positions": f32(rng, LENGTH, WIDTH) / 5,
                  "qkv": f32(rng, WIDTH, 3 * WIDTH) / 3, "out": f32(rng, WIDTH, WIDTH) / 3,
                  "up": f32(rng, WIDTH, 2 * WIDTH) / 3, "down": f32(rng, 2 * WIDTH, WIDTH) / 4,
                  "gain": np.ones(WIDTH, np.float32)}
    return parameters, integers(rng, 0, WORDS, 2, LENGTH)


@program(tiny_gpt_arguments)
def tiny_gpt_train_step(parameters, tokens):
    def normalized(x, gain):
        return gain * (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def loss(p):
        x = p["words"][tokens] + p["positions"]
        q, k, v = jnp.split((normalized(x, p["gain"]) @ p["qkv"]).reshape(2, LENGTH, 3 * HEADS, -1), 3,
                            axis=2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(WIDTH / HEADS))
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(2, LENGTH, WIDTH)
        x = x + mixed @ p["out"]
        x = x + jax.nn.gelu(normalized(x, p["gain"]) @ p["up"]) @ p["down"]
        log_p = jax.nn.log_softmax((x @ p["words"].T)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(log_p, tokens[:, 1:, None], -1))

    return jax.value_and_grad(loss)(parameters)
