"""golden/quantized: operations on quantized values."""
import itertools
import random
from fractions import Fraction
from math import floor, ceil

import mpmath

import elementwise_math as em
from float_bits import BY_NAME, NAN, Type, fin, half_even, inf, signed
from quantized_base import Array, Quantized, Table, dequantized, key, plus, quantized, reals, rounded, times

mp = mpmath.mp
mp.prec = 300
A = Quantized("s8", scales=0.0625, zeros=-5)
B = Quantized("s8", scales=0.25, zeros=20)
C = Quantized("s8", scales=0.125, zeros=3)
PRED = BY_NAME["pred"]


def exact(x):
    sign, mantissa, exponent, _ = mp.mpf(x)._mpf_
    return (-1 if sign else 1) * Fraction(int(mantissa)) * Fraction(2) ** exponent


def number(v):
    return mp.mpf(signed(v).numerator) / signed(v).denominator


def function(f, outside=lambda x: None):
    """Of finite reals; `outside` gives the special values of a domain."""
    def apply(v):
        special = outside(signed(v))
        return special if special is not None else fin(exact(f(number(v))))
    return apply


def below(bound, at_bound):
    return lambda x: NAN if x < bound else at_bound if x == bound else None


def reduced(v):
    """e5m2"""
    return rounded(Type("e5m2", "f", 8, 5, 2, 15, "ieee"), v)


def step(f):
    return lambda v: ("fin", v[1], abs(Fraction(f(signed(v)))))


UNARY = {
    "abs": em.f_abs, "negate": em.f_negate, "sign": em.f_sign, "ceil": step(ceil), "floor": step(floor),
    "round_nearest_afz": step(em.afz), "round_nearest_even": step(em.even),
    "cbrt": function(lambda x: mp.sign(x) * mp.cbrt(abs(x))), "cosine": function(mp.cos),
    "sine": function(mp.sin),
    "tan": function(mp.tan), "tanh": function(mp.tanh), "exponential": function(mp.exp),
    "exponential_minus_one": function(mp.expm1), "logistic": function(lambda x: 1 / (1 + mp.exp(-x))),
    "log": function(mp.log, below(0, inf(1))), "log_plus_one": function(mp.log1p, below(-1, inf(1))),
    "sqrt": function(mp.sqrt, below(0, fin(0))),
    "rsqrt": function(lambda x: 1 / mp.sqrt(x), below(0, inf(0))),
    "reduce_precision": reduced,
}


def power(a, b):
    x, y = signed(a), signed(b)
    if y == 0 or x == 1:
        return fin(1)
    if x == 0:
        return fin(0) if y > 0 else inf(0)
    if x < 0 and y.denominator != 1:
        return NAN
    size = mp.power(number(fin(abs(x))), number(b))
    return fin(exact(size) * (-1 if x < 0 and y.numerator % 2 else 1))


def atan2(a, b):
    if signed(a) == 0 and signed(b) == 0:
        return fin(0)
    return fin(exact(mp.atan2(number(a), number(b))))


BINARY = {"add": plus, "subtract": em.f_subtract, "multiply": times, "divide": em.f_divide,
          "maximum": em.f_maximum,
          "minimum": em.f_minimum, "remainder": em.f_remainder, "power": power, "atan2": atan2}


def applied(f, result, shape, *lists):
    e = result.expressed
    return quantized(result, shape, [rounded(e, f(*values)) for values in zip(*lists)])


def some(type, shape, seed):
    rng = random.Random(seed)
    count = 1
    for n in shape:
        count *= n
    return Array(type, shape, [rng.randint(type.low, type.high) for _ in range(count)])


def elementwise(table):
    for name, f in UNARY.items():
        x = Array(A, [256], range(-128, 128))
        y = applied(f, C, [256], x.reals())
        extra = ", format = e5m2" if name == "reduce_precision" else ""
        table.gives(f"unary_{name}", [x], [y], f"""
%0 = stablehlo.{name} %a{extra} : ({x.tensor()}) -> {y.tensor()}
return %0 : {y.tensor()}""", "mpmath" if "function" in getattr(f, "__qualname__", "") else "rational")
    for name, f in BINARY.items():
        x, y = some(A, [64], name), some(B, [64], name + "b")
        x.data[:4], y.data[:4] = [-5, -5, 0, 127], [20, 21, 20, -128]  # real zeros
        z = applied(f, C, [64], x.reals(), y.reals())
        table.gives(f"binary_{name}", [x, y], [z], f"""
%0 = stablehlo.{name} %a, %b : ({x.tensor()}, {y.tensor()}) -> {z.tensor()}
return %0 : {z.tensor()}""", "mpmath" if name in ("power", "atan2") else "rational")
    for e, s in (("f16", "u8"), ("bf16", "s4"), ("f64", "s32"), ("f64", "u16"), ("f8e4m3fn", "s8")):
        t = Quantized(s, e, 0.3, BY_NAME[s].max_int // 3)
        x, y = some(t, [24], e), some(t, [24], s)
        z = applied(times, t, [24], x.reals(), y.reals())
        table.gives(f"multiply_{s}_{e}", [x, y], [z], f"""
%0 = stablehlo.multiply %a, %b : {x.tensor()}
return %0 : {z.tensor()}""")
    lhs = Array(Quantized("s8", scales=0.5, zeros=-10), [4], [-7, 100, -128, 127])
    rhs = Array(Quantized("s8", scales=0.25, zeros=20), [4], [17, 127, -128, 127])
    total = applied(plus, Quantized("s8", scales=1.0, zeros=5), [4], lhs.reals(), rhs.reals())
    assert total.data == [6, 87, -91, 100]
    table.gives("add_example", [lhs, rhs], [total], f"""
%0 = stablehlo.add %a, %b : ({lhs.tensor()}, {rhs.tensor()}) -> {total.tensor()}
return %0 : {total.tensor()}""", "spec")
    axis = Quantized("s8", scales=[0.5, 0.125], zeros=[1, -1], axis=1)
    ranged = Quantized("s8", scales=[0.25, 0.75], zeros=[0, 3], axis=1, low=-100, high=100)
    x, y = some(axis, [3, 2], 1), some(Quantized("s8", scales=0.25, zeros=9), [3, 2], 2)
    z = applied(plus, ranged, [3, 2], x.reals(), y.reals())
    table.gives("add_per_axis", [x, y], [z], f"""
%0 = stablehlo.add %a, %b : ({x.tensor()}, {y.tensor()}) -> {z.tensor()}
return %0 : {z.tensor()}""")


def choices(table):
    x, y = some(A, [16], 3), some(B, [16], 4)
    p = Array(PRED, [16], [random.Random(5).randint(0, 1) for _ in range(16)])
    p.data = [i % 3 == 0 for i in range(16)]
    z = quantized(C, [16], [a if c else b for c, a, b in zip(p.data, x.reals(), y.reals())])
    table.gives("select", [p, x, y], [z], f"""
%0 = stablehlo.select %a, %b, %c : ({p.tensor()}, {x.tensor()}, {y.tensor()}) -> {z.tensor()}
return %0 : {z.tensor()}""")
    low, high = Array(B, [], [19]), Array(C, [], [11])
    clamped = [max(low.reals()[0], min(v, high.reals()[0], key=key), key=key) for v in x.reals()]
    z = quantized(B, [16], clamped)
    table.gives("clamp", [low, x, high], [z], f"""
%0 = stablehlo.clamp %a, %b, %c : ({low.tensor()}, {x.tensor()}, {high.tensor()}) -> {z.tensor()}
return %0 : {z.tensor()}""")
    x, y = Array(A, [6], [-5, 11, 27, -21, 127, -128]), Array(B, [6], [20, 21, 23, 19, -128, 127])
    for direction, f in (("EQ", lambda a, b: a == b), ("NE", lambda a, b: a != b), ("LT", lambda a, b: a < b),
                         ("LE", lambda a, b: a <= b), ("GT", lambda a, b: a > b),
                         ("GE", lambda a, b: a >= b)):
        z = Array(PRED, [6], [f(signed(a), signed(b)) for a, b in zip(x.reals(), y.reals())])
        kind = {"EQ": "", "NE": ", NOTYPE", "LT": ", TOTALORDER"}.get(direction, ", FLOAT")
        table.gives(f"compare_{direction.lower()}", [x, y], [z], f"""
%0 = stablehlo.compare {direction}, %a, %b{kind} : ({x.tensor()}, {y.tensor()}) -> tensor<6xi1>
return %0 : tensor<6xi1>""", "hand")
    big = Array(Quantized("s8", "f16", scales=60000.0), [3], [1, 2, -128])
    table.gives("is_finite", [big], [Array(PRED, [3], [True] * 3)], f"""
%0 = stablehlo.is_finite %a : ({big.tensor()}) -> tensor<3xi1>
return %0 : tensor<3xi1>""", "hand")


def solvers(table):
    t, r = Quantized("s8", scales=0.5, zeros=1), Quantized("s8", scales=0.25, zeros=-2)
    # L = {{2, 0}, {1.5, 1}}, L L^T = {{4, 3}, {3, 3.25}}: the quantized 3.25 is 3 (a tie, to even): {{4,
    # 3}, {3, 3}}.
    a = Array(t, [2, 2], [9, 7, 7, 7])
    root = rounded(BY_NAME["f32"], fin(exact(mp.sqrt(mp.mpf("0.75")))))
    lower = quantized(r, [2, 2], [fin(2), fin(0), fin(Fraction(3, 2)), root])
    table.gives("cholesky", [a], [lower], f"""
%0 = stablehlo.cholesky %a, lower = true : ({a.tensor()}) -> {lower.tensor()}
return %0 : {lower.tensor()}""", "hand")
    # {{2, 0}, {1, 4}} x = {{3}, {-2.5}}: x = 1.5, (-2.5 - 1.5) / 4 = -1.
    a, b = Array(t, [2, 2], [5, 1, 3, 9]), Array(r, [2, 1], [10, -12])
    x = quantized(r, [2, 1], [fin(Fraction(3, 2)), fin(-1)])
    table.gives("triangular_solve", [a, b], [x], f"""
%0 = "stablehlo.triangular_solve"(%a, %b) {{left_side = true, lower = true, unit_diagonal = false,
  transpose_a = #stablehlo<transpose NO_TRANSPOSE>}} : ({a.tensor()}, {b.tensor()}) -> {x.tensor()}
return %0 : {x.tensor()}""", "hand")
    # (x - mean) / sqrt(variance + epsilon) * scale + offset with variance 4, epsilon 0 and mean 1.
    x = Array(t, [4, 1], [1, 3, 7, -5])
    one = {name: Array(t, [1], [q])
           for name, q in (("scale", 4), ("offset", 2), ("mean", 3), ("variance", 9))}
    y = quantized(r, [4, 1], [fin((signed(v) - 1) / 2 * Fraction(3, 2) + Fraction(1, 2)) for v in x.reals()])
    table.gives("batch_norm_inference", [x, *one.values()], [y], f"""
%0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {{epsilon = 0.0 : f32, feature_index = 1 : i64}} :
  ({x.tensor()}, {", ".join(v.tensor() for v in one.values())}) -> {y.tensor()}
return %0 : {y.tensor()}""", "hand")
    # x = {1, 5, 5, 1} / 2 - 1/2 ...: mean 1 and variance 4 of {-1, 3, 3, -1}.
    x = Array(t, [4, 1], [-1, 7, 7, -1])
    out = [quantized(r, [4, 1], [fin(Fraction(3, 2) * k + Fraction(1, 2)) for k in (-1, 1, 1, -1)]),
           quantized(r, [1], [fin(1)]), quantized(r, [1], [fin(4)])]
    table.gives("batch_norm_training", [x, one["scale"], one["offset"]], out, f"""
%0:3 = "stablehlo.batch_norm_training"(%a, %b, %c) {{epsilon = 0.0 : f32, feature_index = 1 : i64}} :
  ({x.tensor()}, {one["scale"].tensor()}, {one["offset"].tensor()}) -> ({", ".join(v.tensor() for v in out)})
return %0#0, %0#1, %0#2 : {", ".join(v.tensor() for v in out)}""", "hand")
    # Gradients of the above by grad = {1, 0, 0, -1}: centered {-2, 2, 2, -2}, sums 0 and 0,
    # so that grad_x = grad * 3/2 / 2.
    grad = Array(t, [4, 1], [3, 1, 1, -1])
    out = [quantized(r, [4, 1], [fin(Fraction(3, 4) * k) for k in (1, 0, 0, -1)]),
           quantized(r, [1], [fin(0)]), quantized(r, [1], [fin(0)])]
    table.gives("batch_norm_grad", [x, one["scale"], one["mean"], one["variance"], grad], out, f"""
%0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) {{epsilon = 0.0 : f32, feature_index = 1 : i64}} :
  ({x.tensor()}, {one["scale"].tensor()}, {one["mean"].tensor()}, {one["variance"].tensor()}, {grad.tensor()}) ->
  ({", ".join(v.tensor() for v in out)})
return %0#0, %0#1, %0#2 : {", ".join(v.tensor() for v in out)}""", "hand")


def sum_of(e, products):
    return rounded(e, fin(sum((signed(a) * signed(b) for a, b in products), Fraction(0))))


def dot(table):
    lhs = Array(Quantized("s8", scales=0.5, zeros=1), [2, 3], [3, 1, -1, 5, 0, 2])
    rhs = Array(Quantized("s8", scales=[0.25, 2.0], zeros=[0, 0], axis=1), [3, 2], [2, 1, -3, 0, 4, -1])

    def product(x, y, result, name, oracle, expected=None, op="dot_general"):
        (m, k), n = x.shape, y.shape[1]
        a, b = Array(None, x.shape, x.reals()), Array(None, y.shape, y.reals())
        e = y.type.expressed
        sums = [sum_of(e, [(a.at((i, c)), b.at((c, j))) for c in range(k)]) for i in range(m)
                for j in range(n)]
        z = quantized(result, [m, n], sums) if isinstance(result, Quantized) else Array(e, [m, n], sums)
        assert expected is None or z.data == expected, z.data
        dims = ", contracting_dims = [1] x [0]" if op == "dot_general" else ""
        table.gives(name, [x, y], [z], f"""
%0 = stablehlo.{op} %a, %b{dims} : ({x.tensor()}, {y.tensor()}) -> {z.tensor()}
return %0 : {z.tensor()}""", oracle)
    product(lhs, rhs, Quantized("s8", scales=0.5, zeros=-2), "dot_general", "spec", [-3, 6, 2, 4])
    product(reals("f32", [1, 3], [1.5, -2, 0.25]), rhs, None, "dot_general_hybrid", "spec",
            [fin(Fraction(5, 2)), fin(Fraction(5, 2))])
    x = some(Quantized("s8", scales=0.1, zeros=-7), [5, 40], 1)
    y = some(Quantized("s8", scales=[0.3, 0.01, 2.0], zeros=[0] * 3, axis=1), [40, 3], 2)
    product(x, y, Quantized("s32", scales=[0.03, 0.001, 0.2], zeros=[0, 1, -100], axis=1),
            "dot_general_to_s32", "rational")
    product(x, some(Quantized("s8", scales=0.3), [40, 3], 3), Quantized("s8", scales=20.0, zeros=9),
            "dot_general_saturates", "rational")
    product(x, some(Quantized("s8", scales=0.3, zeros=77), [40, 3], 3), Quantized("s16", scales=0.5, zeros=9),
            "dot", "rational", op="dot")
    product(reals("bf16", [2, 6], [0.1 * i - 0.5 for i in range(12)]),
            some(Quantized("u4", "bf16", 0.3, 0), [6, 2], 4), None, "dot_general_hybrid_bf16", "rational")
    product(reals("f32", [2, 6], [0.1 * i - 0.5 for i in range(12)]),
            some(Quantized("u8", "f32", 0.3, 120), [6, 2], 4), None, "dot_hybrid", "rational", op="dot")


def conv_sum(x, y, e, index, strides, pads, lhs_dilation, rhs_dilation, groups):
    """[b, 0.., f] x [0.., i, o] -> [b, 0.., f], in reals; None: padding and holes are the real 0."""
    batch, *place, feature = index
    per_group = y.shape[-1] // groups
    products = []
    for window in itertools.product(*map(range, y.shape[:-2])):
        source = []
        for p, w, s, pad, ld, rd, n in zip(place, window, strides, pads, lhs_dilation, rhs_dilation,
                                           x.shape[1:-1]):
            at = p * s + w * rd - pad[0]
            source.append(at // ld if at >= 0 and at % ld == 0 and at // ld < n else None)
        if None in source:
            continue
        for i in range(y.shape[-2]):
            channel = (feature // per_group) * y.shape[-2] + i
            products.append((x.at((batch, *source, channel)), y.at((*window, i, feature))))
    return sum_of(e, products)


def convolution(table):
    def case(name, x, y, result, strides, pads, lhs_dilation, rhs_dilation, groups=1, oracle="rational",
             expected=None):
        sizes = []
        for n, k, s, pad, ld, rd in zip(x.shape[1:-1], y.shape, strides, pads, lhs_dilation, rhs_dilation):
            sizes.append(((n - 1) * ld + 1 + pad[0] + pad[1] - (k - 1) * rd - 1) // s + 1)
        shape = [x.shape[0], *sizes, y.shape[-1]]
        a, b = Array(None, x.shape, x.reals()), Array(None, y.shape, y.reals())
        e = y.type.expressed
        sums = [conv_sum(a, b, e, index, strides, pads, lhs_dilation, rhs_dilation, groups)
                for index in itertools.product(*map(range, shape))]
        z = quantized(result, shape, sums) if isinstance(result, Quantized) else Array(e, shape, sums)
        assert expected is None or z.data == expected, z.data
        dims = ", ".join(map(str, range(len(sizes))))
        window = f"stride = {strides}, pad = {[list(p) for p in pads]}, lhs_dilate = {lhs_dilation}, rhs_dilate = {rhs_dilation}"
        table.gives(name, [x, y], [z], f"""
%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, {dims}, f]x[{dims}, i, o]->[b, {dims}, f],
  window = {{{window}}} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
  : ({x.tensor()}, {y.tensor()}) -> {z.tensor()}
return %0 : {z.tensor()}""", oracle)
    x = Array(Quantized("s8", scales=0.5, zeros=2), [1, 4, 1], [2, 6, -2, 4])
    y = Array(Quantized("s8", scales=0.25, zeros=-1), [3, 1, 1], [3, -1, -5])
    case("convolution_pads_with_zero", x, y, Quantized("s8", scales=0.5, zeros=3), [1], [(1, 1)], [1], [1],
         oracle="spec", expected=[-1, 7, 5, -1])
    x = some(Quantized("s8", scales=0.1, zeros=20), [2, 5, 4, 4], 1)
    y = some(Quantized("s8", scales=[0.5, 0.01, 0.3, 1.0], zeros=[0, 3, -9, 100], axis=3), [3, 2, 2, 4], 2)
    case("convolution_per_axis_groups", x, y,
         Quantized("s8", scales=[9.0, 0.5, 3.0, 20.0], zeros=[1, 2, 3, 4], axis=3),
         [2, 1], [(1, 2), (0, 1)], [1, 2], [2, 1], groups=2)
    x = some(Quantized("s8", scales=0.1, zeros=-128), [1, 6, 3], 3)
    y = some(Quantized("s8", scales=0.02), [3, 3, 2], 4)
    case("convolution_to_s32", x, y, Quantized("s32", scales=0.002), [1], [(0, 0)], [1], [1])
    x = reals("f32", [1, 5, 1], [0.1, -0.2, 0.3, 1.5, -2.5])
    y = some(Quantized("s8", scales=[0.3, 0.7], zeros=[5, -5], axis=2), [2, 1, 2], 5)
    case("convolution_hybrid", x, y, None, [1], [(1, 0)], [1], [1])


def files():
    import quantized_moves
    table = Table()
    for part in (elementwise, choices, solvers, dot, convolution):
        part(table)
    quantized_moves.add(table)
    return table.files
