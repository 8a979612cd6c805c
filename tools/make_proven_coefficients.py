#!/usr/bin/env python3
"""Writes engines/native/functions/proven_coefficients.h, tables and polynomials of the proven functions
(proven.h).

Usage: tools/make_proven_coefficients.py [--check]     (--check: write nothing, fail if the file would differ)

Polynomials are made and measured as in make_coefficients.py, with doubles alone. Tables have 16 entries,
which vector registers can look up. Requires mpmath.
"""

import struct
import sys

from make_coefficients import OUTPUT, emit, evaluate, interpolate, lines, literal, measured, rows, truncate
from mpmath import mp, mpf

PROVEN = OUTPUT.with_name("proven_coefficients.h")
SIZE = 16


def polynomial(name, meaning, function, low, high, degree, error):
    coefficients = [mpf(float(c)) for c in interpolate(function, low, high, degree)]
    reached = measured(lambda x: error(coefficients, x), mpf(low), mpf(high))
    emit(f"// {meaning}, {mp.nstr(mpf(low), 8)} <= x <= {mp.nstr(mpf(high), 8)}; relative error {reached}.")
    emit(f"inline constexpr double {name}[] = {{")
    rows([literal(c) for c in coefficients])
    emit("};")


def table(name, meaning, values):
    emit(f"// {meaning}.")
    emit(f"alignas(64) inline constexpr double {name}[] = {{")
    rows([literal(v) for v in values])
    emit("};")


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", float(value)))[0]


def exponential():
    step = mp.log(2) / SIZE
    hi = mpf(float(step))
    emit(f"inline constexpr double kExp16Steps = {literal(1 / step)};  // {SIZE} / ln 2")
    emit(f"inline constexpr double kExp16Step = {literal(hi)}, kExp16StepRest = {literal(step - hi)};")
    emit(f"// The patterns of 2^(i / {SIZE}), less i 2^48: adding k 2^48 gives 2^(k / {SIZE}), i = k mod {SIZE}.")
    emit("alignas(64) inline constexpr uint64_t kExp16Table[] = {")
    rows([hex(bits(mpf(2) ** (mpf(i) / SIZE)) - (i << 48)) for i in range(SIZE)])
    emit("};")
    def small(x):  # the series cancels nothing
        return mp.fsum(x ** k / mp.factorial(k + 2) for k in range(24))
    limit = step / 2 * mpf("1.001")
    polynomial("kExp16Polynomial", "q(x) with e^x - 1 = x + x^2 q(x); the error is relative to e^x - 1",
               small, -limit, limit, 4, lambda p, x: x * x * (evaluate(p, x) - small(x)) / mp.expm1(x))
    emit()


def logarithm():
    # Interval i has the patterns [i, i + 1) 2^48 above that of 1 - 1/64, exponents taken off; the one around
    # 1 reaches from 1 - 1/64 to 1 + 1/32.
    start = bits(mpf(1) - mpf(1) / 64)
    first = start - (9 << 48)  # the interval around 1 is number 9
    inverses = []
    for i in range(SIZE):
        ends = [struct.unpack("<d", struct.pack("<Q", first + ((i + k) << 48)))[0] for k in (0, 1)]
        inverses.append(mpf(1) if i == 9 else mp.nint(2 ** 9 * 2 / (mpf(ends[0]) + ends[1])) / 2 ** 9)
    emit("// The pattern of the least z, and for each of its 16 intervals c near 1 / z (of 10 bits), and -log c.")
    emit(f"inline constexpr uint64_t kLog16Start = {hex(first)};")
    table("kLog16Inverse", "c", inverses)
    table("kLog16Table", "-log c", [-mp.log(c) if c != 1 else mpf(0) for c in inverses])
    low, high = mpf(0), mpf(0)
    for i in range(SIZE):
        for k in (0, 1):
            end = struct.unpack("<d", struct.pack("<Q", first + ((i + k) << 48)))[0]
            low, high = min(low, end * inverses[i] - 1), max(high, end * inverses[i] - 1)
    def series(x):
        return mp.fsum((-1) ** (k + 1) * x ** k / (k + 2) for k in range(60))
    polynomial("kLog16Polynomial", "q(x) with log(1 + x) = x + x^2 q(x); the error is relative to log(1 + x)",
               series, low, high, 7, lambda p, x: x * x * (evaluate(p, x) - series(x)) / mp.log1p(x))
    emit()


def circular():
    limit = (mp.pi / 4 * mpf("1.0001")) ** 2
    def sine(y):
        return mp.fsum((-1) ** (k + 1) * y ** k / mp.factorial(2 * k + 3) for k in range(20))
    def cosine(y):
        return mp.fsum((-1) ** k * y ** k / mp.factorial(2 * k + 4) for k in range(20))
    polynomial("kSin6", "q(x) with sin r = r + r^3 q(r^2); the error is relative to sin r", sine, 0, limit, 5,
               lambda p, y: (evaluate(p, y) - sine(y)) * y / (1 + y * sine(y)))
    polynomial("kCos6", "q(x) with cos r = 1 - r^2 / 2 + r^4 q(r^2); the error is relative to cos r", cosine,
               0, limit, 5,
               lambda p, y: (evaluate(p, y) - cosine(y)) * y * y / (1 - y / 2 + y * y * cosine(y)))
    first = mpf(float(mp.pi / 2))
    emit(f"inline constexpr double kQuarters = {literal(2 / mp.pi)};  // 2 / pi")
    emit(f"inline constexpr double kQuarter = {literal(first)}, kQuarterRest = {literal(mp.pi / 2 - first)};  // pi / 2")
    emit()


def error_function():
    spacing = mpf(67) / 256  # 15 of them reach beyond 3.92, from where erf rounds to 1
    degree = 12
    radius = spacing / 2 * mpf("1.0001")
    columns = []
    worst = mpf(0)
    for i in range(SIZE):
        center = spacing * i
        if i == 0:  # odd, so that the error stays relative at 0
            inner = interpolate(
                lambda y: mp.fsum((-1) ** k * y ** k / (mp.factorial(k) * (2 * k + 1)) for k in range(20)),
                                0, radius ** 2, 5)
            series = [mpf(0)] * (degree + 1)
            for k, c in enumerate(inner):
                series[2 * k + 1] = 2 / mp.sqrt(mp.pi) * c
        else:
            series = interpolate(lambda t: mp.erf(center + t), -radius, radius, degree)
        kept = [mpf(float(c)) for c in series]
        columns.append(kept)
        for k in range(40):
            t = radius * (2 * mpf(k) + 1 - 40) / 40
            if i > 0 or t > 0:
                worst = max(worst, abs(evaluate(kept, t) / mp.erf(center + t) - 1))
    emit(f"// Coefficient j of erf(c + t) by powers of t, |t| <= {mp.nstr(spacing / 2, 6)}, c = i {mp.nstr(spacing, 10)}, "
         f"0 <= i < {SIZE}; relative error 2^{float(mp.log(worst, 2)):.1f}.")
    emit(f"inline constexpr double kErf16Spacing = {literal(spacing)}, kErf16PerUnit = {literal(1 / spacing)};")
    emit(f"inline constexpr int kErf16Degree = {degree};")
    emit(f"alignas(64) inline constexpr double kErf16[][{SIZE}] = {{")
    for j in range(degree + 1):
        emit("    {" + ", ".join(literal(column[j]) for column in columns) + "},")
    emit("};")
    emit()


def single(value):
    """The nearest float."""
    return mpf(struct.unpack("<f", struct.pack("<f", float(value)))[0])


def pieces(name, function, odd, offset, limit, doubles, degree):
    """An odd function from 0 to the limit in 16 pieces, four to each power of 2 of x + offset.

    odd(x^2) x is the function near 0.
    """
    first = struct.unpack("<I", struct.pack("<f", offset))[0]
    assert first % (1 << 21) == 0
    def start(k):
        return mpf(struct.unpack("<f", struct.pack("<I", first + (k << 21)))[0]) - mpf(offset)
    assert limit < start(SIZE)
    columns, centers, worst = [None] * SIZE, [None] * SIZE, mpf(0)
    for k in range(SIZE):
        low, high = start(k), start(k + 1)
        center = (low + high) / 2 if k > 0 else mpf(0)
        if k == 0:  # odd, so that the error stays relative at 0
            inner = interpolate(odd, 0, high ** 2, (degree - 1) // 2)
            inner[0] = odd(mpf(0))
            series = [mpf(0)] * (degree + 1)
            for j, c in enumerate(inner):
                series[2 * j + 1] = c
        else:
            series = interpolate(lambda t: function(center + t), low - center, high - center, degree)
        kept = [mpf(float(c)) if j < doubles else single(c) for j, c in enumerate(series)]
        place = ((first >> 21) + k) % SIZE
        columns[place], centers[place] = kept, center
        for i in range(40):
            x = low + (high - low) * (2 * mpf(i) + 1) / 80
            worst = max(worst, abs(evaluate(kept, x - center) / function(x) - 1))
    emit(f"// {name}(c + t) by powers of t, |x| <= {limit}: the table's place is the pattern of |x| + kOffset, less its 21 "
         f"lowest bits; relative error 2^{float(mp.log(worst, 2)):.1f}.")
    emit(f"struct {name}Pieces {{")
    emit(f"  static constexpr float kOffset = {literal(offset)}f, kLimit = {literal(limit)}f;")
    emit(f"  alignas(64) static constexpr float kCenter[{SIZE}] = {{")
    rows([literal(c) + "f" for c in centers], 8)
    emit("  };")
    emit("  // The coefficients of the lowest powers, and those of the next ones.")
    emit(f"  alignas(64) static constexpr double kLow[][{SIZE}] = {{")
    for j in range(doubles):
        emit("      {" + ", ".join(literal(column[j]) for column in columns) + "},")
    emit("  };")
    emit(f"  alignas(64) static constexpr float kHigh[][{SIZE}] = {{")
    for j in range(doubles, degree + 1):
        emit("      {" + ", ".join(literal(column[j]) + "f" for column in columns) + "},")
    emit("  };")
    emit("};")
    emit()


def odd_functions():
    def of_tanh(y):
        if y == 0:
            return mpf(1)
        return mp.tanh(mp.sqrt(y)) / mp.sqrt(y)
    def of_erf(y):
        if y == 0:
            return 2 / mp.sqrt(mp.pi)
        return mp.erf(mp.sqrt(y)) / mp.sqrt(y)
    pieces("Tanh", mp.tanh, of_tanh, 0.625, 9.25, 4, 8)
    pieces("Erf", mp.erf, of_erf, 0.3125, 4, 4, 8)


def main():
    guard = "ASSAY_ENGINES_NATIVE_FUNCTIONS_PROVEN_COEFFICIENTS_H_"
    emit("// Tables and polynomials of the proven functions. Written by tools/make_proven_coefficients.py, which "
         "says how they are made and measured; not to be edited.")
    emit(f"#ifndef {guard}")
    emit(f"#define {guard}")
    emit()
    emit("#include <cstdint>")
    emit()
    emit("// clang-format off")
    emit("namespace assay::native {")
    emit()
    exponential()
    logarithm()
    circular()
    error_function()
    odd_functions()
    emit("}  // namespace assay::native")
    emit("// clang-format on")
    emit()
    emit(f"#endif  // {guard}")
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv[1:]:
        return 0 if PROVEN.read_text(encoding="utf-8") == text else 1
    PROVEN.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
