"""The known differences between Assay and XLA:CPU (jaxlib 0.10.2): docs/semantics.md explains each tag."""

import dataclasses
from typing import Callable

import numpy as np
import xla_orders
from values import COMPLEX, SUB_BYTE, epsilon, is_float, is_integer, tiny, width

# computed in f32 or f64 with subnormals read as zero
FLUSHED = ('f32', 'f64', 'bf16', 'f8e8m0fnu', 'c64', 'c128')


def parts(value):
    return [float(value.real), float(value.imag)] if np.iscomplexobj(value) else [float(value)]


def is_nan(value):
    return any(np.isnan(p) for p in parts(value))


def subnormal(value, element):
    if element not in FLUSHED:
        return False
    limit = 2.0**-126 if element == 'f8e8m0fnu' else tiny(element)
    return any(0 < abs(p) < limit for p in parts(value))


def flushed(d):
    """An operand is subnormal, or Assay's result is and XLA's is the zero of that sign."""
    if any(subnormal(v, e) for v, e in zip(d.inputs, d.input_elements)):
        return True
    if d.element not in FLUSHED or not subnormal(d.assay, d.element):
        return False
    return all(q == 0 or p == q for p, q in zip(parts(d.assay), parts(d.xla)))


def integer_power(d):
    """XLA:CPU uses too few bits of the exponent; Assay's value is Python's."""
    if d.op != 'power' or not is_integer(d.element):
        return False
    base, exponent = (int(v) for v in d.inputs)
    return exponent >= 0 and (pow(base, exponent, 2**width(d.element))
                              - int(d.assay)) % 2**width(d.element) == 0


def sub_byte(d):
    if d.element not in SUB_BYTE or d.op not in ('popcnt', 'count-leading-zeros', 'power'):
        return False
    if d.op == 'popcnt':
        return bin(int(d.inputs[0]) % 2**width(d.element)).count('1') % 2**width(d.element) == int(
            d.assay) % 2**width(
            d.element)
    return True


def complex_special(d):
    """Complex arithmetic on infinities and NaNs: XLA:CPU expands to real formulas, Assay follows Annex G."""
    if not any(e in COMPLEX for e in d.input_elements + [d.element]) or not d.inputs:
        return False
    return not all(np.isfinite(p) for v in d.inputs for p in parts(v))


def complex_cancellation(d):
    """XLA:CPU composes these from real functions: good to an absolute error, not to a relative one."""
    if d.op not in ('sine', 'tan', 'atan2') or d.element not in COMPLEX:
        return False
    return abs(complex(d.assay) - complex(d.xla)) <= 8 * epsilon(d.element) * max(1.0, abs(complex(d.assay)))


def atan2_cut(d):
    """On the cuts of sqrt(x^2 + y^2) and of the logarithm signs of zeros choose the side;
    at x^2 + y^2 = 0 is a pole."""
    if d.op != 'atan2' or d.element not in COMPLEX:
        return False
    y, x = (complex(v) for v in d.inputs)
    square = x * x + y * y
    if square == 0:
        return is_nan(d.assay) and is_nan(d.xla)
    turns = (complex(d.assay) - complex(d.xla)) / np.pi
    tolerance = 8 * epsilon(d.element)
    opposite = abs(abs(turns) - 2) < tolerance and abs(abs(float(d.assay.real)) - np.pi) < tolerance
    return opposite or square.imag == 0 and abs(turns - round(turns.real)) < tolerance


def complex_power_of_zero(d):
    if d.op != 'power' or d.element not in COMPLEX or d.inputs[0] != 0:
        return False
    return d.inputs[1].real > 0 and d.assay == 0 and is_nan(d.xla)


def sqrt_branch(d):
    return d.op == 'sqrt' and d.element in COMPLEX and d.inputs[0].imag == 0 and d.assay == np.conj(d.xla)


def logistic_tail(d):
    """XLA:CPU's logistic of f16 loses the tail to 0."""
    return d.op == 'logistic' and abs(complex(d.assay)) < 1e-4 and complex(d.xla) == 0


def log1p_f64(d):
    """XLA:CPU's log1p of f64 between -0.42 and -0.36, by which it computes the real part of c128's, too:
    log1p(|1 + z|^2 - 1) / 2. Up to 128 units in the last place off."""
    if d.op != 'log-plus-one' or d.element not in ('f64', 'c128'):
        return False
    z, assay, xla = (complex(v) for v in (d.inputs[0], d.assay, d.xla))
    argument = z.real if d.element == 'f64' else z.real * (2 + z.real) + z.imag**2
    unit = epsilon(d.element)
    return (-0.42 < argument < -0.36 and abs(assay.real - xla.real) <= 128 * unit * abs(assay.real) and
            abs(assay.imag - xla.imag) <= 8 * unit * abs(assay.imag))


def fnuz_total_order(d):
    return d.op == 'compare-total' and d.label.endswith('fnuz') and any(is_nan(v) for v in d.inputs)


def f4_to_integer(d):
    return (d.op == 'convert' and d.input_elements == ['f4e2m1fn'] and is_integer(d.element) and
            int(d.assay) == max(int(float(d.inputs[0])), 0 if d.element[0] == 'u' else -8))


def nan_payload(d):
    return is_float(d.element) and is_nan(d.assay) and is_nan(d.xla)


def tiny_to_power_of_two(d):
    return (d.op == 'convert' and d.element == 'f8e8m0fnu' and is_nan(d.xla)
            and 0 < float(d.inputs[0]) < 2.0**-127 and
            float(d.assay) == 2.0**-127)


def reduction_of_nothing(d):
    """XLA turns a reduction over no dimension, or only over sizes of 1,
    into a reshape and drops the init value."""
    if not d.op.startswith('reduce-') or 'window' in d.op or d.arrays[0].size != np.prod(d.shape, dtype=int):
        return False
    if d.op == 'reduce-variadic':
        return True
    return bool(d.arrays[0].reshape(d.shape)[d.index] == d.xla)


def batch_norm_cancellation(d):
    """XLA:CPU's variance is E[x^2] - E[x]^2 in the type."""
    if d.op != 'batch-norm-training' or len(d.shape) != 1:
        return False
    squares = np.square(d.arrays[0].astype('f8'))
    return abs(float(d.assay) - float(d.xla)) <= 8 * epsilon(d.element) * squares.max()


def scatter_order(d):
    """XLA:CPU writes the whole window of a row of indices before that of the next row."""
    return d.op == 'scatter-second' and bool(xla_orders.scatter_last(d.text, *d.arrays)[d.index] == d.xla)


def window_order(d):
    """Of equal elements of a padded window XLA:CPU selects the first one by columns, and Assay by rows."""
    return d.op == 'select-and-scatter' and bool(
        xla_orders.select_and_scatter(d.text, *d.arrays)[d.index] == d.xla)


def iota_of_zero(d):
    return d.op == 'iota' and d.element == 'f8e8m0fnu' and is_nan(d.assay) and float(d.xla) == 2.0**-127


@dataclasses.dataclass
class Known:
    tag: str
    holds: Callable


KNOWN = [
    Known('subnormals-flushed', flushed),
    Known('integer-power', integer_power),
    Known('sub-byte-in-eight-bits', sub_byte),
    Known('complex-special-values', complex_special),
    Known('complex-sqrt-branch', sqrt_branch),
    Known('complex-cancellation', complex_cancellation),
    Known('complex-atan2-cut', atan2_cut),
    Known('complex-power-of-zero', complex_power_of_zero),
    Known('iota-f8e8m0fnu', iota_of_zero),
    Known('reduce-of-nothing', reduction_of_nothing),
    Known('logistic-tail', logistic_tail),
    Known('log1p-f64', log1p_f64),
    Known('fnuz-total-order', fnuz_total_order),
    Known('f4-to-integer', f4_to_integer),
    Known('nan-payload', nan_payload),
    Known('tiny-to-f8e8m0fnu', tiny_to_power_of_two),
    Known('batch-norm-cancellation', batch_norm_cancellation),
    Known('scatter-order', scatter_order),
    Known('window-order', window_order),
]
