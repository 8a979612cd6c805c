"""What the generators of golden/linalg share: exact sums, one rounding, and writing goldens.

Values of every float type are Python floats (exact); sums and products are Fractions; rn() rounds once.
"""
import itertools
import math
import os
from fractions import Fraction

from written import Script

SCRIPT = Script(os.path.join(os.path.dirname(os.path.abspath(__file__)), "linalg.py"))

# name: (precision, least exponent of a normal, greatest finite value, overflow goes to)
FORMATS = {
    "f64": (53, -1022, (2 - 2.0**-52) * 2.0**1023, "inf"),
    "f32": (24, -126, (2 - 2.0**-23) * 2.0**127, "inf"),
    "f16": (11, -14, 65504.0, "inf"),
    "bf16": (8, -126, (2 - 2.0**-7) * 2.0**127, "inf"),
    "f8e5m2": (3, -14, 57344.0, "inf"),
    "f8e4m3fn": (4, -6, 448.0, "nan"),
    "f8e4m3fnuz": (4, -7, 240.0, "nan"),
    "f4e2m1fn": (2, 0, 6.0, "saturate"),
}
INTS = {"s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
FORMATS["f8e8m0fnu"] = (1, -127, 2.0**127, "nan")
COMPONENT = {"c64": "f32", "c128": "f64"}
NAN, INF = math.nan, math.inf


def rn(type_name, value, negative_zero=False):
    """RN_F of a Fraction (or int); +-inf and NaN as floats pass through."""
    precision, low, greatest, overflow = FORMATS[type_name]
    if isinstance(value, float) and not math.isfinite(value):
        return value if overflow == "inf" or math.isnan(value) else NAN
    value = Fraction(value)
    if value == 0:
        return -0.0 if negative_zero else 0.0
    sign, x = (-1, -value) if value < 0 else (1, value)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** e > x:
        e -= 1
    unit = Fraction(2) ** (max(e, low) - precision + 1)
    n, rest = divmod(x, unit)
    if rest * 2 > unit or (rest * 2 == unit and n % 2 == 1):
        n += 1
    x = n * unit
    if x > Fraction(greatest):
        return {"inf": sign * INF, "nan": NAN, "saturate": sign * greatest}[overflow]
    return math.copysign(float(x), sign)


def wrap(type_name, value):
    bits = INTS[type_name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if type_name[0] == "s" and value >> (bits - 1) else value


def exact_sum(type_name, terms):
    """The exact sum of terms, rounded once. A term is a float or a pair of factors."""
    total, positive, negative, nan, any_term, all_minus = Fraction(0), False, False, False, False, True
    for term in terms:
        a, b = term if isinstance(term, tuple) else (term, 1.0)
        any_term = True
        p = a * b if not (math.isfinite(a) and math.isfinite(b)) else None
        if p is not None:
            nan |= math.isnan(p)
            positive |= p == INF
            negative |= p == -INF
            all_minus = False
            continue
        minus = math.copysign(1, a) * math.copysign(1, b) < 0
        all_minus &= minus and (a == 0 or b == 0)
        total += Fraction(a) * Fraction(b)
    if nan or (positive and negative):
        return NAN
    if positive or negative:
        return rn(type_name, INF if positive else -INF)
    return rn(type_name, total, any_term and all_minus)


def indices(sizes):
    return itertools.product(*(range(n) for n in sizes))


class Array:
    """A row-major array: values are floats, ints, bools or complex pairs."""

    def __init__(self, type_name, sizes, values, bounds=None):
        self.type, self.sizes, self.values = type_name, list(sizes), list(values)
        self.bounds = bounds
        assert len(self.values) == math.prod(self.sizes), (sizes, len(self.values))

    def position(self, index):
        at = 0
        for i, n in zip(index, self.sizes):
            at = at * n + i
        return at

    def __getitem__(self, index):
        return self.values[self.position(index)]

    def __setitem__(self, index, value):
        self.values[self.position(index)] = value

    @staticmethod
    def full(type_name, sizes, value):
        return Array(type_name, sizes, [value] * math.prod(sizes))

    def shape(self):
        return "%s[%s]" % (self.type, ",".join(map(str, self.sizes)))

    def text(self):
        def nested(sizes, values):
            if not sizes:
                return number(values[0], self.type)
            step = math.prod(sizes[1:])
            return "{" + ", ".join(nested(sizes[1:], values[i * step:(i + 1) * step])
                                   for i in range(sizes[0])) + "}"

        return self.shape() + " " + nested(self.sizes, self.values)


def number(x, type_name):
    if type_name in COMPONENT:
        return "(%s, %s)" % (number(x[0], "f64"), number(x[1], "f64"))
    if type_name == "pred":
        return "true" if x else "false"
    if type_name in INTS:
        return str(int(x))
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == int(x) and abs(x) < 1 << 20 and not (x == 0 and math.copysign(1, x) < 0):
        return str(int(x))
    head, exponent = float(x).hex().split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return head + "p" + exponent




def golden(name, oracle, program, args=(), outs=(), refuse=None, decision=None):
    """Writes golden/linalg/NAME.hlo. outs: Arrays; refuse: "3 text"."""
    lines = ["// oracle: " + oracle]
    if decision:
        lines.append("// decision: " + decision)
    lines += ["// arg%d: %s" % (i, a.text()) for i, a in enumerate(args)]
    lines += ["// out%d: %s" % (i, a.text()) for i, a in enumerate(outs)]
    if refuse:
        lines.append("// refuse: " + refuse)
    lines.append("HloModule " + name.replace("-", "_"))
    lines.append("")
    SCRIPT.write("linalg", name, "\n".join(lines) + "\n" + program.strip() + "\n")


def refuse(name, label, program, code=3):
    golden(name, "spec", program, refuse="%d %s" % (code, label))


def reducer(type_name, op, name="f"):
    return "%s {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT r = %s[] %s(a, b)\n}\n" % (
        name, type_name, type_name, type_name, op)


def entry(*lines):
    return "ENTRY main {\n" + "\n".join("  " + line for line in lines) + "\n}\n"


class Random:
    """A small generator of its own, the same on every Python."""

    def __init__(self, seed):
        self.state = seed * 2 + 1

    def bits(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & ((1 << 64) - 1)
        return (self.state >> 11) & ((1 << n) - 1) if n <= 53 else self.state

    def integer(self, low, high):
        return low + self.bits(40) % (high - low + 1)

    def value(self, type_name, spread=6):
        if type_name == "pred":
            return bool(self.bits(1))
        if type_name in COMPONENT:
            return (self.value(COMPONENT[type_name], spread), self.value(COMPONENT[type_name], spread))
        if type_name in INTS:
            return wrap(type_name, self.bits(53) * 2654435761)
        precision = FORMATS[type_name][0]
        mantissa = self.bits(min(precision, 52)) - (1 << (precision - 1 if precision < 53 else 51))
        scale = self.integer(-spread, spread) - precision
        return rn(type_name, Fraction(mantissa) * Fraction(2) ** scale)

    def array(self, type_name, sizes, spread=6):
        return Array(type_name, sizes, [self.value(type_name, spread) for _ in range(math.prod(sizes))])
