"""golden/elementwise: exact scalar functions. Those of floats map decoded values to values."""
from fractions import Fraction
from math import floor, trunc

from elementwise_base import HALF
from float_bits import NAN, fin, half_even, inf, signed


def f_abs(v):
    return (v[0], 0, v[2])


def f_negate(v):
    return (v[0], 1 - v[1], v[2])


def f_sign(v):
    if v[0] == "nan" or (v[0] == "fin" and v[2] == 0):
        return v
    return fin(1, v[1]) if not v[1] else ("fin", 1, Fraction(1))


def rounding(f):
    def apply(v):
        if v[0] != "fin":
            return v
        return ("fin", v[1], abs(Fraction(f(signed(v)))))
    return apply


def afz(x):
    return (1 if x >= 0 else -1) * floor(abs(x) + HALF)


def even(x):
    return (1 if x >= 0 else -1) * half_even(abs(x))


def f_add(a, b):
    if "nan" in (a[0], b[0]) or (a[0] == b[0] == "inf" and a[1] != b[1]):
        return NAN
    if a[0] == "inf" or b[0] == "inf":
        return a if a[0] == "inf" else b
    total = signed(a) + signed(b)
    if total == 0:
        return ("fin", int(a[1] and b[1] and a[2] == 0), Fraction(0))
    return fin(total)


def f_subtract(a, b):
    return f_add(a, f_negate(b) if b[0] != "nan" else b)


def f_multiply(a, b):
    if "nan" in (a[0], b[0]):
        return NAN
    sign = a[1] ^ b[1]
    if "inf" in (a[0], b[0]):
        zero = any(v[0] == "fin" and v[2] == 0 for v in (a, b))
        return NAN if zero else inf(sign)
    return ("fin", sign, a[2] * b[2])


def f_divide(a, b):
    if "nan" in (a[0], b[0]) or a[0] == b[0] == "inf":
        return NAN
    sign = a[1] ^ b[1]
    if a[0] == "inf":
        return inf(sign)
    if b[0] == "inf":
        return ("fin", sign, Fraction(0))
    if b[2] == 0:
        return NAN if a[2] == 0 else inf(sign)
    return ("fin", sign, a[2] / b[2])


def f_remainder(a, b):
    if "nan" in (a[0], b[0]) or a[0] == "inf" or (b[0] == "fin" and b[2] == 0):
        return NAN
    if b[0] == "inf":
        return a
    return ("fin", a[1], a[2] - trunc(a[2] / b[2]) * b[2])


def order_key(v):
    if v[0] == "inf":
        return (-1, 0) if v[1] else (1, 0)
    return (0, signed(v))


def f_maximum(a, b):
    if "nan" in (a[0], b[0]):
        return NAN
    if order_key(a) == order_key(b):
        return (a[0], a[1] & b[1], a[2])
    return a if order_key(a) > order_key(b) else b


def f_minimum(a, b):
    if "nan" in (a[0], b[0]):
        return NAN
    if order_key(a) == order_key(b):
        return (a[0], a[1] | b[1], a[2])
    return a if order_key(a) < order_key(b) else b


def truncated(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def i_divide(t, a, b):
    return (-1 if t.kind == "s" else t.max_int) if b == 0 else truncated(a, b)


def i_remainder(t, a, b):
    return a if b == 0 else a - truncated(a, b) * b


def pattern(t, x):
    return x & ((1 << t.width) - 1)


def i_shl(t, a, b):
    s = pattern(t, b)
    return 0 if s >= t.width else a << s


def i_srl(t, a, b):
    s = pattern(t, b)
    return 0 if s >= t.width else pattern(t, a) >> s


def i_sra(t, a, b):
    s, bits = pattern(t, b), pattern(t, a)
    low = bits - (1 << t.width) if bits >> (t.width - 1) else bits
    return low >> min(s, t.width)
