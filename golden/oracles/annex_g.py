#!/usr/bin/env python3
"""Goldens of complex functions where a part is infinite or NaN, or both are zero, and of complex quotients.

The expected values are the rows of ISO/IEC 9899:2018 (C17), Annex G.6, written out by hand, defect report 471
included: a row holds for operands whose imaginary part has a positive sign, and conjugation gives the others
(f(conj z) = conj f(z)); rows of odd and even functions hold for positive real parts. asin, sin, tan and cos
are what G.6 defines them as: asinh, sinh, tanh and cosh of iz. A sign that the standard leaves open is marked
"?": it is the one of the decision complex-unspecified-signs, positive but for those in OPEN_SIGNS. Quotients
are those of G.5.1: a c + b d and b c - a d over c^2 + d^2 in extended reals, and recovery only where both
parts are NaN.
"""
import math
import struct
from fractions import Fraction

import written

INF, NAN = math.inf, math.nan
ANGLES = {"pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4}
# pi and its quarters rounded to f32: 3pi/4 as a double lies far from a midpoint of floats, as the others do.

ANY, FINITE, NONZERO, NONZERO_NUMBER = "any", "finite", "nonzero finite", "nonzero number"


def matches(pattern, value):
    if isinstance(pattern, float):
        return value != value if pattern != pattern else value == pattern
    return {ANY: True, FINITE: math.isfinite(value), NONZERO: math.isfinite(value) and value != 0,
            NONZERO_NUMBER: value == value and value != 0, "0+": value == 0 and math.copysign(1, value) > 0,
            "0-": value == 0 and math.copysign(1, value) < 0, "0": value == 0}[pattern]


# (real part, imaginary part, result's parts); "?" before a part: its sign is open in the standard.
ACOS = [("0", "0", "pi/2", "-0"), ("0", NAN, "pi/2", "nan"), (FINITE, INF, "pi/2", "-inf"),
        (NONZERO, NAN, "nan", "nan"),
        (-INF, FINITE, "pi", "-inf"), (INF, FINITE, "0", "-inf"), (-INF, INF, "3pi/4", "-inf"),
        (INF, INF, "pi/4", "-inf"),
        (-INF, NAN, "nan", "?-inf"), (INF, NAN, "nan", "?-inf"), (NAN, FINITE, "nan", "nan"),
        (NAN, INF, "nan", "-inf"), (NAN, NAN, "nan", "nan")]
ACOSH = [("0", "0", "0", "pi/2"), (FINITE, INF, "inf", "pi/2"), ("0", NAN, "nan", "?pi/2"),
         (NONZERO, NAN, "nan", "nan"),
         (-INF, FINITE, "inf", "pi"), (INF, FINITE, "inf", "0"), (-INF, INF, "inf", "3pi/4"),
         (INF, INF, "inf", "pi/4"),
         (-INF, NAN, "inf", "nan"), (INF, NAN, "inf", "nan"), (NAN, FINITE, "nan", "nan"),
         (NAN, INF, "inf", "nan"), (NAN, NAN, "nan", "nan")]
ASINH = [("0", "0", "0", "0"), (FINITE, INF, "inf", "pi/2"), (FINITE, NAN, "nan", "nan"),
         (INF, FINITE, "inf", "0"),
         (INF, INF, "inf", "pi/4"), (INF, NAN, "inf", "nan"), (NAN, "0", "nan", "0"),
         (NAN, NONZERO, "nan", "nan"), (NAN, INF, "?inf", "nan"), (NAN, NAN, "nan", "nan")]
ATANH = [("0", "0", "0", "0"), ("0", NAN, "0", "nan"), (1.0, "0", "inf", "0"), (FINITE, INF, "0", "pi/2"),
         (NONZERO, NAN, "nan", "nan"), (INF, FINITE, "0", "pi/2"), (INF, INF, "0", "pi/2"),
         (INF, NAN, "0", "nan"),
         (NAN, FINITE, "nan", "nan"), (NAN, INF, "?0", "pi/2"), (NAN, NAN, "nan", "nan")]
COSH = [("0", "0", "1", "0"), ("0", INF, "nan", "?0"), ("0", NAN, "nan", "?0"), (NONZERO, INF, "nan", "nan"),
        (NONZERO, NAN, "nan", "nan"), (INF, "0", "inf", "0"), (INF, NONZERO, "inf cos", "inf sin"),
        (INF, INF, "?inf", "nan"),
        (INF, NAN, "inf", "nan"), (NAN, "0", "nan", "?0"), (NAN, NONZERO_NUMBER, "nan", "nan"),
        (NAN, NAN, "nan", "nan")]
SINH = [("0", "0", "0", "0"), ("0", INF, "?0", "nan"), ("0", NAN, "?0", "nan"), (NONZERO, INF, "nan", "nan"),
        (NONZERO, NAN, "nan", "nan"), (INF, "0", "inf", "0"), (INF, NONZERO, "inf cos", "inf sin"),
        (INF, INF, "?inf", "nan"),
        (INF, NAN, "?inf", "nan"), (NAN, "0", "nan", "0"), (NAN, NONZERO_NUMBER, "nan", "nan"),
        (NAN, NAN, "nan", "nan")]
# Defect report 471: the rows of (0, inf) and (0, nan).
TANH = [("0", "0", "0", "0"), ("0", INF, "0", "nan"), (NONZERO, INF, "nan", "nan"), ("0", NAN, "0", "nan"),
        (NONZERO, NAN, "nan", "nan"), (INF, FINITE, "1", "0 sin2"), (INF, INF, "1", "?0"),
        (INF, NAN, "1", "?0"),
        (NAN, "0", "nan", "0"), (NAN, NONZERO_NUMBER, "nan", "nan"), (NAN, NAN, "nan", "nan")]
EXP = [("0", "0", "1", "0"), (FINITE, INF, "nan", "nan"), (FINITE, NAN, "nan", "nan"), (INF, "0", "inf", "0"),
       (-INF, FINITE, "0 cos", "0 sin"), (INF, NONZERO, "inf cos", "inf sin"), (-INF, INF, "?0", "?0"),
       (INF, INF, "?inf", "nan"), (-INF, NAN, "?0", "?0"), (INF, NAN, "?inf", "nan"), (NAN, "0", "nan", "0"),
       (NAN, NONZERO_NUMBER, "nan", "nan"), (NAN, NAN, "nan", "nan")]
LOG = [("0-", "0", "-inf", "pi"), ("0+", "0", "-inf", "0"), (FINITE, INF, "inf", "pi/2"),
       (FINITE, NAN, "nan", "nan"),
       (-INF, FINITE, "inf", "pi"), (INF, FINITE, "inf", "0"), (-INF, INF, "inf", "3pi/4"),
       (INF, INF, "inf", "pi/4"),
       (-INF, NAN, "inf", "nan"), (INF, NAN, "inf", "nan"), (NAN, FINITE, "nan", "nan"),
       (NAN, INF, "inf", "nan"), (NAN, NAN, "nan", "nan")]
SQRT = [("0", "0", "0", "0"), (ANY, INF, "inf", "inf"), (FINITE, NAN, "nan", "nan"),
        (-INF, FINITE, "0", "inf"),
        (INF, FINITE, "inf", "0"), (-INF, NAN, "nan", "?inf"), (INF, NAN, "inf", "nan"),
        (NAN, FINITE, "nan", "nan"), (NAN, NAN, "nan", "nan")]


def part(text, y):
    text = text.lstrip("?")
    if " " not in text:
        return -part(text[1:], y) if text[0] == "-" else ANGLES[text] if text in ANGLES else float(text)
    size, of = text.split()
    return math.copysign(float(size), {"cos": math.cos(y), "sin": math.sin(y), "sin2": math.sin(2 * y)}[of]
                         if y != 0 or of == "cos" else y)


def from_table(rows, parity):
    """The function of a table; parity is -1 for odd functions, 1 for even ones, None for others."""
    def f(x, y):
        conjugate = math.copysign(1, y) < 0 and y == y
        mirrored = parity is not None and x == x and math.copysign(1, x) < 0
        re, im = mirror = (-x if mirrored else x), (-y if mirrored else y)
        if mirrored:
            re, im = f(*mirror)
            return (-re, -im) if parity < 0 else (re, im)
        if conjugate:
            re, im = f(x, -y)
            return re, -im
        row = next(r for r in rows if matches(r[0], x) and matches(r[1], y))
        return part(row[2], y), part(row[3], y)
    return f


def rotated(f, back):
    """f(iz), and -i times that where `back`."""
    def g(x, y):
        re, im = f(-y, x)
        return (im, -re) if back else (re, im)
    return g


TABLES = {"acos": from_table(ACOS, None), "acosh": from_table(ACOSH, None), "asinh": from_table(ASINH, -1),
          "atanh": from_table(ATANH, -1), "cosh": from_table(COSH, 1), "sinh": from_table(SINH, -1),
          "tanh": from_table(TANH, -1), "exponential": from_table(EXP, None), "log": from_table(LOG, None),
          "sqrt": from_table(SQRT, None)}
FUNCTIONS = TABLES | {"asin": rotated(TABLES["asinh"], True), "sine": rotated(TABLES["sinh"], True),
                      "tan": rotated(TABLES["tanh"], True), "cosine": rotated(TABLES["cosh"], False)}

# The open signs that the decision takes from MPC where the symmetries of the tables give the other one.
OPEN_SIGNS = {("cosh", "(-0.0, nan)"): (NAN, -0.0), ("cosh", "(nan, 0.0)"): (NAN, -0.0),
              ("cosh", "(nan, -0.0)"): (NAN, 0.0), ("cosine", "(nan, -0.0)"): (NAN, -0.0),
              ("tanh", "(-inf, nan)"): (-1.0, 0.0), ("exponential", "(-inf, -inf)"): (0.0, 0.0),
              ("asin", "(inf, nan)"): (NAN, INF),
              ("asin", "(-inf, nan)"): (NAN, INF), ("tan", "(nan, inf)"): (0.0, 1.0)}

NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, INF, -INF, NAN]
# Parts that are not finite, and both zero: what the tables are about.
OPERANDS = [(x, y) for x in NUMBERS for y in NUMBERS
            if not (math.isfinite(x) and math.isfinite(y)) or (x == 0 and y == 0)]


def sum_of_products(a, c, b, d):
    """a c + b d in extended reals."""
    terms = [a * c, b * d]
    if all(math.isfinite(v) for v in (a, b, c, d)):
        exact = Fraction(a) * Fraction(c) + Fraction(b) * Fraction(d)
        return float(exact) if exact != 0 else terms[0] + terms[1]
    return terms[0] + terms[1]


def divide(z, w):
    """G.5.1, where a part of either is not finite, or w is zero."""
    (a, b), (c, d) = z, w
    norm = c * c + d * d
    over = [sum_of_products(a, c, b, d), sum_of_products(b, c, -a, d)]
    parts = [NAN if norm != norm or v != v or (math.isinf(v) and math.isinf(norm)) or (norm == 0 and v == 0)
             else math.copysign(INF, v) if norm == 0 else v / norm for v in over]
    if not all(p != p for p in parts):
        return tuple(parts)
    box = lambda v: math.copysign(1.0 if math.isinf(v) else 0.0, v)
    if c == 0 and d == 0 and (a == a or b == b):
        return math.copysign(INF, c) * a, math.copysign(INF, c) * b
    if (math.isinf(a) or math.isinf(b)) and math.isfinite(c) and math.isfinite(d):
        p, q = box(a), box(b)
        return INF * (p * c + q * d), INF * (q * c - p * d)
    if (math.isinf(c) or math.isinf(d)) and math.isfinite(a) and math.isfinite(b):
        p, q = box(c), box(d)
        return 0.0 * (a * p + b * q), 0.0 * (b * p - a * q)
    return NAN, NAN


def number(value, element):
    if value != value:
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if element == "c64":
        value = struct.unpack("f", struct.pack("f", value))[0]
    return value.hex()


def array(element, values):
    parts = ", ".join(f"({number(re, element)}, {number(im, element)})" for re, im in values)
    return f"{element}[{len(values)}] {{{parts}}}"


def golden(name, note, op, element, operands, results, decision=None):
    n = len(results)
    names = ["x", "y"][:len(operands)]
    lines = [f"// oracle: hand: {note}"]
    if decision:
        lines.append(f"// decision: {decision}")
    lines += [f"// arg{k}: {array(element, values)}" for k, values in enumerate(operands)]
    lines += [f"// out0: {array(element, results)}", f"HloModule {name}", "ENTRY e {"]
    lines += [f"  {v} = {element}[{n}] parameter({k})" for k, v in enumerate(names)]
    lines += [f"  ROOT r = {element}[{n}] {op}({', '.join(names)})", "}", ""]
    return "\n".join(lines)


def main(dry_run):
    script = written.Script(__file__)
    for op, function in FUNCTIONS.items():
        for element in ("c64", "c128"):
            script.write("elementwise", f"{op}_annex_g_{element}",
                         golden(f"{op}_annex_g_{element}", "C17, Annex G.6, with defect report 471", op,
                                element, [OPERANDS],
                                [OPEN_SIGNS.get((op, str(z)), function(*z)) for z in OPERANDS],
                                "complex-unspecified-signs"))
    parts = [0.0, -0.0, 2.0, -3.0, 0.5, INF, -INF, NAN]
    pairs = [((a, b), (c, d)) for a in parts for b in parts for c in parts for d in parts
             if not all(math.isfinite(v) for v in (a, b, c, d)) or (c == 0 and d == 0)]
    for k in range(8):
        some = pairs[k::8]
        element = "c64" if k % 2 else "c128"
        script.write("elementwise", f"divide_annex_g_{k}",
                     golden(f"divide_annex_g_{k}", "C17, Annex G.5.1", "divide", element,
                            [[z for z, _ in some], [w for _, w in some]], [divide(z, w) for z, w in some],
                            "complex-divide-recovery"))
    script.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
