#!/usr/bin/env python3
"""Writes golden/elementwise/: exact values by Python integers and fractions, refusals, and the worked
examples of docs/spec/operations-elementwise.md (elementwise_spec.py). Run it again after a change: output is
reproducible.

The transcendental functions, power and atan2 are not here (their goldens come from MPFR).
"""
import sys
from fractions import Fraction
from math import floor, trunc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import written
from elementwise_base import (Array, HALF, SCRIPT, complex_samples, float_pairs, float_samples, golden,
                              int_pairs, int_samples, rng_for, write)
from elementwise_math import (afz, even, f_abs, f_add, f_divide, f_maximum, f_minimum, f_multiply, f_negate,
                              f_remainder, f_sign, f_subtract, i_divide, i_remainder, i_shl, i_sra, i_srl,
                              order_key, pattern, rounding)
from elementwise_spec import REFUSALS, SPEC_CASES
from float_bits import (BY_NAME, NAN, FLOATS, INTEGRAL, NARROW, PRED, SIGNED, UNSIGNED, WIDE, fin, floor_log2,
                        half_even, inf, signed, sqrt_near)


# ---- goldens ----

def unary_floats(op, f):
    for label, types in (("floats", WIDE), ("narrow_floats", NARROW)):
        cases = []
        for t in types:
            bits = float_samples(t, key=op)
            cases.append(([Array(t, bits)], Array(t, [t.rn(f(t.decode(b))) for b in bits])))
        golden(f"{op}_{label}", op, cases)


def unary_ints(op, types, f, label):
    cases = []
    for t in types:
        bits = int_samples(t)
        cases.append(([Array(t, bits)], Array(t, [t.wrap(f(t, t.value(b))) for b in bits])))
    golden(f"{op}_{label}", op, cases)


def binary_floats(op, f):
    for label, types in (("floats", WIDE), ("narrow_floats", NARROW)):
        cases = []
        for t in types:
            pairs = float_pairs(t, op)
            result = [t.rn(f(t.decode(a), t.decode(b))) for a, b in pairs]
            cases.append(
                ([Array(t, [a for a, _ in pairs]), Array(t, [b for _, b in pairs])], Array(t, result)))
        golden(f"{op}_{label}", op, cases)


def binary_ints(op, f, types=INTEGRAL, label="integers"):
    cases = []
    for t in types:
        pairs = int_pairs(t, op)
        result = [t.wrap(f(t, t.value(a), t.value(b))) for a, b in pairs]
        cases.append(([Array(t, [a for a, _ in pairs]), Array(t, [b for _, b in pairs])], Array(t, result)))
    golden(f"{op}_{label}", op, cases)


def binary_preds(op, f):
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    golden(f"{op}_pred", op, [([Array(PRED, [a for a, _ in pairs]), Array(PRED, [b for _, b in pairs])],
                               Array(PRED, [f(a, b) for a, b in pairs]))])


def complex_parts(t, z):
    return t.decode(z[0]), t.decode(z[1])


def unary_complex(op, f, real_result=False):
    cases = []
    for t in WIDE[2:]:
        zs = complex_samples(t, key=op)
        out = [f(*complex_parts(t, z)) for z in zs]
        if real_result:
            result = Array(t, [t.rn(x) for x in out])
        else:
            result = Array(t, [(t.rn(x), t.rn(y)) for x, y in out], complex_=True)
        cases.append(([Array(t, zs, complex_=True)], result))
    golden(f"{op}_complex", op, cases)


def binary_complex(op, f):
    cases = []
    for t in WIDE[2:]:
        xs, ys = complex_samples(t, key=op + "x"), complex_samples(t, key=op + "y")
        out = [f(complex_parts(t, x), complex_parts(t, y)) for x, y in zip(xs, ys)]
        cases.append(([Array(t, xs, complex_=True), Array(t, ys, complex_=True)],
                      Array(t, [(t.rn(a), t.rn(b)) for a, b in out], complex_=True)))
    golden(f"{op}_complex", op, cases)


def c_multiply(x, y):
    (a, b), (c, d) = x, y
    return f_subtract(f_multiply(a, c), f_multiply(b, d)), f_add(f_multiply(a, d), f_multiply(b, c))


def c_divide(x, y):
    (a, b), (c, d) = [[signed(v) for v in z] for z in (x, y)]
    n = c * c + d * d
    return fin((a * c + b * d) / n), fin((b * c - a * d) / n)


def c_sign(a, b):
    n = a[2] ** 2 + b[2] ** 2
    if n == 0:
        return fin(0), fin(0)
    return tuple(("fin", v[1], sqrt_near(v[2] ** 2 / n)) for v in (a, b))


def zero_elements(op, operands, result, attributes=""):
    def empty(t):
        return Array(t, [], [2, 0])
    golden(f"{op}_zero_elements", op, [([empty(BY_NAME[t]) for t in operands], empty(BY_NAME[result]))],
           attributes, oracle="hand")


def write_unary():
    unary_floats("abs", f_abs)
    unary_ints("abs", SIGNED, lambda t, x: abs(x), "integers")
    unary_complex("abs", lambda a, b: fin(sqrt_near(a[2] ** 2 + b[2] ** 2)), real_result=True)
    unary_floats("negate", lambda v: v if v[0] == "nan" else f_negate(v))
    unary_ints("negate", INTEGRAL, lambda t, x: -x, "integers")
    unary_complex("negate", lambda a, b: (f_negate(a), f_negate(b)))
    unary_floats("sign", f_sign)
    unary_ints("sign", SIGNED, lambda t, x: (x > 0) - (x < 0), "integers")
    unary_complex("sign", c_sign)
    unary_ints("not", INTEGRAL, lambda t, x: ~x, "integers")
    golden("not_pred", "not", [([Array(PRED, [0, 1])], Array(PRED, [1, 0]))])
    unary_ints("popcnt", INTEGRAL, lambda t, x: pattern(t, x).bit_count(), "integers")
    unary_ints("count-leading-zeros", INTEGRAL, lambda t, x: t.width - pattern(t, x).bit_length(), "integers")
    for op, f in (("ceil", lambda x: -floor(-x)), ("floor", floor), ("round-nearest-afz", afz),
                  ("round-nearest-even", even)):
        unary_floats(op, rounding(f))
    for label, types in (("floats", WIDE), ("narrow_floats", NARROW)):
        golden(f"is-finite_{label}", "is-finite",
               [([Array(t, s := float_samples(t))], Array(PRED, [int(t.decode(b)[0] == "fin") for b in s]))
                for t in types])
    write_parts()
    for op in ("abs", "negate", "sign", "ceil", "floor", "round-nearest-afz", "round-nearest-even", "real",
               "imag"):
        zero_elements(op, ["f32"], "f32")
    zero_elements("is-finite", ["bf16"], "pred")
    for op in ("not", "popcnt", "count-leading-zeros"):
        zero_elements(op, ["u8"], "u8")


def payload_nans(t):
    return [b
            for b in (t.nan_bits, t.nan_bits | t.sign_bit, t.nan_bits | 1, t.nan_bits - (1 << (t.m - 1)) + 1)]


def write_parts():
    """real, imag, complex move bits: NaN payloads, signalling ones too."""
    pairs = {t.name: [(a, b) for a, b in zip(float_samples(t) + payload_nans(t),
                                              reversed(float_samples(t) + payload_nans(t)))]
             for t in WIDE[2:]}
    for op, k in (("real", 0), ("imag", 1)):
        golden(f"{op}_complex", op, [([Array(t, pairs[t.name], complex_=True)],
                                      Array(t, [z[k] for z in pairs[t.name]])) for t in WIDE[2:]])
    for label, types in (("floats", WIDE), ("narrow_floats", NARROW)):
        extra = payload_nans if label == "floats" else lambda t: []
        golden(f"real_{label}", "real",
               [([Array(t, s := float_samples(t) + extra(t))], Array(t, s)) for t in types])
        golden(f"imag_{label}", "imag",
               [([Array(t, s := float_samples(t, 12))], Array(t, [t.rn(fin(0, 0))] * len(s)))
                                         for t in types],
               decision="imag-without-zero" if types is NARROW else None)
    golden("complex_parts", "complex",
           [([Array(t, [z[0] for z in pairs[t.name]]), Array(t, [z[1] for z in pairs[t.name]])],
                                         Array(t, pairs[t.name], complex_=True)) for t in WIDE[2:]])
    for t in WIDE[2:]:
        z = (t.rn(fin(Fraction(5, 4))), t.rn(fin(-2)))
        golden(f"complex_scalar_{t.name}", "complex", [([Array(t, [z[0]], []), Array(t, [z[1]], [])],
                                                        Array(t, [z], [], complex_=True))])
    t = BY_NAME["f64"]
    golden("complex_zero_elements", "complex",
           [([Array(t, [], [0, 3])] * 2, Array(t, [], [0, 3], complex_=True))],
           oracle="hand")


def write_binary():
    for op, f, g in (("add", f_add, lambda t, a, b: a + b), ("subtract", f_subtract, lambda t, a, b: a - b),
                     ("multiply", f_multiply, lambda t, a, b: a * b), ("divide", f_divide, i_divide),
                     ("remainder", f_remainder, i_remainder),
                     ("maximum", f_maximum, lambda t, a, b: max(a, b)),
                     ("minimum", f_minimum, lambda t, a, b: min(a, b))):
        binary_floats(op, f)
        binary_ints(op, g)
        zero_elements(op, ["f16", "f16"], "f16")
    binary_preds("add", lambda a, b: a | b)
    binary_preds("multiply", lambda a, b: a & b)
    binary_preds("maximum", max)
    binary_preds("minimum", min)
    binary_complex("add", lambda x, y: (f_add(x[0], y[0]), f_add(x[1], y[1])))
    binary_complex("subtract", lambda x, y: (f_subtract(x[0], y[0]), f_subtract(x[1], y[1])))
    binary_complex("multiply", c_multiply)
    binary_complex("divide", c_divide)
    binary_ints("mulhi", lambda t, a, b: (a * b) >> t.width)
    zero_elements("mulhi", ["s32", "s32"], "s32")
    for op, f in (("and", lambda t, a, b: a & b), ("or", lambda t, a, b: a | b),
                  ("xor", lambda t, a, b: a ^ b)):
        binary_ints(op, f)
        binary_preds(op, lambda a, b, f=f: f(None, a, b))
        zero_elements(op, ["pred", "pred"], "pred")
    for op, f in (("shift-left", i_shl), ("shift-right-arithmetic", i_sra), ("shift-right-logical", i_srl)):
        binary_ints(op, f, SIGNED, "signed")
        binary_ints(op, f, UNSIGNED, "unsigned")
        zero_elements(op, ["u4", "u4"], "u4")


def total_key(t, bits):
    if t.specials in ("fnuz", "e8m0"):
        value = t.decode(bits)
        return (2, 0) if value[0] == "nan" else order_key(value)
    magnitude = bits & ~t.sign_bit
    return -magnitude - 1 if bits & t.sign_bit else magnitude


DIRECTIONS = {"EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "GE": lambda a, b: a >= b,
              "GT": lambda a, b: a > b, "LE": lambda a, b: a <= b, "LT": lambda a, b: a < b}


def float_compare(t, direction, a, b):
    a, b = t.decode(a), t.decode(b)
    if "nan" in (a[0], b[0]):
        return int(direction == "NE")
    return int(DIRECTIONS[direction](order_key(a), order_key(b)))


def compare_cases(direction, types, pairs_of, f, suffix=""):
    cases = []
    for t in types:
        pairs = pairs_of(t)
        cases.append(([Array(t, [a for a, _ in pairs]), Array(t, [b for _, b in pairs])],
                      Array(PRED, [f(t, a, b) for a, b in pairs]), f", direction={direction}{suffix}"))
    return cases


def write_compare():
    nan_pairs = lambda t: [(a, b) for a in payload_nans(t)
                           for b in payload_nans(t)[:2] + [t.rn(inf()), t.rn(inf(1))]]
    for direction, f in DIRECTIONS.items():
        floats = lambda t: float_pairs(t, "compare")[:40]
        cases = compare_cases(direction, FLOATS, floats, lambda t, a, b: float_compare(t, direction, a, b))
        golden(f"compare_{direction.lower()}_floats", "compare", cases)
        total = lambda t: floats(t) + (nan_pairs(t) if t in WIDE else [])
        cases = compare_cases(direction, FLOATS, total,
                              lambda t, a, b: int(f(total_key(t, a), total_key(t, b))), ", type=TOTALORDER")
        golden(f"compare_{direction.lower()}_total_order", "compare", cases,
               decision="total-order-single-nan")
        cases = compare_cases(direction, INTEGRAL, lambda t: int_pairs(t, "compare"),
                              lambda t, a, b: int(f(t.value(a), t.value(b))))
        bools = lambda t: [(a, b) for a in (0, 1) for b in (0, 1)]
        cases += compare_cases(direction, [PRED], bools, lambda t, a, b: int(f(a, b)))
        golden(f"compare_{direction.lower()}_integers", "compare", cases)
    t = BY_NAME["f32"]
    xs = [(0, 0), (t.sign_bit, 0), (1, 2), (1, 2), (t.nan_bits, 0)]
    ys = [(t.sign_bit, t.sign_bit), (0, 1), (1, 2), (1, 3), (t.nan_bits, 0)]
    equal = [1, 0, 1, 0, 0]
    golden("compare_complex", "compare",
           [([Array(t, xs, complex_=True), Array(t, ys, complex_=True)], Array(PRED, equal),
             ", direction=EQ"),
            ([Array(t, xs, complex_=True), Array(t, ys, complex_=True)], Array(PRED, [1 - e for e in equal]),
             ", direction=NE, type=FLOAT")], oracle="hand")
    zero_elements("compare", ["f32", "f32"], "pred", ", direction=LT")


def write_select():
    for label, types in (("floats", FLOATS), ("integers", INTEGRAL)):
        cases = []
        for t in types:
            a = (float_samples(t, 12)
                 + (payload_nans(t) if t in WIDE else [])) if t in FLOATS else int_samples(t, 12)
            b = a[::-1]
            pred = [rng_for("select", t.name, i).randrange(2) for i in range(len(a))]
            cases.append(([Array(PRED, pred), Array(t, a), Array(t, b)],
                          Array(t, [x if p else y for p, x, y in zip(pred, a, b)])))
        golden(f"select_{label}", "select", cases)
    t = BY_NAME["f32"]
    a, b = float_samples(t, 6), float_samples(t, 12)[6:]
    for p in (0, 1):
        golden(f"select_scalar_pred_{'true' if p else 'false'}", "select",
               [([Array(PRED, [p], []), Array(t, a), Array(t, b)], Array(t, a if p else b))])
    golden("select_complex", "select", [([Array(PRED, [1, 0]), Array(t, [(1, 2), (3, 4)], complex_=True),
                                          Array(t, [(5, 6), (t.nan_bits | 5, 8)], complex_=True)],
                                         Array(t, [(1, 2), (t.nan_bits | 5, 8)], complex_=True))])
    golden("select_pred", "select",
           [([Array(PRED, [1, 1, 0, 0]), Array(PRED, [1, 0, 1, 0]), Array(PRED, [0, 1, 0, 1])],
                                      Array(PRED, [1, 0, 0, 1]))])
    zero_elements("select", ["pred", "s16", "s16"], "s16")


def write_clamp():
    cases = []
    for t in FLOATS:
        rng = rng_for("clamp", t.name)
        s = float_samples(t, 24)
        rows = [(rng.choice(s), rng.choice(s), rng.choice(s)) for _ in range(24)]
        result = [t.rn(f_minimum(f_maximum(t.decode(lo), t.decode(x)), t.decode(hi))) for lo, x, hi in rows]
        cases.append(([Array(t, [r[k] for r in rows]) for k in range(3)], Array(t, result)))
    golden("clamp_floats", "clamp", cases)
    cases = []
    for t in INTEGRAL:
        rng = rng_for("clamp", t.name)
        s = int_samples(t)
        rows = [(rng.choice(s), rng.choice(s), rng.choice(s)) for _ in range(16)]
        result = [t.wrap(min(max(t.value(lo), t.value(x)), t.value(hi))) for lo, x, hi in rows]
        cases.append(([Array(t, [r[k] for r in rows]) for k in range(3)], Array(t, result)))
    golden("clamp_integers", "clamp", cases)
    rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    golden("clamp_pred", "clamp", [([Array(PRED, [r[k] for r in rows]) for k in range(3)],
                                    Array(PRED, [(a | b) & c for a, b, c in rows]))])
    t = BY_NAME["bf16"]
    one, two = t.rn(fin(1)), t.rn(fin(2))
    x = [t.rn(fin(v)) for v in (-1, Fraction(3, 2), 5)] + [t.nan_bits, t.rn(inf())]
    want = [one, t.rn(fin(Fraction(3, 2))), two, t.nan_bits, two]
    golden("clamp_scalar_bounds", "clamp",
           [([Array(t, [one], []), Array(t, x), Array(t, [two], [])], Array(t, want))],
           oracle="hand")
    zero_elements("clamp", ["f32", "f32", "f32"], "f32")


def convert_value(source, target, bits):
    """convert of one element, by the table of ConvertElementType."""
    if source is target:
        return bits
    value = source.value(bits)
    if source.kind != "f":
        if target.kind == "pred":
            return int(value != 0)
        return target.rn(fin(value, int(value < 0))) if target.kind == "f" else target.wrap(value)
    if target.kind == "pred":
        return int(value[0] != "fin" or value[2] != 0)
    if target.kind == "f":
        return target.rn(value)
    if value[0] == "nan":
        return 0
    whole = (target.min_int if value[1] else target.max_int) if value[0] == "inf" else trunc(signed(value))
    return target.wrap(max(target.min_int, min(target.max_int, whole)))


def convert_samples(source):
    if source.kind == "pred":
        return [0, 1]
    if source.kind != "f":
        big = [2049, 70000, 65519, 16777217, 16777219, (1 << 53) + 1, (1 << 54) + 2,
               (1 << 62) + (1 << 38) + 1, -129]
        return int_samples(source,
                           14) + [source.wrap(v) for v in big if source.min_int <= v <= source.max_int]
    xs = [Fraction(19, 10), Fraction(-19, 10), 300, -300, Fraction(127.5), Fraction(-128.5), 255, 65519,
          2 ** 31, -2 ** 31, 2 ** 63, -2 ** 63, 2 ** 64, Fraction(1, 3)]
    bits = float_samples(source, 20, "convert") + [source.rn(fin(x)) for x in xs if abs(x) <= source.max]
    return list(dict.fromkeys(bits + (payload_nans(source) if source in WIDE else [])))


def write_convert():
    every = [PRED] + INTEGRAL + FLOATS
    for source in every:
        bits = convert_samples(source)
        cases = [([Array(source, bits)], Array(t, [convert_value(source, t, b) for b in bits]))
                 for t in every]
        parameters = [f"p0 = {cases[0][0][0].shape} parameter(0)"]
        body = [f"r{i} = {result.shape} convert(p0)" for i, (_, result) in enumerate(cases)]
        shapes = ", ".join(result.shape for _, result in cases)
        body.append(f"ROOT t = ({shapes}) tuple({', '.join(f'r{i}' for i in range(len(cases)))})")
        header = ["oracle: rational", f"arg0: {cases[0][0][0].text}"]
        header += [f"out{i}: {result.text}" for i, (_, result) in enumerate(cases)]
        write(f"convert_from_{source.name}", header, parameters + body)
    f32, f64 = BY_NAME["f32"], BY_NAME["f64"]
    cases = []
    for source in (f32, f64):
        zs = complex_samples(source, 6, "convert") + [(source.nan_bits, 0),
                                                      (source.rn(inf()), source.sign_bit)]
        for t in (PRED, BY_NAME["s8"], BY_NAME["u64"], BY_NAME["bf16"]):
            cases.append(
                ([Array(source, zs, complex_=True)], Array(t, [convert_value(source, t, z[0]) for z in zs])))
        other = f64 if source is f32 else f32
        cases.append(([Array(source, zs, complex_=True)],
                      Array(other, [(convert_value(source, other, a), convert_value(source, other, b))
                                    for a, b in zs],
                            complex_=True)))
        for t in (PRED, BY_NAME["s64"], BY_NAME["f16"], other):
            s = convert_samples(t)
            cases.append(
                ([Array(t, s)], Array(source, [(convert_value(t, source, b), 0) for b in s], complex_=True)))
    golden("convert_complex", "convert", cases)
    zero_elements("convert", ["f32"], "s4")


def bitcast_split(source, target, bits):
    ratio = source.width // target.width
    mask = (1 << target.width) - 1
    return [(b >> (k * target.width)) & mask for b in bits for k in range(ratio)]


def write_bitcast():
    by_width = {}
    for t in INTEGRAL + FLOATS:
        by_width.setdefault(t.width, []).append(t)

    def some_bits(t, n):
        bits = [rng_for("bitcast", t.name, i).getrandbits(t.width) for i in range(n)]
        return [b if t.kind != "f" or not t.is_nan(b) else t.rn(fin(1)) for b in bits]

    for width, types in by_width.items():
        cases = []
        for a in types:
            for b in types:
                if b is a and width != 1:
                    continue
                bits = [x for x in some_bits(a, 6) if b.kind != "f" or not b.is_nan(x)]
                cases.append(([Array(a, bits)], Array(b, bits)))
        golden(f"bitcast-convert_same_width_{width}", "bitcast-convert", cases)
    wider = [("f32", "u16"), ("f32", "s4"), ("f64", "f32"), ("u64", "s1"), ("s16", "u2"), ("bf16", "u8"),
             ("f8e5m2", "f4e2m1fn"), ("f6e3m2fn", "u2"), ("f6e2m3fn", "s1"), ("s32", "f16"), ("u8", "s2")]
    splits, joins = [], []
    for a, b in wider:
        a, b = BY_NAME[a], BY_NAME[b]
        ratio = a.width // b.width
        bits = [x for x in some_bits(a, 8) if b.kind != "f"
                or not any(b.is_nan(y) for y in bitcast_split(a, b, [x]))]
        narrow = Array(b, bitcast_split(a, b, bits), [len(bits), ratio])
        splits.append(([Array(a, bits)], narrow))
        joins.append(([narrow], Array(a, bits)))
    golden("bitcast-convert_wide_to_narrow", "bitcast-convert", splits)
    golden("bitcast-convert_narrow_to_wide", "bitcast-convert", joins)
    t = BY_NAME["f32"]
    nans = payload_nans(t)
    golden("bitcast-convert_nan_payloads", "bitcast-convert",
           [([Array(t, nans)], Array(BY_NAME["u32"], nans)), ([Array(BY_NAME["s32"], nans)], Array(t, nans))])
    golden("bitcast-convert_pred", "bitcast-convert",
           [([Array(PRED, [1, 0])], Array(BY_NAME["u8"], [1, 0])),
            ([Array(BY_NAME["s8"], [0, 1])], Array(PRED, [0, 1])),
            ([Array(PRED, [1, 0])], Array(BY_NAME["u4"], [1, 0, 0, 0], [2, 2]))], oracle="hand")
    z, w = (t.rn(fin(1)), t.rn(fin(-2))), (0x12345678, 0x3fc00000)
    wide = (z[0] | z[1] << 32, w[0] | w[1] << 32)
    golden("bitcast-convert_complex", "bitcast-convert",
           [([Array(t, [z, w], [1, 2], complex_=True)], Array(BY_NAME["f64"], [wide], [1], complex_=True))])
    zero_elements("bitcast-convert", ["f32"], "s32")


def reduced(t, bits, e, m):
    value = t.decode(bits)
    if value[0] != "fin" or value[2] == 0:
        return value
    x = value[2]
    if m < t.m:
        # The last kept bit of the pattern decides ties: for m = 0 it is the lowest bit of the exponent.
        top = max(floor_log2(x), t.min_exponent)
        quantum = Fraction(2) ** (top - m)
        n = x / quantum
        if m == 0 and n.numerator // n.denominator == 1 and n - 1 == HALF:
            x = quantum * (2 if (top + t.bias) % 2 else 1)
        else:
            x = half_even(n) * quantum
        if x > t.max:
            return inf(value[1])
    if e < t.e and x:
        bias = 2 ** (e - 1) - 1
        if floor_log2(x) > bias:
            return inf(value[1])
        if floor_log2(x) <= -bias:
            x = Fraction(0)
    return ("fin", value[1], x)


def write_reduce_precision():
    for e, m in ((5, 10), (8, 7), (4, 3), (5, 2), (1, 0), (3, 0), (2, 1), (11, 52), (8, 0), (100, 1),
                 (2, 100)):
        cases = []
        for t in FLOATS:
            bits = float_samples(t, 24 if t in WIDE else 16, f"rp{e}{m}")
            result = [t.rn(reduced(t, b, e, m)) for b in bits]
            cases.append(([Array(t, bits)], Array(t, result)))
        golden(f"reduce-precision_e{e}m{m}", "reduce-precision", cases,
               f", exponent_bits={e}, mantissa_bits={m}", decision="reduce-precision-no-infinity")
    zero_elements("reduce-precision", ["f32"], "f32", ", exponent_bits=5, mantissa_bits=2")


def stochastic(t, target, bits, u):
    value = t.decode(bits)
    if value[0] == "nan":
        return 0
    x = Fraction(0) if value[0] == "inf" else signed(value)
    if value == inf() or x >= target.max_int and value[0] == "fin":
        return target.wrap(target.max_int)
    if value == inf(1) or x <= target.min_int:
        return target.wrap(target.min_int)
    whole = trunc(abs(x))
    whole += u < floor((abs(x) - whole) * (1 << t.width))
    return target.wrap(-whole if x < 0 else whole)


def write_stochastic():
    for source in WIDE + NARROW[:8]:
        random_type = BY_NAME[f"u{source.width}"]
        cases = []
        for target in SIGNED:
            rng = rng_for("stochastic", source.name, target.name)
            bits = float_samples(source, 24, "stochastic" + target.name)
            bits += [source.rn(fin(x)) for x in (target.max_int, target.min_int) if abs(x) <= source.max]
            u = [rng.getrandbits(source.width) for _ in bits]
            cases.append(([Array(source, bits), Array(random_type, u)],
                          Array(target, [stochastic(source, target, b, r) for b, r in zip(bits, u)])))
        golden(f"stochastic-convert_{source.name}", "stochastic-convert", cases)
    golden("stochastic-convert_zero_elements", "stochastic-convert",
           [([Array(BY_NAME["f32"], [], [0]), Array(BY_NAME["u32"], [], [0])],
             Array(BY_NAME["s8"], [], [0]))],
           oracle="hand")


def write_spec():
    for name, header, body in SPEC_CASES:
        write(name, header, body)


def write_refusals():
    for name, code, message, body in REFUSALS:
        write(name, ["oracle: spec", f"refuse: {code} {message}"], body)


def main(dry_run):
    write_unary()
    write_binary()
    write_compare()
    write_select()
    write_clamp()
    write_convert()
    write_bitcast()
    write_reduce_precision()
    write_stochastic()
    write_spec()
    write_refusals()
    SCRIPT.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
