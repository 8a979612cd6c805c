"""Element types: how NumPy stores them, and what their bits mean, without ml_dtypes."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Format:
    """A float format: a sign (but for f8e8m0fnu), exponent bits, mantissa bits.

    specials: 'ieee' has infinities and NaNs; 'fn' no infinity, all ones is NaN; 'fnuz' no infinity, the
    pattern of -0 is the NaN; 'e8m0' powers of two, all ones is NaN; 'finite' neither.
    """
    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: str

    @property
    def min_exponent(self):
        return -self.bias if self.specials == 'e8m0' else 1 - self.bias

    @property
    def min_subnormal(self):
        return 2.0**-self.bias if self.specials == 'e8m0' else 2.0**(self.min_exponent - self.mantissa_bits)


FORMATS = {
    'f16': Format(5, 10, 15, 'ieee'),
    'bf16': Format(8, 7, 127, 'ieee'),
    'f32': Format(8, 23, 127, 'ieee'),
    'f64': Format(11, 52, 1023, 'ieee'),
    'f8e5m2': Format(5, 2, 15, 'ieee'),
    'f8e4m3': Format(4, 3, 7, 'ieee'),
    'f8e3m4': Format(3, 4, 3, 'ieee'),
    'f8e4m3fn': Format(4, 3, 7, 'fn'),
    'f8e4m3b11fnuz': Format(4, 3, 11, 'fnuz'),
    'f8e5m2fnuz': Format(5, 2, 16, 'fnuz'),
    'f8e4m3fnuz': Format(4, 3, 8, 'fnuz'),
    'f8e8m0fnu': Format(8, 0, 127, 'e8m0'),
    'f6e3m2fn': Format(3, 2, 3, 'finite'),
    'f6e2m3fn': Format(2, 3, 1, 'finite'),
    'f4e2m1fn': Format(2, 1, 1, 'finite'),
}
COMPONENTS = {'c64': 'f32', 'c128': 'f64'}
NATIVE = {
    'pred': np.dtype(bool), 'f16': np.dtype('<f2'), 'f32': np.dtype('<f4'), 'f64': np.dtype('<f8'),
    'c64': np.dtype('<c8'), 'c128': np.dtype('<c16'),
    **{f'{kind}{bits}': np.dtype(f'<{letter}{bits // 8}')
       for kind, letter in (('s', 'i'), ('u', 'u')) for bits in (8, 16, 32, 64)},
}
ML_DTYPES = {
    'bf16': 'bfloat16', 'f8e5m2': 'float8_e5m2', 'f8e4m3': 'float8_e4m3', 'f8e3m4': 'float8_e3m4',
    'f8e4m3fn': 'float8_e4m3fn', 'f8e4m3b11fnuz': 'float8_e4m3b11fnuz', 'f8e5m2fnuz': 'float8_e5m2fnuz',
    'f8e4m3fnuz': 'float8_e4m3fnuz', 'f8e8m0fnu': 'float8_e8m0fnu', 'f6e3m2fn': 'float6_e3m2fn',
    'f6e2m3fn': 'float6_e2m3fn', 'f4e2m1fn': 'float4_e2m1fn', 's1': 'int1', 'u1': 'uint1', 's2': 'int2',
    'u2': 'uint2', 's4': 'int4', 'u4': 'uint4',
}


def parse_shape(text):
    """'f32[2,3]' with or without a layout -> ('f32', (2, 3))."""
    element, _, rest = text.partition('[')
    sizes = rest.partition(']')[0]
    return element, tuple(int(size) for size in sizes.split(',')) if sizes else ()


def raw(array, element):
    """The array's elements as NumPy's own type, or as unsigned integers of their width."""
    if element in NATIVE:
        return array.view(NATIVE[element]) if array.dtype != NATIVE[element] else array
    return np.ascontiguousarray(array).view(f'<u{array.dtype.itemsize}').reshape(array.shape)


def float_values(bits, element):
    """The numbers that bit patterns of a narrow format mean, as f64."""
    form = FORMATS[element]
    bits = bits.astype(np.int64)
    mantissa_bits, exponent_bits = form.mantissa_bits, form.exponent_bits
    if form.specials == 'e8m0':
        values = np.ldexp(1.0, bits.astype(np.int32) - form.bias)
        return np.where(bits == 0xff, np.nan, values)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    negative = bits >> (mantissa_bits + exponent_bits) & 1 == 1
    is_normal = exponent > 0
    significand = mantissa + np.where(is_normal, 1 << mantissa_bits, 0)
    power = np.maximum(exponent, 1) - form.bias - mantissa_bits
    values = np.ldexp(significand.astype(float), power.astype(np.int32))
    all_ones = exponent == (1 << exponent_bits) - 1
    if form.specials == 'ieee':
        values = np.where(all_ones, np.where(mantissa == 0, np.inf, np.nan), values)
    elif form.specials == 'fn':
        values = np.where(all_ones & (mantissa == (1 << mantissa_bits) - 1), np.nan, values)
    values = np.where(negative, -values, values)
    if form.specials == 'fnuz':
        values = np.where(bits == 1 << (mantissa_bits + exponent_bits), np.nan, values)
    return values


def signed_values(bits, width):
    """Integers of fewer than 8 bits, whose upper bits in the byte mean nothing."""
    low = bits.astype(np.int64) & ((1 << width) - 1)
    return np.where(low >> (width - 1) & 1 == 1, low - (1 << width), low)


def values(array, element):
    """What the array's elements are: f64, c128, bool, or integers of at least their width."""
    bits = raw(array, element)
    if element in COMPONENTS:
        return bits.astype(np.complex128)
    if element in FORMATS:
        return bits.astype(np.float64) if element in NATIVE else float_values(bits, element)
    if element in NATIVE:
        return bits
    width = int(element[1:])
    return signed_values(bits, width) if element[0] == 's' else bits.astype(np.int64) & ((1 << width) - 1)


def as_ml_dtypes(array, element):
    """The array in the type that JAX has for it; a TypeError names the type where there is none."""
    if element in NATIVE:
        return array.view(NATIVE[element])
    import ml_dtypes
    name = ML_DTYPES.get(element)
    if name is None or not hasattr(ml_dtypes, name):
        raise TypeError(f'ml_dtypes has no type for {element}')
    return np.ascontiguousarray(array).view(getattr(ml_dtypes, name)).reshape(array.shape)
