#!/usr/bin/env python3
"""Writes engines/native/functions/coefficients.h, the tables and polynomials of the native scalar functions.

Usage: tools/make_coefficients.py [--check]     (--check: write nothing, fail if the file would differ)

A polynomial interpolates its function at Chebyshev nodes in 400 bits, is expanded in powers, and has every
coefficient rounded: to a double for tier 1, to a pair of doubles (the first `kHead` of them; single doubles
after that) for tier 2. The error that the comment above a table states is measured afterwards, at 2,000
points of the interval in 400 bits, with the rounded coefficients and exact arithmetic. Requires mpmath.
"""

import pathlib
import sys
import textwrap

from mpmath import mp, mpf

mp.prec = 400
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "engines/native/functions/coefficients.h"
lines = []


def emit(text=""):
    """A line of the header; a comment in as many as it takes."""
    lines.extend(textwrap.wrap(text, 110, subsequent_indent="// ") if text.startswith("// ") else [text])


def literal(value):
    """A double as C++ spells it."""
    return float(value).hex() if value != 0 else "0.0"


def pair(value):
    """The two doubles nearest to a number and to what the first leaves."""
    hi = float(value)
    return hi, float(value - mpf(hi))


def rows(values, per_line=4):
    for i in range(0, len(values), per_line):
        emit("    " + ", ".join(values[i:i + per_line]) + ",")


def interpolate(function, low, high, degree):
    """Coefficients in powers of x of the polynomial through the Chebyshev nodes of [low, high]."""
    n = degree + 1
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    middle, radius = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    xs = [middle + radius * t for t in nodes]
    divided = [function(x) for x in xs]  # Newton's divided differences
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            divided[i] = (divided[i] - divided[i - 1]) / (xs[i] - xs[i - j])
    powers = [mpf(0)] * n
    for i in range(n - 1, -1, -1):
        powers = [divided[i] - xs[i] * powers[0]] + [
            powers[j - 1] - xs[i] * powers[j] for j in range(1, n)]
    return powers


def evaluate(coefficients, x):
    result = mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def measured(error, low, high, points=2000):
    worst = max(abs(error(low + (high - low) * (mpf(k) + mpf("0.37")) / points)) for k in range(points))
    return f"2^{float(mp.log(worst, 2)):.1f}" if worst else "0"


def polynomial(name, meaning, function, low, high, single, double, head, error):
    """A struct of both tiers. error(polynomial, x) is the relative error of the result that it makes."""
    exact = interpolate(function, low, high, single)
    rounded = [mpf(float(c)) for c in exact]
    reached1 = measured(lambda x: error(rounded, x), mpf(low), mpf(high))
    wide = interpolate(function, low, high, double)
    pairs = [pair(c) if i < head else (float(c), 0.0) for i, c in enumerate(wide)]
    sums = [mpf(a) + mpf(b) for a, b in pairs]
    reached2 = measured(lambda x: error(sums, x), mpf(low), mpf(high))
    emit(f"// {meaning}, {mp.nstr(mpf(low), 8)} <= x <= {mp.nstr(mpf(high), 8)}.")
    emit(f"// Relative error of the result: degree {single}: {reached1}; degree {double}: {reached2}.")
    emit(f"struct {name} {{")
    emit("  static constexpr double kSingle[] = {")
    rows([literal(c) for c in rounded])
    emit("  };")
    emit(f"  static constexpr int kHead = {head};")
    emit("  static constexpr Pair kDouble[] = {")
    rows([f"{{{literal(a)}, {literal(b)}}}" for a, b in pairs], 2)
    emit("  };")
    emit("};")
    emit()


def constant(name, value, meaning):
    hi, lo = pair(value)
    emit(f"inline constexpr Pair {name} = {{{literal(hi)}, {literal(lo)}}};  // {meaning}")


def pair_table(name, meaning, values):
    emit(f"// {meaning}.")
    for part in (0, 1):
        emit(f"alignas(64) inline constexpr double {name}{('Hi', 'Lo')[part]}[] = {{")
        rows([literal(pair(v)[part]) for v in values])
        emit("};")
    emit()


def truncate(value, bits):
    """The leading bits of a positive number."""
    exponent = int(mp.floor(mp.log(value, 2))) + 1 - bits
    return mp.floor(mp.ldexp(value, -exponent)) * mpf(2) ** exponent


def exponential():
    size = 128
    step = mp.log(2) / size
    first = truncate(step, 35)
    second = truncate(step - first, 35)
    emit(f"// ln 2 / {size} in three parts of 35, 35 and 53 bits: k times the first two is exact for |k| < 2^18.")
    emit(f"inline constexpr int kExpTableBits = {size.bit_length() - 1};")
    emit(f"inline constexpr double kExpSteps = {literal(1 / step)};  // {size} / ln 2")
    emit(f"inline constexpr double kExpStep1 = {literal(first)}, kExpStep2 = {literal(second)},")
    emit(f"                        kExpStep3 = {literal(step - first - second)};")
    emit()
    pair_table("kExpTable", f"2^(i/{size}), 0 <= i < {size}",
               [mpf(2) ** (mpf(i) / size) for i in range(size)])
    def small(x):  # the series cancels nothing
        return mp.fsum(x ** k / mp.factorial(k + 2) for k in range(24))
    limit = step / 2 * mpf("1.001")
    polynomial("ExpPolynomial", "q(x) with e^x - 1 = x + x^2 q(x); the error is relative to e^x - 1", small,
               -limit, limit, 4, 8, 4,
               lambda p, x: (x * x * (evaluate(p, x) - small(x))) / mp.expm1(x))


def logarithm():
    size = 128
    # Interval i holds the z whose bits lie in [offset + i, offset + i + 1) * 2^45; 1 is the middle of one.
    offset = 0x3FE7  # of the upper 16 bits; the interval of 1 is (0x3ff0 - 0x3fe7) * 8 = 72
    start = (offset << 48) + (1 << 44)

    def value(bits):
        exponent = (bits >> 52) - 1023
        return mp.ldexp(mpf((bits & ((1 << 52) - 1)) + (1 << 52)), exponent - 52)

    inverses, logs, worst = [], [], mpf(0)
    for i in range(size):
        low, high = value(start + (i << 45)), value(start + ((i + 1) << 45))
        inverse = mpf(1) if low < 1 < high else mp.nint(mp.ldexp(2 / (low + high), 10)) / 1024
        inverses.append(inverse)
        logs.append(-mp.log(inverse))
        worst = max(worst, abs(low * inverse - 1), abs(high * inverse - 1))
    center = inverses.index(mpf(1))
    emit("// z in interval i, whose bits are kLogStart + [i, i + 1) * 2^45: c = 1/z to 10 bits, and -log c.")
    emit("// |z c - 1| <= " + mp.nstr(worst, 6) + f"; interval {center} holds 1 and has c = 1.")
    emit(f"inline constexpr uint64_t kLogStart = {hex(start)};")
    emit(f"inline constexpr int kLogTableBits = {size.bit_length() - 1};")
    emit("alignas(64) inline constexpr double kLogInverse[] = {")
    rows([literal(c) for c in inverses], 6)
    emit("};")
    pair_table("kLogTable", "-log c", logs)
    def small(x):
        if abs(x) < mpf("0.02"):
            return mp.fsum((-1) ** (k + 1) * x ** k / (k + 2) for k in range(80))
        return (mp.log1p(x) - x) / (x * x)
    limit = worst * mpf("1.001")
    polynomial("LogPolynomial", "q(x) with log(1 + x) = x + x^2 q(x); the error is relative to it", small,
               -limit, limit, 6, 12, 6,
               lambda p, x: (x * x * (evaluate(p, x) - small(x))) / mp.log1p(x))


def circular():
    limit = (mp.pi / 4) ** 2 * mpf("1.0001")
    def sine(z):  # (sin r - r) / r^3, z = r^2
        return mp.fsum((-1) ** (k + 1) * z ** k / mp.factorial(2 * k + 3) for k in range(40))
    def cosine(z):  # (cos r - 1 + r^2 / 2) / r^4
        return mp.fsum((-1) ** k * z ** k / mp.factorial(2 * k + 4) for k in range(40))
    polynomial("SinPolynomial", "q(x) with sin r = r + r x q(x), x = r^2", sine, 0, limit, 6, 12, 8,
               lambda p, x: x * (evaluate(p, x) - sine(x)) / (1 + x * sine(x)))
    polynomial("CosPolynomial", "q(x) with cos r = 1 - x / 2 + x^2 q(x), x = r^2", cosine, 0, limit, 6, 12, 8,
               lambda p, x: x * x * (evaluate(p, x) - cosine(x)) / (1 - x / 2 + x * x * cosine(x)))
    bits = 1280
    mp.prec = 2 * bits
    words = int(mp.floor(mp.ldexp(2 / mp.pi, bits)))
    mp.prec = 400
    emit(f"// 2 / pi: its first {bits} bits after the point.")
    emit("inline constexpr uint64_t kTwoOverPi[] = {")
    rows([hex((words >> (bits - 64 * (i + 1))) & (2**64 - 1)) for i in range(bits // 64)], 5)
    emit("};")
    emit()


def arc():
    size = 64
    pair_table("kAtanTable", f"atan(i/{size}), 0 <= i <= {size}",
               [mp.atan(mpf(i) / size) for i in range(size + 1)])
    def small(w):  # (atan u - u) / u^3, w = u^2
        return mp.fsum((-1) ** (k + 1) * w ** k / (2 * k + 3) for k in range(40))
    limit = (mpf("0.501") / size) ** 2
    polynomial("AtanPolynomial", "q(x) with atan u = u + u x q(x), x = u^2", small, 0, limit, 2, 6, 4,
               lambda p, x: x * (evaluate(p, x) - small(x)) / (1 + x * small(x)))


def root():
    polynomial("CbrtPolynomial", "x^(1/3) (only the shorter one is used)", mp.cbrt, 1, 2, 6, 6, 0,
               lambda p, x: evaluate(p, x) / mp.cbrt(x) - 1)
    constant("kCbrt2", mp.cbrt(2), "2^(1/3)")
    constant("kCbrt4", mp.cbrt(4), "4^(1/3)")
    emit()


def error_function():
    limit = 6
    per_unit = 32
    points = [mpf(i) / per_unit for i in range(limit * per_unit + 1)]
    emit(f"// erf c and erf' c at c = i/{per_unit}, 0 <= i <= {limit * per_unit}.")
    emit(f"inline constexpr int kErfPointsPerUnit = {per_unit};")
    for name, function in (("kErfAt", mp.erf), ("kErfSlope", lambda c: 2 / mp.sqrt(mp.pi) * mp.exp(-c * c))):
        emit(f"alignas(64) inline constexpr double {name}[] = {{")
        rows([literal(float(function(c))) for c in points], 5)
        emit("};")
    emit()
    per_unit, degree, head = 8, 23, 13
    worst = mpf(0)
    table = []
    for i in range(limit * per_unit + 1):
        center, radius = mpf(i) / per_unit, mpf(1) / (2 * per_unit)
        if i == 0:  # odd, so that the error stays relative at 0
            series = [mpf(0)] * (degree + 1)
            for k in range((degree + 1) // 2):
                series[2 * k + 1] = 2 / mp.sqrt(mp.pi) * (-1) ** k / (mp.factorial(k) * (2 * k + 1))
        else:
            series = interpolate(lambda t: mp.erf(center + t), -radius, radius, degree)
        kept = [pair(c) if j < head else (float(c), 0.0) for j, c in enumerate(series)]
        table.append(kept)
        sums = [mpf(a) + mpf(b) for a, b in kept]
        for k in range(40):
            t = radius * (2 * mpf(k) + 1 - 40) / 40
            if i == 0 and t <= 0:
                continue
            worst = max(worst, abs(evaluate(sums, t) / mp.erf(center + t) - 1))
    emit(f"// erf(i/{per_unit} + t) by powers of t, |t| <= 1/{2 * per_unit}, 0 <= i <= {limit * per_unit}, "
         f"degree {degree}; relative error 2^{float(mp.log(worst, 2)):.1f}.")
    emit(f"inline constexpr int kErfRowsPerUnit = {per_unit}, kErfDegree = {degree};")
    emit(f"inline constexpr int kErfHead = {head};  // coefficients that have a second part")
    emit("alignas(64) inline constexpr double kErfRows[][kErfDegree + 1] = {")
    for kept in table:
        emit("    {" + ", ".join(literal(a) for a, _ in kept) + "},")
    emit("};")
    emit("alignas(64) inline constexpr double kErfRowsLo[][kErfHead] = {")
    for kept in table:
        emit("    {" + ", ".join(literal(b) for _, b in kept[:head]) + "},")
    emit("};")
    emit()


def main():
    guard = "ASSAY_ENGINES_NATIVE_FUNCTIONS_COEFFICIENTS_H_"
    emit("// Tables and polynomials of the native scalar functions. Written by tools/make_coefficients.py, which says")
    emit("// how they are made and measured; not to be edited.")
    emit(f"#ifndef {guard}")
    emit(f"#define {guard}")
    emit()
    emit('#include "engines/native/functions/arithmetic.h"')
    emit()
    emit("// clang-format off")
    emit("namespace assay::native {")
    emit()
    constant("kLn2", mp.log(2), "log 2")
    constant("kHalfPi", mp.pi / 2, "pi / 2")
    constant("kPi", mp.pi, "pi")
    emit()
    exponential()
    logarithm()
    circular()
    arc()
    root()
    error_function()
    emit("}  // namespace assay::native")
    emit("// clang-format on")
    emit()
    emit(f"#endif  // {guard}")
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv[1:]:
        return 0 if OUTPUT.read_text(encoding="utf-8") == text else 1
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
