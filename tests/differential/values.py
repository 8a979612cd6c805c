"""Element types and test values: the names of HLO, NumPy's (or ml_dtypes') types,
and arrays full of edges."""

import ml_dtypes
import numpy as np

NUMPY = {
    'pred': np.bool_,
    's8': np.int8, 's16': np.int16, 's32': np.int32, 's64': np.int64,
    'u8': np.uint8, 'u16': np.uint16, 'u32': np.uint32, 'u64': np.uint64,
    's4': ml_dtypes.int4, 'u4': ml_dtypes.uint4, 's2': ml_dtypes.int2, 'u2': ml_dtypes.uint2,
    'f16': np.float16, 'bf16': ml_dtypes.bfloat16, 'f32': np.float32, 'f64': np.float64,
    'f8e5m2': ml_dtypes.float8_e5m2, 'f8e4m3fn': ml_dtypes.float8_e4m3fn, 'f8e4m3': ml_dtypes.float8_e4m3,
    'f8e3m4': ml_dtypes.float8_e3m4, 'f8e4m3b11fnuz': ml_dtypes.float8_e4m3b11fnuz,
    'f8e5m2fnuz': ml_dtypes.float8_e5m2fnuz, 'f8e4m3fnuz': ml_dtypes.float8_e4m3fnuz,
    'f8e8m0fnu': ml_dtypes.float8_e8m0fnu, 'f4e2m1fn': ml_dtypes.float4_e2m1fn,
    'c64': np.complex64, 'c128': np.complex128,
}
SIGNED = ['s8', 's16', 's32', 's64']
UNSIGNED = ['u8', 'u16', 'u32', 'u64']
INTEGERS = SIGNED + UNSIGNED
SUB_BYTE = ['s4', 'u4', 's2', 'u2']
WIDE_FLOATS = ['f32', 'f64']
HALF_FLOATS = ['f16', 'bf16']
EIGHT_BITS = ['f8e5m2', 'f8e4m3fn', 'f8e4m3', 'f8e3m4', 'f8e4m3b11fnuz', 'f8e5m2fnuz', 'f8e4m3fnuz']
ODD_FLOATS = ['f8e8m0fnu', 'f4e2m1fn']
FLOATS = WIDE_FLOATS + HALF_FLOATS + EIGHT_BITS
COMPLEX = ['c64', 'c128']
ALL = ['pred'] + INTEGERS + SUB_BYTE + FLOATS + ODD_FLOATS + COMPLEX
COMMON = ['pred'] + INTEGERS + WIDE_FLOATS + HALF_FLOATS + COMPLEX
COMPONENT = {'c64': 'f32', 'c128': 'f64'}
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.0, -2.0, 2.5, 3.0, -7.0, np.inf, -np.inf, np.nan, 0.49999997,
    20.0, -100.0, 710.0
]


def is_float(element):
    return element in FLOATS or element in ODD_FLOATS


def is_integer(element):
    return element in INTEGERS or element in SUB_BYTE


def width(element):
    """Bits of one element as the type counts them (4 for s4)."""
    if element in SUB_BYTE:
        return int(element[1:])
    if element == 'f4e2m1fn':
        return 4
    return 8 * np.dtype(NUMPY[element]).itemsize


def bounds(element):
    bits = width(element)
    return (0, 2**bits - 1) if element[0] == 'u' else (-2**(bits - 1), 2**(bits - 1) - 1)


def epsilon(element):
    return float(ml_dtypes.finfo(NUMPY[COMPONENT.get(element, element)]).eps)


def tiny(element):
    """The smallest positive normal number."""
    return float(ml_dtypes.finfo(NUMPY[COMPONENT.get(element, element)]).smallest_normal)


def smallest(element):
    """The smallest positive number, subnormal where the type has them."""
    return float(ml_dtypes.finfo(NUMPY[COMPONENT.get(element, element)]).smallest_subnormal)


def cast(values, element):
    with np.errstate(all='ignore'):
        return np.asarray(values).astype(NUMPY[element])


def edge_values(element):
    """The values where a type is likely to go wrong, as a list of Python numbers."""
    if element == 'pred':
        return [False, True]
    if is_integer(element):
        low, high = bounds(element)
        picked = {low, low + 1, -3, -2, -1, 0, 1, 2, 3, 5, 7, high // 2, high - 1, high}
        return sorted(v for v in picked if low <= v <= high)
    if element in COMPLEX:
        parts = [0.0, -0.0, 1.0, -0.5, 3.0, np.inf, -np.inf, np.nan]
        return [complex(a, b) for a in parts for b in parts]
    info = ml_dtypes.finfo(NUMPY[element])
    limits = [float(info.max), float(info.min), float(info.smallest_normal)]
    if element != 'f8e8m0fnu':
        limits += [-float(info.smallest_normal), 1 + float(info.eps)]
    if element not in ('f32', 'f64'):
        limits += [float(info.smallest_subnormal)]
    return SPECIAL + limits


def plain(rng, element, dims, scale=4.0):
    """Ordinary finite values, none near the ends of the type; small integers for integers."""
    if element == 'pred':
        return rng.integers(0, 2, dims).astype(bool)
    if is_integer(element):
        low, high = bounds(element)
        return rng.integers(max(low, -9), min(high, 9) + 1, dims).astype(NUMPY[element])
    if element in COMPLEX:
        return cast(scale * (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)), element)
    values = cast(scale * rng.standard_normal(dims), element)
    return np.abs(values) if element == 'f8e8m0fnu' else values


def random_bits(rng, element, dims):
    """Any value of the type, NaNs and infinities and all."""
    if element == 'pred':
        return rng.integers(0, 2, dims).astype(bool)
    if is_integer(element):
        low, high = bounds(element)
        return rng.integers(low, high, dims, np.uint64 if element == 'u64' else np.int64,
                            True).astype(NUMPY[element])
    count = int(np.prod(dims))
    size = np.dtype(NUMPY[element]).itemsize
    raw = rng.integers(0, 256, count * size, np.uint8)
    if element == 'f4e2m1fn':
        raw &= 15
    return raw.view(NUMPY[element]).reshape(dims)


def edges(rng, element, count):
    """`count` values: all edges first, then ordinary values of several sizes."""
    listed = edge_values(element)
    if element in SUB_BYTE or element == 'pred':
        return random_bits(rng, element, count)
    if is_integer(element):
        rest = random_bits(rng, element, max(0, count - len(listed)))
        return np.concatenate([np.array(listed, NUMPY[element]), rest])[:count]
    scales = np.array([2.0**k for k in rng.integers(-8, 5, max(0, count - len(listed)))])
    rest = plain(rng, element, scales.shape, 1.0).astype('c16' if element in COMPLEX else 'f8') * scales
    return np.concatenate([cast(listed, element), cast(rest, element)])[:count]


def pairs(rng, element, extra):
    """All pairs of edge values and `extra` ordinary pairs."""
    listed = edges(rng, element, len(edge_values(element)))
    if element in COMPLEX:
        listed = listed[rng.permutation(len(listed))[:20]]
    left, right = np.repeat(listed, len(listed)), np.tile(listed, len(listed))
    more = [edges(rng, element, len(listed) + extra)[len(listed):] for _ in range(2)]
    return np.concatenate([left, more[0]]), np.concatenate([right, more[1]])
