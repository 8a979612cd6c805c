"""The code under test: attention with a causal mask, and a kernel for it that takes one row at a time."""

import jax
import jax.numpy as jnp
import numpy as np


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1]).astype(np.float32)
    visible = jnp.tril(jnp.ones(scores.shape, bool))
    return jax.nn.softmax(jnp.where(visible, scores, -jnp.inf)) @ v


def attention_by_rows(q, k, v):
    rows = []
    for i, row in enumerate(q):
        scores = k[:i + 1] @ row / np.sqrt(np.float32(q.shape[1]))
        weights = np.exp(scores - scores.max())
        rows.append(weights @ v[:i + 1] / weights.sum())
    return np.stack(rows)
