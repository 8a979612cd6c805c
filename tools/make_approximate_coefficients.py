#!/usr/bin/env python3
"""Writes engines/approximate/coefficients.h, polynomials and tables of the approximate functions
(functions.h).

Usage: tools/make_approximate_coefficients.py [--check]  (--check: write nothing, fail if it would differ)

Polynomials interpolate at Chebyshev nodes in 400 bits and have their coefficients rounded to the type that
they are used in; the error above each was measured with the rounded coefficients and exact arithmetic. What
the functions make of it, with every rounding, tools/prove measures. Requires mpmath.
"""

import struct
import sys

from make_coefficients import OUTPUT, emit, evaluate, interpolate, lines, literal, measured, rows
from mpmath import mp, mpf

NEAR = OUTPUT.parent.parent.parent / "approximate" / "coefficients.h"
SIZE = 16


def single(value):
    """The nearest float."""
    return mpf(struct.unpack("<f", struct.pack("<f", float(value)))[0])


def double(value):
    return mpf(float(value))


def spelled(value, rounding):
    return literal(value) + ("f" if rounding is single else "")


def polynomial(name, meaning, function, low, high, degree, error, rounding):
    coefficients = [rounding(c) for c in interpolate(function, low, high, degree)]
    reached = measured(lambda x: error(coefficients, x), mpf(low), mpf(high))
    emit(f"// {meaning}, {mp.nstr(mpf(low), 8)} <= x <= {mp.nstr(mpf(high), 8)}; relative error {reached}.")
    emit(f"inline constexpr {'float' if rounding is single else 'double'} {name}[] = {{")
    rows([spelled(c, rounding) for c in coefficients])
    emit("};")


def reduction(suffix, rounding):
    first = rounding(mp.log(2))
    type_name = "float" if rounding is single else "double"
    emit(f"inline constexpr {type_name} kPowers{suffix} = {spelled(rounding(1 / mp.log(2)), rounding)};  // 1 / ln 2")
    emit(f"inline constexpr {type_name} kLn2{suffix} = {spelled(first, rounding)}, kLn2Rest{suffix} = "
         f"{spelled(rounding(mp.log(2) - first), rounding)};")


def exponential(suffix, degree, rounding):
    def small(x):  # the series cancels nothing
        return mp.fsum(x ** k / mp.factorial(k + 2) for k in range(40))
    limit = mp.log(2) / 2 * mpf("1.001")
    polynomial(f"kExp{suffix}", "q(x) with e^x - 1 = x + x^2 q(x); the error is relative to e^x - 1", small,
               -limit,
               limit, degree, lambda p, x: x * x * (evaluate(p, x) - small(x)) / mp.expm1(x), rounding)


def logarithm():
    def rest(x):
        if abs(x) < mpf("1e-30"):
            return mpf(1) / 3
        return (mp.log1p(x) - x + x * x / 2) / x ** 3
    polynomial("kLogSingle", "q(x) with log(1 + x) = x - x^2 / 2 + x^3 q(x); the error is relative to log(1 + x)", rest,
               mp.sqrt(mpf(0.5)) - 1, mp.sqrt(mpf(2)) - 1, 8,
               lambda p, x: x ** 3 * (evaluate(p, x) - rest(x)) / mp.log1p(x), single)


def logarithm_of_doubles():
    def rest(z):  # log(1 + f) = 2 s + s z q(z), s = f / (2 + f), z = s^2
        return mp.fsum(2 * z ** k / (2 * k + 3) for k in range(120))
    high = ((mp.sqrt(mpf(2)) - 1) / (mp.sqrt(mpf(2)) + 1)) ** 2
    polynomial("kLogDouble", "q(z) with log(1 + f) = 2 s + s z q(z), s = f / (2 + f), z = s^2; the error is relative to it",
               rest, 0, high, 7, lambda p, z: z * (evaluate(p, z) - rest(z)) / (2 + z * rest(z)), double)


def pieces(name, function, odd, offset, limit, degree):
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
        low, high = start(k), min(start(k + 1), mpf(limit))
        if k == 0:  # odd, so that the error stays relative at 0
            center = mpf(0)
            inner = interpolate(odd, 0, high ** 2, (degree - 1) // 2)
            series = [mpf(0)] * (degree + 1)
            for j, c in enumerate(inner):
                series[2 * j + 1] = c
        else:
            center = single((low + high) / 2)
            series = interpolate(lambda t: function(center + t), low - center, high - center, degree)
        kept = [single(c) for c in series]
        place = ((first >> 21) + k) % SIZE
        columns[place], centers[place] = kept, center
        for i in range(40):
            x = low + (high - low) * (2 * mpf(i) + 1) / 80
            worst = max(worst, abs(evaluate(kept[1:], x - center) * (x - center) + series[0]
                                   - function(x)) / function(x))
    emit(f"// {name}(c + t) by powers of t, |x| <= {limit}: the table's place is the pattern of |x| + kOffset, less its 21 "
         f"lowest bits; relative error 2^{float(mp.log(worst, 2)):.1f}, without that of the first coefficient.")
    emit(f"struct {name}Single {{")
    emit(f"  static constexpr float kOffset = {literal(offset)}f, kLimit = {literal(limit)}f;")
    emit(f"  alignas(64) static constexpr float kCenter[{SIZE}] = {{")
    rows([literal(c) + "f" for c in centers], 8)
    emit("  };")
    emit(f"  alignas(64) static constexpr float kSeries[][{SIZE}] = {{")
    for j in range(degree + 1):
        emit("      {" + ", ".join(literal(column[j]) + "f" for column in columns) + "},")
    emit("  };")
    emit("};")


def odd_functions():
    def of_tanh(y):
        if y == 0:
            return mpf(1)
        return mp.tanh(mp.sqrt(y)) / mp.sqrt(y)
    def of_erf(y):
        if y == 0:
            return 2 / mp.sqrt(mp.pi)
        return mp.erf(mp.sqrt(y)) / mp.sqrt(y)
    pieces("Tanh", mp.tanh, of_tanh, 0.625, 9.25, 6)
    pieces("Erf", mp.erf, of_erf, 0.3125, 4, 6)


def main():
    guard = "ASSAY_ENGINES_APPROXIMATE_COEFFICIENTS_H_"
    emit("// Tables and polynomials of the approximate functions. Written by tools/make_approximate_coefficients.py, "
         "which says how they are made and measured; not to be edited.")
    emit(f"#ifndef {guard}")
    emit(f"#define {guard}")
    emit()
    emit("// clang-format off")
    emit("namespace assay::approximate {")
    emit()
    reduction("Single", single)
    exponential("Single", 5, single)
    logarithm()
    odd_functions()
    emit()
    reduction("Double", double)
    exponential("Double", 10, double)
    logarithm_of_doubles()
    emit()
    emit("}  // namespace assay::approximate")
    emit("// clang-format on")
    emit()
    emit(f"#endif  // {guard}")
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv[1:]:
        return 0 if NEAR.read_text(encoding="utf-8") == text else 1
    NEAR.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
