"""Goldens of fft, cholesky, triangular-solve and batch-norm-*. Cosines come from mpmath; square roots from
integer square roots of scaled fractions; everything else is rational."""
from math import isqrt

import mpmath

from linalg_base import *

mpmath.mp.prec = 2600


def operation(t, op, a, b):
    """RN(a op b) for floats, IEEE specials included."""
    finite = math.isfinite(a) and math.isfinite(b)
    if not finite or (op == "/" and b == 0):
        if op == "/" and b == 0:
            if a == 0 or math.isnan(a):
                return NAN
            return rn(t, math.copysign(INF, math.copysign(1, a) * math.copysign(1, b)))
        result = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[op]()
        return rn(t, result) if not math.isfinite(result) else result
    x, y = Fraction(a), Fraction(b)
    minus_a, minus_b = math.copysign(1, a) < 0, math.copysign(1, b) < 0
    if op == "+":
        return rn(t, x + y, minus_a and minus_b)
    if op == "-":
        return rn(t, x - y, minus_a and not minus_b)
    return rn(t, x * y if op == "*" else x / y, minus_a != minus_b)


def root(x):
    """sqrt of a Fraction >= 0: exact, or a value between it and its neighbours at 300 bits."""
    k = 600
    scaled = x * (1 << 2 * k)
    n = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(n * n) == scaled
    return Fraction(2 * n + (not exact), 2 << k)


def sqrt(t, x):
    if math.isnan(x) or x < 0:
        return NAN
    return x if x == 0 or math.isinf(x) else rn(t, root(Fraction(x)))


def rsqrt(t, x):
    if math.isnan(x) or x < 0:
        return NAN
    if x == 0:
        return math.copysign(INF, x)
    return 0.0 if math.isinf(x) else rn(t, root(1 / Fraction(x)))


# ---- fft ----


class Dft:
    """sum_j x_j e^(-+ 2 pi i j k / n), exact: numbers that are within 2^-2000 of a short
    dyadic are that dyadic."""

    def __init__(self):
        self.cosines = {}

    def cosine(self, u):
        u %= 1
        if u not in self.cosines:
            self.cosines[u] = mpmath.cos(2 * mpmath.pi * u.numerator / u.denominator)
        return self.cosines[u]

    def part(self, terms):
        """sum of a cos(2 pi u); terms (a, u)."""
        total = mpmath.mpf(0)
        for a, u in terms:
            if a != 0:
                total += mpmath.mpf(a.numerator) / a.denominator * self.cosine(u)
        man, e = int(total.man), int(total.exp)
        value = Fraction(man) * Fraction(2) ** e * (-1 if total < 0 and man > 0 else 1)
        unit = Fraction(1, 1 << 1100)
        near = round(value / unit) * unit
        return near if abs(value - near) < Fraction(1, 1 << 2000) else value

    def transform(self, kind, t, x, lengths):
        """x: list of complex pairs over the input lengths of the kind;
        the list of outputs over the output lengths."""
        last = lengths[-1]
        half = last // 2 + 1 if last else 0
        inner = lengths[:-1] + [half if kind == "IRFFT" else last]
        outer = lengths[:-1] + [half if kind == "RFFT" else last]
        count = math.prod(lengths)
        sign = 1 if kind in ("FFT", "RFFT") else -1
        out = []
        if any(not math.isfinite(v) for z in x for v in z):
            return [(NAN, NAN)] * math.prod(outer)
        for k in indices(outer):
            re, im = [], []
            for j, (a, b) in zip(indices(inner), x):
                a, b = Fraction(a), Fraction(b)
                if kind == "IRFFT" and 1 <= j[-1] <= (last - 1) // 2:
                    a, b = 2 * a, 2 * b
                u = sign * sum(Fraction(p * q, n) for p, q, n in zip(j, k, lengths))
                re += [(a, u), (b, u - Fraction(1, 4))]
                im += [(b, u), (a, u + Fraction(1, 4))]
            scale = count if kind in ("IFFT", "IRFFT") else 1
            out.append(
                tuple(rn(t, self.part(p) / scale) for p in ((re, im) if kind != "IRFFT" else (re, []))))
        return out


def fft_goldens():
    dft = Dft()

    def case(name, kind, x, lengths, oracle="mpmath", expected=None, decision=None):
        part = COMPONENT.get(x.type, x.type)
        t = {"f32": "c64", "f64": "c128"}[part] if kind != "IRFFT" else part
        last = lengths[-1]
        lead = x.sizes[:len(x.sizes) - len(lengths)]
        outer = lengths[:-1] + [(last // 2 + 1 if last else 0) if kind == "RFFT" else last]
        step = math.prod(x.sizes[len(lead):])
        values = []
        for b in range(math.prod(lead)):
            row = x.values[b * step:(b + 1) * step]
            row = [v if isinstance(v, tuple) else (v, 0.0) for v in row]
            values += dft.transform(kind, part, row, lengths)
        if kind == "IRFFT":
            values = [v[0] for v in values]
        out = Array(t, lead + outer, values)
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("fft_" + name, oracle, entry(
            "x = %s parameter(0)" % x.shape(),
            "ROOT y = %s fft(x), fft_type=%s, fft_length={%s}" % (
                out.shape(), kind, ",".join(map(str, lengths)))), [x], [out],
               decision=decision)
        return out

    c = lambda *v: [(float(complex(z).real), float(complex(z).imag)) for z in v]
    case("spec_forward", "FFT", Array("c64", [4], c(1, 2, 3, 4)), [4], "spec", c(10, -2 + 2j, -2, -2 - 2j))
    case("spec_inverse", "IFFT", Array("c64", [4], c(10, -2 + 2j, -2, -2 - 2j)), [4], "spec", c(1, 2, 3, 4))
    out = case("spec_real", "RFFT", Array("f32", [5], [1.0, 2.0, 3.0, 4.0, 5.0]), [5], "spec")
    assert out.values[0] == (15, 0) and abs(out.values[1][1] - 3.4409549) < 1e-6 and out.values[2][0] == -2.5
    case("spec_inverse_real", "IRFFT", Array("c64", [3], c(10 + 5j, -2 + 2j, -2 + 7j)), [4], "spec",
         [1.0, 2.0, 3.0, 4.0])
    case("spec_real_2d", "RFFT", Array("f32", [2, 2], [1.0, 2.0, 3.0, 4.0]), [2, 2], "spec", c(10, -2, -4, 0))
    case("spec_inverse_real_1", "IRFFT", Array("c64", [1], c(3 + 9j)), [1], "spec", [3.0])
    rnd = Random(21)
    for n in (1, 2, 3, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 30):
        case("forward_%d" % n, "FFT", rnd.array("c64", [n]), [n])
        case("inverse_%d" % n, "IFFT", rnd.array("c64", [n]), [n])
        case("real_%d" % n, "RFFT", rnd.array("f32", [n]), [n])
        case("inverse_real_%d" % n, "IRFFT", rnd.array("c64", [n // 2 + 1]), [n])
    case("double", "FFT", rnd.array("c128", [10], 40), [10])
    case("double_real", "RFFT", rnd.array("f64", [9], 40), [9])
    case("double_inverse_real", "IRFFT", rnd.array("c128", [6], 40), [10])
    case("wide_range", "FFT", Array("c128", [6], c(1e300, 1, -1e300, 1e-300, 1e300j, 1e-20)), [6])
    case("overflow", "FFT", Array("c64", [3], [(rn("f32", Fraction(3 * 10**38)), 0.0)] * 3), [3])
    case("subnormal", "IFFT",
         Array("c64", [4], [(2.0**-149, 0.0), (2.0**-149, 2.0**-148), (0.0, -2.0**-149), (0.0, 0.0)]), [4])
    case("midpoint", "FFT", Array("c64", [4], [(1.0, 0.0), (2.0**-24, 0.0), (0.0, 0.0), (0.0, 0.0)]), [4])
    case("midpoint_hidden", "FFT", Array("c64", [3], [(1.0, 0.0), (-2.0**-24, 0.0), (-2.0**-24, 0.0)]), [3],
         decision="fft-exact-components")
    case("constant_12", "FFT", Array("c64", [12], [(1.5, -0.25)] * 12), [12], decision="fft-exact-components")
    case("constant_7", "RFFT", Array("f32", [7], [3.0] * 7), [7], decision="fft-exact-components")
    case("periodic", "FFT", Array("c64", [12], c(1, 2, 3, 4) * 3), [12], decision="fft-exact-components")
    case("zeros", "FFT", Array("c64", [3], [(-0.0, -0.0)] * 3), [3])
    case("batch_2d", "FFT", rnd.array("c64", [2, 3, 4]), [3, 4])
    case("inverse_2d", "IFFT", rnd.array("c64", [6, 5]), [6, 5])
    case("real_3d", "RFFT", rnd.array("f32", [2, 3, 4]), [2, 3, 4])
    case("inverse_real_3d", "IRFFT", rnd.array("c64", [2, 3, 3]), [2, 3, 4])
    case("constant_2d", "FFT", Array("c64", [4, 6], c(1) * 24), [4, 6])
    case("special_lines", "FFT", Array(
        "c64", [3, 2], [(1.0, 0.0), (2.0, 0.0), (INF, 0.0), (1.0, 0.0), (0.0, NAN), (0.0, 0.0)]), [2])
    case("zero_batch", "RFFT", Array("f32", [0, 4], []), [4])
    golden("fft_zero_length", "hand",
           entry("x = c64[2,0] parameter(0)", "ROOT y = c64[2,0] fft(x), fft_type=FFT, fft_length={0}"),
           [Array("c64", [2, 0], [])], [Array("c64", [2, 0], [])])
    golden("fft_zero_length_inverse_real", "hand", entry(
        "x = c64[2,0] parameter(0)", "ROOT y = f32[2,0] fft(x), fft_type=IRFFT, fft_length={0}"),
           [Array("c64", [2, 0], [])], [Array("f32", [2, 0], [])])

    def bad(name, label, x, kind, lengths, out):
        refuse("fft_refuse_" + name, label, entry("x = %s parameter(0)" % x,
                                                  "ROOT y = %s fft(x), fft_type=%s, fft_length={%s}" % (
                                                      out, kind, lengths)))

    bad("c1_none", "Fft-C1: fft_length has 0 entries", "c64[4]", "FFT", "", "c64[4]")
    bad("c1_many", "Fft-C1: fft_length has 4 entries", "c64[1,1,1,1]", "FFT", "1,1,1,1", "c64[1,1,1,1]")
    bad("c2", "Fft-C2", "c64[4]", "FFT", "1,4", "c64[4]")
    bad("c3", "Fft-C3: fft_length has the entry -4", "c64[4]", "FFT", "-4", "c64[4]")
    bad("c4_forward", "Fft-C4: FFT of f32 elements", "f32[4]", "FFT", "4", "c64[4]")
    bad("c4_real", "Fft-C4: RFFT of c64 elements", "c64[4]", "RFFT", "4", "c64[3]")
    bad("c4_narrow", "Fft-C4: RFFT of bf16 elements", "bf16[4]", "RFFT", "4", "c64[3]")
    bad("c5_forward", "Fft-C5: dimension 0 has size 4, wanted 3", "c64[4]", "FFT", "3", "c64[3]")
    bad("c5_real", "Fft-C5: dimension 0 has size 5, wanted 4", "f32[5]", "RFFT", "4", "c64[3]")
    bad("c5_inverse_real", "Fft-C5: dimension 0 has size 4, wanted 3", "c64[4]", "IRFFT", "4", "f32[4]")
    bad("c5_leading", "Fft-C5: dimension 0 has size 2, wanted 3", "c64[2,3]", "IRFFT", "3,4", "f32[3,4]")


# ---- cholesky ----


def complex_of(x):
    return x if isinstance(x, tuple) else (x, 0.0)


def minus_products(part, b, pairs, conjugate):
    """RN of each component of b - sum x y or x conj(y)."""
    re, im = [b[0]], [b[1]]
    for x, y in pairs:
        yi = -y[1] if conjugate else y[1]
        re += [(-x[0], y[0]), (x[1], yi)]
        im += [(-x[1], y[0]), (-x[0], yi)]
    return exact_sum(part, re), exact_sum(part, im)


def cholesky(a, lower):
    n = a.sizes[-1]
    part = COMPONENT.get(a.type, a.type)
    step = n * n
    values = []
    for m in range(math.prod(a.sizes[:-2])):
        get = lambda i, j: complex_of(a.values[m * step + i * n + j])
        element = get if lower else (lambda i, j: (get(j, i)[0], -get(j, i)[1]))
        L, ok = {}, True
        for j in range(n):
            s = minus_products(part, (element(j, j)[0], 0.0), [(L[j, k], L[j, k]) for k in range(j)], True)[0]
            if not s >= 0:
                ok = False
                break
            L[j, j] = (sqrt(part, s), 0.0)
            for i in range(j + 1, n):
                s = minus_products(part, element(i, j), [(L[i, k], L[j, k]) for k in range(j)], True)
                L[i, j] = tuple(operation(part, "/", v, L[j, j][0]) for v in s)
        for i in range(n):
            for j in range(n):
                if not ok:
                    v = (NAN, NAN)
                elif lower:
                    v = L.get((i, j), (0.0, 0.0))
                else:
                    v = L.get((j, i), (0.0, 0.0))
                    v = (v[0], 0.0 if i == j or v[1] == 0 and (j, i) not in L else -v[1])
                values.append(v if a.type in COMPONENT else v[0])
    return Array(a.type, a.sizes, values)


def cholesky_goldens():
    def case(name, a, lower, oracle="rational", expected=None):
        out = cholesky(a, lower)
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("cholesky_" + name, oracle, entry(
            "a = %s parameter(0)" % a.shape(),
            "ROOT l = %s cholesky(a), lower=%s" % (a.shape(), str(lower).lower())), [a], [out])

    case("spec_lower", Array("f32", [2, 2], [4.0, 99.0, 2.0, 5.0]), True, "spec", [2.0, 0.0, 1.0, 2.0])
    case("spec_upper", Array("f32", [2, 2], [4.0, 2.0, 99.0, 5.0]), False, "spec", [2.0, 1.0, 0.0, 2.0])
    golden("cholesky_spec_fails", "spec",
           entry("a = f32[2,2] parameter(0)", "ROOT l = f32[2,2] cholesky(a), lower=true"),
           [Array("f32", [2, 2], [1.0, 2.0, 2.0, 1.0])], [Array("f32", [2, 2], [NAN] * 4)])
    rnd = Random(22)
    for t in ("f32", "f64", "bf16", "f16", "c64", "c128"):
        n = 5
        part = COMPONENT.get(t, t)
        values = []
        for m in range(2):
            g = [[complex_of(rnd.value(t, 1)) for _ in range(n)] for _ in range(n)]
            for i in range(n):
                for j in range(n):
                    re = sum(Fraction(g[i][k][0]) * Fraction(g[j][k][0])
                             + Fraction(g[i][k][1]) * Fraction(g[j][k][1]) for k in range(n))
                    im = sum(Fraction(g[i][k][1]) * Fraction(g[j][k][0])
                             - Fraction(g[i][k][0]) * Fraction(g[j][k][1]) for k in range(n))
                    re += 4 * (i == j)
                    v = (rn(part, re), 7.5 if i == j else rn(part, im))
                    values.append(v if t in COMPONENT else v[0])
        for lower in (True, False):
            case("%s_%s" % ("lower" if lower else "upper", t), Array(t, [2, n, n], values), lower)
    case("one_fails", Array("f32", [3, 2, 2], [4.0, 0.0, 2.0, 5.0, NAN, 0.0, 1.0, 1.0, 9.0, 0.0, 3.0, 2.0]),
         True)
    case("zero_pivot", Array("f32", [2, 2], [0.0, 0.0, 1.0, 1.0]), True)
    case("zero_matrix", Array("f32", [2, 2], [0.0] * 4), True)
    case("infinite", Array("f32", [2, 2], [INF, 0.0, 1.0, 1.0]), True)
    case("empty", Array("f32", [2, 0, 0], []), True)
    case("one_by_one", Array("f64", [1, 1], [2.0]), True)
    bad = lambda name, label, a: refuse("cholesky_refuse_" + name, label, entry(
        "a = %s parameter(0)" % a, "ROOT l = %s cholesky(a), lower=true" % a))
    bad("c1", "Cholesky-C1: the operand is s32[2,2]", "s32[2,2]")
    bad("c2", "Cholesky-C2: the operand has rank 1", "f32[4]")
    bad("c3", "Cholesky-C3: the operand is f32[2,3]", "f32[2,3]")


# ---- triangular-solve ----


def divide(part, a, b, is_complex):
    if not is_complex:
        return operation(part, "/", a[0], b[0]), 0.0
    ar, ai, br, bi = map(Fraction, a + b)
    d = br * br + bi * bi
    return rn(part, (ar * br + ai * bi) / d), rn(part, (ai * br - ar * bi) / d)


def triangular_solve(a, b, left, lower, unit, op):
    n, part, is_complex = a.sizes[-1], COMPONENT.get(a.type, a.type), a.type in COMPONENT
    rows, columns = b.sizes[-2:]
    out = Array.full(b.type, b.sizes, None)
    for m in indices(b.sizes[:-2]):
        def element(i, j):
            """op(a), transposed once more for the right side; zero outside the triangle that is read."""
            swap = (op != "NO_TRANSPOSE") != (not left)
            p, q = (j, i) if swap else (i, j)
            if (q > p) if lower else (q < p):
                return None
            v = complex_of(a[m + (p, q)])
            return (v[0], -v[1]) if op == "ADJOINT" else v
        forward = element(n - 1, 0) is not None if n > 1 else True
        for side in range(columns if left else rows):
            x = {}
            for i in range(n) if forward else reversed(range(n)):
                at = m + ((i, side) if left else (side, i))
                pairs = [(element(i, j), x[j]) for j in sorted(x)]
                s = minus_products(part, complex_of(b[at]), pairs, False)
                x[i] = s if unit else divide(part, s, element(i, i), is_complex)
                out[at] = x[i] if is_complex else x[i][0]
    return out


def triangular_goldens():
    def program(a, b, left, lower, unit, op):
        return entry("a = %s parameter(0)" % a, "b = %s parameter(1)" % b,
                     "ROOT x = %s triangular-solve(a, b), left_side=%s, lower=%s, unit_diagonal=%s, transpose_a=%s" % (
                         (b,) + tuple(str(v).lower() for v in (left, lower, unit)) + (op,)))

    def case(name, a, b, left=True, lower=True, unit=False, op="NO_TRANSPOSE", oracle="rational",
             expected=None):
        out = triangular_solve(a, b, left, lower, unit, op)
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("triangular-solve_" + name, oracle, program(a.shape(), b.shape(), left, lower, unit, op),
               [a, b], [out])

    a, b = Array("f32", [2, 2], [2.0, 77.0, 1.0, 4.0]), Array("f32", [2, 1], [4.0, 10.0])
    case("spec", a, b, oracle="spec", expected=[2.0, 2.0])
    case("spec_transposed", a, b, op="TRANSPOSE", oracle="spec", expected=[0.75, 2.5])
    case("spec_right", Array("f32", [2, 2], [77.0, 3.0, 77.0, 77.0]), Array("f32", [1, 2], [2.0, 10.0]),
         False, False, True, oracle="spec", expected=[2.0, 4.0])
    rnd = Random(23)
    for t in ("f32", "f64", "bf16", "c64"):
        for left in (True, False):
            for lower in (True, False):
                for op in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                    if t != "f32" and t != "c64" and (lower or op == "TRANSPOSE"):
                        continue
                    name = "%s_%s_%s_%s" % ("left" if left else "right", "lower" if lower else "upper",
                                            op.lower(), t)
                    case(name, rnd.array(t, [2, 4, 4], 1), rnd.array(t, [2, 4, 3] if left else [2, 3, 4], 1),
                         left, lower, op == "ADJOINT" and t == "f32", op)
    # With products enough for a kernel.
    rnd = Random(25)
    for left in (True, False):
        for lower in (True, False):
            for op, t in (("NO_TRANSPOSE", "f32"), ("TRANSPOSE", "f32"), ("ADJOINT", "c64")):
                name = "large_%s_%s_%s" % ("left" if left else "right", "lower" if lower else "upper",
                                           op.lower())
                case(name, rnd.array(t, [2, 6, 6], 1), rnd.array(t, [2, 6, 2] if left else [2, 2, 6], 1),
                     left, lower, False, op)
    case("singular", Array("f32", [3, 3], [0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 1.0, 1.0]),
         Array("f32", [3, 1], [4.0, 1.0, 1.0]))
    case("zero_over_zero", Array("f32", [1, 1], [0.0]), Array("f32", [1, 2], [0.0, -1.0]))
    case("empty", Array("f32", [0, 0], []), Array("f32", [0, 3], []))
    case("no_right_side", Array("f32", [2, 2], [1.0, 2.0, 3.0, 4.0]), Array("f32", [2, 0], []))

    def bad(name, label, a="f32[2,2]", b="f32[2,1]", left=True, op="NO_TRANSPOSE"):
        refuse("triangular-solve_refuse_" + name, label, program(a, b, left, True, False, op))

    bad("c1_types", "TriangularSolve-C1: operands are f32[2,2] and f64[2,1]", b="f64[2,1]")
    bad("c1_integers", "TriangularSolve-C1", a="s32[2,2]", b="s32[2,1]")
    bad("c2_rank", "TriangularSolve-C2: operands have ranks 1 and 1", a="f32[2]", b="f32[2]")
    bad("c2_ranks", "TriangularSolve-C2: operands have ranks 2 and 3", b="f32[1,2,1]")
    bad("c3", "TriangularSolve-C3: a is f32[2,3]", a="f32[2,3]")
    bad("c4_left", "TriangularSolve-C4: a is f32[2,2], b is f32[1,2]", b="f32[1,2]")
    bad("c4_right", "TriangularSolve-C4: a is f32[2,2], b is f32[2,1]", left=False)
    bad("c5", "TriangularSolve-C5: dimension 0 has size 3 in a and 2 in b", a="f32[3,2,2]", b="f32[2,2,1]")
    bad("c6", "TriangularSolve-C6: transpose_a is TRANSPOSE_INVALID", op="TRANSPOSE_INVALID")


# ---- batch norm ----


def features(x, c, feature):
    return [i for i in indices(x.sizes) if i[feature] == c]


def normalise(x, y, feature, c, mean, variance, scale, offset, eps):
    t = x.type
    r = rsqrt(t, operation(t, "+", variance, eps))
    for i in features(x, c, feature):
        v = operation(t, "*", operation(t, "-", x[i], mean), r)
        y[i] = operation(t, "+", operation(t, "*", v, scale), offset)


def moments(t, values):
    n = len(values)
    if n == 0:
        return NAN, NAN
    if any(not math.isfinite(v) for v in values):
        total = exact_sum("f64", values)
        return rn(t, total), NAN
    s, q = sum(map(Fraction, values)), sum(Fraction(v) ** 2 for v in values)
    zero = all(v == 0 and math.copysign(1, v) < 0 for v in values)
    return rn(t, s / n, zero), rn(t, q / n - (s / n) ** 2)


def batch_norm_goldens():
    def training(x, scale, offset, feature, eps):
        C, e = x.sizes[feature], rn(x.type, Fraction(rn("f32", Fraction(eps))))
        y, means, variances = Array.full(x.type, x.sizes, None), [], []
        for c in range(C):
            mean, variance = moments(x.type, [x[i] for i in features(x, c, feature)])
            normalise(x, y, feature, c, mean, variance, scale.values[c], offset.values[c], e)
            means.append(mean)
            variances.append(variance)
        return [y, Array(x.type, [C], means), Array(x.type, [C], variances)]

    def inference(x, scale, offset, mean, variance, feature, eps):
        e, y = rn(x.type, Fraction(rn("f32", Fraction(eps)))), Array.full(x.type, x.sizes, None)
        for c in range(x.sizes[feature]):
            normalise(x, y, feature, c, mean.values[c], variance.values[c], scale.values[c], offset.values[c],
                      e)
        return y

    def grad(x, scale, mean, variance, g, feature, eps):
        t, e = x.type, rn(x.type, Fraction(rn("f32", Fraction(eps))))
        out, scales, offsets = Array.full(t, x.sizes, None), [], []
        n = math.prod(x.sizes) // x.sizes[feature] if x.sizes[feature] else 0
        op = lambda o, a, b: operation(t, o, a, b)
        for c in range(x.sizes[feature]):
            at = features(x, c, feature)
            v = op("+", variance.values[c], e)
            r = rsqrt(t, v)
            d = {i: op("-", x[i], mean.values[c]) for i in at}
            offset = exact_sum(t, [g[i] for i in at])
            S = exact_sum(t, [(g[i], d[i]) for i in at])
            scales.append(op("*", S, r))
            offsets.append(offset)
            q = op("/", op("/", S, float(n)), v)
            m = op("/", offset, float(n))
            for i in at:
                inner = op("-", op("-", g[i], m), op("*", q, d[i]))
                out[i] = op("*", op("*", scale.values[c], r), inner)
        C = x.sizes[feature]
        return [out, Array(t, [C], scales), Array(t, [C], offsets)]

    def write(op, name, args, outs, feature, eps, oracle="rational", decision=None):
        shapes = [o.shape() for o in outs]
        result = shapes[0] if len(shapes) == 1 else "(" + ", ".join(shapes) + ")"
        golden("%s_%s" % (op, name), oracle, entry(
            *("p%d = %s parameter(%d)" % (i, a.shape(), i) for i, a in enumerate(args)),
            "ROOT r = %s %s(%s), epsilon=%s, feature_index=%d" % (
                result, op, ", ".join("p%d" % i for i in range(len(args))), eps, feature)), args, outs,
               decision=decision)

    f = lambda *v: [float(e) for e in v]
    x, scale, offset = Array("f32", [2, 2],
                             f(1, 10, 3, 14)), Array("f32", [2], f(1, 2)), Array("f32", [2], f(0, 5))
    mean, variance = Array("f32", [2], f(2, 12)), Array("f32", [2], f(1, 4))
    outs = training(x, scale, offset, 1, "0.25")
    assert [round(v, 6) for v in outs[0].values] == [-0.894427, 3.059715, 0.894427, 6.940285], outs[0].values
    assert outs[1].values == f(2, 12) and outs[2].values == f(1, 4)
    write("batch-norm-training", "spec", [x, scale, offset], outs, 1, "0.25", "spec")
    near = Array("f32", [3, 1], [rn("f32", Fraction(v)) for v in ("10000.1", "10000.2", "10000.3")])
    one, zero = Array("f32", [1], f(1)), Array("f32", [1], f(0))
    outs = training(near, one, zero, 1, "0")
    assert abs(outs[2].values[0] - 0.006679747) < 1e-9, outs[2].values
    write("batch-norm-training", "spec_variance", [near, one, zero], outs, 1, "0", "spec",
          "batch-norm-exact-variance")
    y = inference(x, scale, offset, mean, variance, 1, "0")
    assert y.values == f(-1, 3, 1, 7), y.values
    write("batch-norm-inference", "spec", [x, scale, offset, mean, variance], [y], 1, "0", "spec")
    g = Array("f32", [2, 2], f(1, 2, 3, 8))
    outs = grad(x, scale, mean, variance, g, 1, "0")
    assert [abs(v) for v in outs[0].values] == f(0, 0, 0, 0) and outs[1].values == f(2, 6) and outs[
        2].values == f(4, 10)
    write("batch-norm-grad", "spec", [x, scale, mean, variance, g], outs, 1, "0", "spec")
    rnd = Random(24)
    absolute = lambda a: Array(a.type, a.sizes, [abs(v) for v in a.values])
    for t in ("f32", "f64", "bf16", "f16"):
        for feature in (0, 1, 2):
            x = rnd.array(t, [3, 4, 5], 2)
            C = x.sizes[feature]
            v = [rnd.array(t, [C], 2) for _ in range(4)]
            v[3] = absolute(v[3])
            g = rnd.array(t, x.sizes, 2)
            write("batch-norm-training", "%s_%d" % (t, feature), [x, v[0], v[1]],
                  training(x, v[0], v[1], feature, "0.001"), feature, "0.001")
            write("batch-norm-inference", "%s_%d" % (t, feature), [x] + v,
                  [inference(x, *v, feature, "0.001")], feature, "0.001")
            write("batch-norm-grad", "%s_%d" % (t, feature), [x, v[0], v[2], v[3], g],
                  grad(x, v[0], v[2], v[3], g, feature, "0.001"), feature, "0.001")
    x = Array("f32", [3, 4], [1.0, INF, NAN, -0.0, 1.0, 2.0, 1.0, -0.0, 1.0, 3.0, 2.0, -0.0])
    s, o = Array("f32", [4], f(1, 1, 1, 1)), Array("f32", [4], f(0, 0, 0, 0))
    write("batch-norm-training", "special", [x, s, o], training(x, s, o, 1, "0.5"), 1, "0.5")
    write("batch-norm-training", "constant_no_epsilon", [Array("f32", [2, 1], f(3, 3)), one, zero],
          training(Array("f32", [2, 1], f(3, 3)), one, zero, 1, "0"), 1, "0")
    empty = Array("f32", [0, 1], [])
    write("batch-norm-training", "no_elements", [empty, one, zero], training(empty, one, zero, 1, "0"), 1,
          "0")
    write("batch-norm-inference", "no_elements", [empty, one, zero, zero, one], [empty], 1, "0")
    write("batch-norm-inference", "special", [x, s, o, o, s], [inference(x, s, o, o, s, 1, "0")], 1, "0")
    write("batch-norm-grad", "no_elements", [empty, one, zero, one, empty],
          grad(empty, one, zero, one, empty, 1, "0"), 1, "0")
    none = Array("f32", [0], [])
    write("batch-norm-training", "no_features", [Array("f32", [3, 0], []), none, none],
          [Array("f32", [3, 0], []), none, none], 1, "0")

    def bad(name, label, x="f32[2,3]", v="f32[3]", feature=1, eps="0.5"):
        refuse("batch-norm-training_refuse_" + name, label, entry(
            "x = %s parameter(0)" % x, "s = %s parameter(1)" % v, "o = %s parameter(2)" % v,
            "ROOT r = (%s, %s, %s) batch-norm-training(x, s, o), epsilon=%s, feature_index=%d" % (
                x, v, v, eps, feature)))

    bad("c1", "BN-C1: feature_index 2 is out of range", feature=2)
    bad("c1_negative", "BN-C1: feature_index -1 is out of range", feature=-1)
    bad("c1_scalar", "BN-C1: feature_index 0 is out of range", x="f32[]", feature=0)
    bad("c2", "BN-C2: the operand is s32[2,3]", x="s32[2,3]", v="s32[3]")
    bad("c3_size", "BN-C3: operand 1 is f32[2], wanted f32[3]", v="f32[2]")
    bad("c3_type", "BN-C3: operand 1 is f64[3], wanted f32[3]", v="f64[3]")
    bad("c5", "BN-C5: epsilon is -1", eps="-1")
    refuse("batch-norm-inference_refuse_c3", "BN-C3: operand 4 is f32[2], wanted f32[3]", entry(
        "x = f32[2,3] parameter(0)", "v = f32[3] parameter(1)", "w = f32[2] parameter(2)",
        "ROOT r = f32[2,3] batch-norm-inference(x, v, v, v, w), epsilon=0, feature_index=1"))
    refuse("batch-norm-grad_refuse_c4", "BN-C4: grad_output is f32[3,2], wanted f32[2,3]", entry(
        "x = f32[2,3] parameter(0)", "v = f32[3] parameter(1)", "g = f32[3,2] parameter(2)",
        "ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-grad(x, v, v, v, g), epsilon=0, feature_index=1"))


def main():
    fft_goldens()
    cholesky_goldens()
    triangular_goldens()
    batch_norm_goldens()
