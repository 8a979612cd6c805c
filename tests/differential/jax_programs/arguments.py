"""Argument values: ordinary ones of a domain, or all edges of an element type among ordinary ones."""

import numpy as np
from values import COMPLEX, NUMPY, cast, edges, is_integer, plain, random_bits

KEY_WORDS = {'threefry2x32': 2, 'rbg': 4, 'unsafe_rbg': 4}


def positive_definite(rng, dims):
    square = rng.standard_normal(dims)
    return square @ np.swapaxes(square, -1, -2) + dims[-1] * np.eye(dims[-1])


def probabilities(rng, dims):
    weights = rng.uniform(0.1, 1, dims)
    return weights / weights.sum(-1, keepdims=True)


def rotations(rng, dims):
    return np.linalg.qr(rng.standard_normal(dims))[0]


# Domains in real numbers; integers are rounded down.
DOMAINS = {
    'pos': lambda rng, dims: rng.uniform(0.1, 5, dims),
    'unit': lambda rng, dims: rng.uniform(0.05, 0.95, dims),
    'sym': lambda rng, dims: rng.uniform(-0.95, 0.95, dims),
    'above1': lambda rng, dims: rng.uniform(1.1, 6, dims),
    'large': lambda rng, dims: rng.uniform(-30, 30, dims),
    'index': lambda rng, dims: rng.integers(0, 3, dims),
    'wild': lambda rng, dims: rng.integers(-2, 9, dims),
    'count': lambda rng, dims: rng.integers(0, 6, dims),
    'order': lambda rng, dims: rng.integers(1, 5, dims),
    'steps': lambda rng, dims: np.sort(rng.uniform(-4, 4, dims), -1),
    'nonzero': lambda rng, dims: rng.choice([-1, 1], dims) * rng.integers(1, 8, dims),
    'ties': lambda rng, dims: rng.integers(-2, 3, dims),
    'permutation': lambda rng, dims: rng.permuted(np.broadcast_to(np.arange(dims[-1]), dims), axis=-1),
    'definite': positive_definite,
    'prob': probabilities,
    'rotation': rotations,
}


def make(rng, argument, element):
    """An array for `argument`, of the element type; for a key the words of it."""
    dims = argument.dims
    if element in KEY_WORDS:
        return rng.integers(0, 2**32, dims + (KEY_WORDS[element],), np.uint32)
    if argument.domain == 'bits':
        return random_bits(rng, element, dims)
    if argument.domain:
        real = DOMAINS[argument.domain](rng, dims)
        if element in COMPLEX:
            real = real + 1j * DOMAINS[argument.domain](rng, dims)
        if element == 'pred':
            return real > np.mean(real)
        return cast(np.floor(real) if is_integer(element) else real, element)
    if argument.special:
        count = int(np.prod(dims))
        values = edges(rng, element, max(count, 80))
        return rng.permuted(values)[:count].reshape(dims) if NUMPY[element].__module__ != 'ml_dtypes' else \
            values[rng.permutation(len(values))[:count]].reshape(dims)
    return plain(rng, element, dims, 2.0)
