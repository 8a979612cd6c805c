"""Element types as bit patterns, exact: an oracle that shares nothing with the code under test.

A float value is ("nan", 0, 0), ("inf", sign, 0) or ("fin", sign, magnitude) with an exact Fraction; sign is
0 or 1. rn() is RN_F of docs/spec/shapes.md 2.1.
"""
from fractions import Fraction
from math import isqrt

NAN = ("nan", 0, 0)


def fin(x, sign=None):
    x = Fraction(x)
    return ("fin", int(x < 0) if sign is None else sign, abs(x))


def inf(sign=0):
    return ("inf", sign, 0)


def signed(value):
    return -value[2] if value[1] else value[2]


def floor_log2(x):
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def half_even(x):
    n = x.numerator // x.denominator
    rest = x - n
    return n + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2 == 1))


class Type:
    def __init__(self, name, kind, width, exponent=0, mantissa=0, bias=0, specials=""):
        self.name, self.kind, self.width = name, kind, width
        self.e, self.m, self.bias, self.specials = exponent, mantissa, bias, specials
        if kind == "f":
            self._float_limits()

    def _float_limits(self):
        ones = (1 << self.e) - 1
        self.min_exponent = -self.bias if self.specials == "e8m0" else 1 - self.bias
        top = {"ieee": ones - 1, "e8m0": ones - 1}.get(self.specials, ones)
        last = (1 << self.m) - (2 if self.specials == "fn" else 1)
        self.max = (1 + Fraction(last, 1 << self.m)) * Fraction(2) ** (top - self.bias)
        self.sign_bit = 0 if self.specials == "e8m0" else 1 << (self.width - 1)
        quiet = 1 << (self.m - 1) if self.m else 0
        self.nan_bits = {
            "ieee": ones << self.m | quiet,
            "fn": (1 << (self.width - 1)) - 1,
            "fnuz": self.sign_bit,
            "e8m0": ones,
            "finite": self.sign_bit,
        }[self.specials]

    # Integers.
    def wrap(self, x):
        return x & ((1 << self.width) - 1)

    def value(self, bits):
        """The integer, boolean or float that a pattern means."""
        if self.kind == "f":
            return self.decode(bits)
        if self.kind == "s" and bits >> (self.width - 1):
            return bits - (1 << self.width)
        return bits

    @property
    def min_int(self):
        return -(1 << (self.width - 1)) if self.kind == "s" else 0

    @property
    def max_int(self):
        return (1 << (self.width - (self.kind == "s"))) - 1

    # Floats.
    def is_nan(self, bits):
        magnitude = bits & ~self.sign_bit
        if self.specials == "ieee":
            return magnitude > ((1 << self.e) - 1) << self.m
        if self.specials == "fn":
            return magnitude == self.nan_bits
        return self.specials != "finite" and bits == self.nan_bits

    def decode(self, bits):
        if self.is_nan(bits):
            return NAN
        sign = int(bool(bits & self.sign_bit))
        magnitude = bits & ~self.sign_bit
        exponent, fraction = magnitude >> self.m, magnitude & ((1 << self.m) - 1)
        if self.specials == "ieee" and exponent == (1 << self.e) - 1:
            return inf(sign)
        if exponent == 0 and self.specials != "e8m0":
            return fin(Fraction(fraction, 1 << self.m) * Fraction(2) ** self.min_exponent, sign)
        return fin((1 + Fraction(fraction, 1 << self.m)) * Fraction(2) ** (exponent - self.bias), sign)

    def encode(self, magnitude, sign):
        if magnitude < Fraction(2) ** self.min_exponent:
            field = int(magnitude / Fraction(2) ** (self.min_exponent - self.m))
        else:
            e = floor_log2(magnitude)
            field = (e + self.bias) << self.m
            field |= int((magnitude / Fraction(2) ** e - 1) * (1 << self.m))
        if field == 0 and self.specials == "fnuz":
            return 0
        return field | (self.sign_bit if sign else 0)

    def overflow(self, sign):
        if self.specials == "ieee":
            return ((1 << self.e) - 1) << self.m | (self.sign_bit if sign else 0)
        return self.encode(self.max, sign) if self.specials == "finite" else self.nan_bits

    def rn(self, value):
        kind, sign, magnitude = value
        if kind == "nan":
            return self.nan_bits
        if self.specials == "e8m0":
            return self._rn_e8m0(value)
        if kind == "inf":
            return self.overflow(sign)
        if magnitude == 0:
            return self.encode(magnitude, sign)
        quantum = Fraction(2) ** (max(floor_log2(magnitude), self.min_exponent) - self.m)
        rounded = half_even(magnitude / quantum) * quantum
        return self.overflow(sign) if rounded > self.max else self.encode(rounded, sign)

    def _rn_e8m0(self, value):
        kind, sign, magnitude = value
        if kind == "inf" or sign or magnitude == 0:
            return 0xFF
        e = floor_log2(magnitude)
        e += magnitude >= Fraction(3, 2) * Fraction(2) ** e  # a tie goes up
        return 0xFF if e > 127 else max(e + 127, 0)

    # Text.
    def text(self, bits):
        if self.kind == "pred":
            return "true" if bits else "false"
        return self._float_text(bits) if self.kind == "f" else str(self.value(bits))

    def _float_text(self, bits):
        kind, sign, magnitude = self.decode(bits)
        if kind == "nan":
            if self.specials == "ieee":
                minus = "-" if bits & self.sign_bit else ""
                payload = bits & ((1 << self.m) - 1)
                plain = payload == self.nan_bits & ((1 << self.m) - 1)
                return minus + "nan" + ("" if plain else f"(0x{payload:x})")
            return "-nan" if self.specials == "fn" and bits & self.sign_bit else "nan"
        if kind == "inf":
            return "-inf" if sign else "inf"
        if magnitude == 0:
            return "-0.0" if sign else "0"
        return ("-" if sign else "") + hex_text(magnitude)


def hex_text(x):
    e = floor_log2(x)
    digits = x / Fraction(2) ** e - 1
    out = ""
    while digits:
        digits *= 16
        out += "0123456789abcdef"[int(digits)]
        digits -= int(digits)
    return f"0x1{'.' + out if out else ''}p{e:+d}"


def sqrt_near(x):
    """A Fraction on the same side of every rounding boundary as the square root of x >= 0."""
    shift = 2 * max(0, 600 - floor_log2(x)) if x else 0
    scaled = x * (1 << shift)
    root = isqrt(int(scaled))
    exact = scaled.denominator == 1 and root * root == scaled
    return (Fraction(root) if exact else Fraction(2 * root + 1, 2)) / (1 << (shift // 2))


def _f(name, width, e, m, bias, specials):
    return Type(name, "f", width, e, m, bias, specials)


PRED = Type("pred", "pred", 8)
SIGNED = [Type(f"s{w}", "s", w) for w in (1, 2, 4, 8, 16, 32, 64)]
UNSIGNED = [Type(f"u{w}", "u", w) for w in (1, 2, 4, 8, 16, 32, 64)]
WIDE = [
    _f("f16", 16, 5, 10, 15, "ieee"),
    _f("bf16", 16, 8, 7, 127, "ieee"),
    _f("f32", 32, 8, 23, 127, "ieee"),
    _f("f64", 64, 11, 52, 1023, "ieee"),
]
NARROW = [
    _f("f8e5m2", 8, 5, 2, 15, "ieee"),
    _f("f8e4m3", 8, 4, 3, 7, "ieee"),
    _f("f8e4m3fn", 8, 4, 3, 7, "fn"),
    _f("f8e4m3b11fnuz", 8, 4, 3, 11, "fnuz"),
    _f("f8e3m4", 8, 3, 4, 3, "ieee"),
    _f("f8e5m2fnuz", 8, 5, 2, 16, "fnuz"),
    _f("f8e4m3fnuz", 8, 4, 3, 8, "fnuz"),
    _f("f8e8m0fnu", 8, 8, 0, 127, "e8m0"),
    _f("f6e3m2fn", 6, 3, 2, 3, "finite"),
    _f("f6e2m3fn", 6, 2, 3, 1, "finite"),
    _f("f4e2m1fn", 4, 2, 1, 1, "finite"),
]
INTEGRAL = SIGNED + UNSIGNED
FLOATS = WIDE + NARROW
BY_NAME = {t.name: t for t in [PRED] + INTEGRAL + FLOATS}


def check_against_ml_dtypes():
    """The tables and rn() agree with ml_dtypes wherever that has the format and the same meaning."""
    import random

    import ml_dtypes
    import numpy as np

    names = {"f8e5m2": "float8_e5m2", "f8e4m3": "float8_e4m3", "f8e4m3fn": "float8_e4m3fn",
             "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e3m4": "float8_e3m4", "f8e5m2fnuz": "float8_e5m2fnuz",
             "f8e4m3fnuz": "float8_e4m3fnuz", "f6e3m2fn": "float6_e3m2fn", "f6e2m3fn": "float6_e2m3fn",
             "f4e2m1fn": "float4_e2m1fn", "bf16": "bfloat16"}
    rng = random.Random(7)
    for t in FLOATS:
        if t.name == "f8e8m0fnu":
            continue
        plain = "f" + str(t.width // 8)
        dtype = np.dtype(getattr(ml_dtypes, names[t.name]) if t.name in names else plain)
        for _ in range(400):
            x = rng.uniform(-2, 2) * 2.0 ** rng.randint(-20, 20)
            x = float(np.float32(x))
            got = np.array([x], np.float32).astype(dtype).view(f"u{dtype.itemsize}")[0]
            want = t.rn(fin(x, int(x < 0)))
            got = int(got) & ((1 << t.width) - 1)
            same = t.is_nan(got) and t.is_nan(want)  # ml_dtypes keeps the sign of an overflow's NaN
            assert got == want or same, (t.name, x, hex(got), hex(want))


if __name__ == "__main__":
    check_against_ml_dtypes()
    print("float_bits agrees with ml_dtypes")
