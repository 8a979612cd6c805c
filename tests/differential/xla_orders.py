"""Results by the orders in which XLA:CPU goes through windows and updates, as plain loops: docs/semantics.md,
window-order and scatter-order."""

import itertools
import re

import numpy as np


def numbers(text, name, separator=','):
    """Of `name={1,2}`, or of `name=1x2` within window={...}; none where it is not there."""
    found = re.search(rf'\b{name}=\{{?([^}}\s]*)', text)
    return [int(v.split('_')[0]) for v in found[1].split(separator) if v] if found else []


def select_and_scatter(text, operand, source, init):
    """Select by GE or LE, scatter by add; in each window the last dimension is the outermost loop."""
    size, stride, low = (numbers(text, name, 'x') for name in ('size', 'stride', 'pad'))
    rank = operand.ndim
    order = [rank - 1, *range(rank - 1)]
    result = np.full(operand.shape, init, operand.dtype)
    for at in np.ndindex(*source.shape):
        best = None
        for offsets in itertools.product(*(range(size[d]) for d in order)):
            offset = dict(zip(order, offsets))
            place = tuple(at[d] * stride[d] + offset[d] - low[d] for d in range(rank))
            if any(not 0 <= place[d] < operand.shape[d] for d in range(rank)):
                continue
            if best is None or not (operand[best] >= operand[place] if 'GE' in text else
                                    operand[best] <= operand[place]):
                best = place
        if best is not None:
            with np.errstate(over='ignore'):
                result[best] += source[at]
    return result


def scatter_last(text, operand, indices, updates):
    """The last update wins; each row of indices writes its window before the next row. A window that leaves
    the operand is dropped."""
    window, inserted, index_map, batching, of_indices = (numbers(text, name) for name in (
        'update_window_dims', 'inserted_window_dims', 'scatter_dims_to_operand_dims', 'input_batching_dims',
        'scatter_indices_batching_dims'))
    vector, = numbers(text, 'index_vector_dim')
    rows = [d for d in range(updates.ndim) if d not in window]
    inner = [d for d in range(operand.ndim) if d not in inserted + batching]
    result = operand.copy()
    for row in np.ndindex(*(updates.shape[d] for d in rows)):
        start = [0] * operand.ndim
        for k, d in enumerate(index_map):
            start[d] = int(indices[row if vector == indices.ndim else (*row[:vector], k, *row[vector:])])
        for d, of in zip(batching, of_indices):
            start[d] = row[of - (of > vector)]
        extent = [1] * operand.ndim
        for d, of in zip(inner, window):
            extent[d] = updates.shape[of]
        if any(start[d] < 0 or start[d] + extent[d] > operand.shape[d] for d in range(operand.ndim)):
            continue
        for offset in np.ndindex(*(updates.shape[d] for d in window)):
            place, at = list(start), [0] * updates.ndim
            for d, of, o in zip(inner, window, offset):
                place[d] += o
                at[of] = o
            for d, o in zip(rows, row):
                at[d] = o
            result[tuple(place)] = updates[tuple(at)]
    return result
