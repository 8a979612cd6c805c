"""Goldens of reduce, map, scan, reduce-window and select-and-scatter."""
from linalg_base import *


def fold(type_name, op, init, values):
    if op == "add" and type_name in FORMATS:
        return exact_sum(type_name, [init] + values)
    if op == "add" and type_name in COMPONENT:
        part = COMPONENT[type_name]
        return tuple(exact_sum(part, [init[i]] + [v[i] for v in values]) for i in range(2))
    acc = init
    for x in values:
        acc = apply(type_name, op, acc, x)
    return acc


def apply(type_name, op, a, b):
    if type_name == "pred":
        return {"add": a or b, "or": a or b, "maximum": a or b, "multiply": a and b, "and": a and b,
                "xor": a != b}[op]
    if type_name in INTS:
        return wrap(type_name, {"add": a + b, "subtract": a - b, "multiply": a * b, "maximum": max(a, b),
                                "minimum": min(a, b), "and": a & b, "or": a | b, "xor": a ^ b}[op])
    if op in ("maximum", "minimum"):
        if math.isnan(a) or math.isnan(b):
            return NAN
        if a == b:
            negative = [math.copysign(1, x) < 0 for x in (a, b)]
            low = all(negative) if op == "maximum" else any(negative)
            return -abs(a) if a == 0 and low else a
        return max(a, b) if op == "maximum" else min(a, b)
    if op == "subtract":
        return rn(type_name, Fraction(a) - Fraction(b))
    if op == "multiply":
        return rn(type_name, Fraction(a) * Fraction(b))
    raise ValueError(op)


def reduce(x, init, op, dims):
    kept = [d for d in range(len(x.sizes)) if d not in dims]
    out = Array.full(x.type, [x.sizes[d] for d in kept], init)
    for j in indices(out.sizes):
        out[j] = fold(x.type, op, init, [x[i] for i in indices(x.sizes) if tuple(i[d] for d in kept) == j])
    return out


def reduce_program(x, op, dims):
    out = [n for d, n in enumerate(x.sizes) if d not in dims]
    return reducer(x.type, op) + entry(
        "x = %s parameter(0)" % x.shape(), "i = %s[] parameter(1)" % x.type,
        "ROOT r = %s[%s] reduce(x, i), dimensions={%s}, to_apply=f" % (
            x.type, ",".join(map(str, out)), ",".join(map(str, dims))))


def reduce_goldens():
    def case(name, x, init, op, dims, oracle="rational", expected=None):
        out = reduce(x, init, op, dims)
        if expected is not None:
            assert [number(v, x.type)
                    for v in out.values] == [number(v, x.type) for v in expected], (name, out.values)
        golden("reduce_" + name, oracle, reduce_program(x, op, dims), [x, Array(x.type, [], [init])], [out])

    x23 = Array("f32", [2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    case("spec_columns", x23, 10.0, "add", [0], "spec", [15.0, 17.0, 19.0])
    case("spec_empty", Array("f32", [0, 3], []), 10.0, "add", [0], "spec", [10.0] * 3)
    case("spec_subtract", Array("f32", [3], [1.0, 2.0, 3.0]), 100.0, "subtract", [0], "spec", [94.0])
    cube = Array("f32", [4, 2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 4)
    case("spec_cube_0", cube, 0.0, "add", [0], "spec", [4.0, 8.0, 12.0, 16.0, 20.0, 24.0])
    case("spec_cube_2", cube, 0.0, "add", [2], "spec", [6.0, 15.0] * 4)
    case("spec_cube_01", cube, 0.0, "add", [0, 1], "spec", [20.0, 28.0, 36.0])
    case("spec_cube_all", cube, 0.0, "add", [0, 1, 2], "spec", [84.0])
    case("spec_exact", Array("f32", [4], [1e8, 1.0, -1e8, 1.0]), 0.0, "add", [0], "spec", [2.0])
    golden("reduce_spec_argmax", "spec", """
f {
  m = f32[] parameter(0)
  i = s32[] parameter(1)
  v = f32[] parameter(2)
  j = s32[] parameter(3)
  ge = pred[] compare(v, m), direction=GE
  a = f32[] select(ge, v, m)
  b = s32[] select(ge, j, i)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
""" + entry("x = f32[4] parameter(0)", "n = s32[4] iota(), iota_dimension=0", "m = f32[] constant(-inf)",
            "z = s32[] constant(0)",
            "ROOT r = (f32[], s32[]) reduce(x, n, m, z), dimensions={0}, to_apply=f"),
           [Array("f32", [4], [3.0, 9.0, 9.0, 2.0])], [Array("f32", [], [9.0]), Array("s32", [], [2])])
    rnd = Random(1)
    for t in ("f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "c64", "c128"):
        x = rnd.array(t, [3, 70, 2], 40 if t in ("f64", "f32", "c64") else 4)
        zero = (0.0, 0.0) if t in COMPONENT else 0.0
        case("add_" + t, x, zero, "add", [1])
        case("add_all_" + t, x, zero, "add", [2, 0, 1])
    for t in ("s4", "s8", "u8", "s32", "u64", "s64"):
        x = rnd.array(t, [5, 300 if t == "s32" else 40])
        for op in ("add", "multiply", "maximum", "minimum", "xor"):
            case("%s_%s" % (op, t), x, rnd.value(t), op, [1])
        case("maximum_columns_" + t, x, rnd.value(t), "maximum", [0])
    for op in ("and", "or", "xor", "add", "multiply"):
        case(op + "_pred", rnd.array("pred", [4, 3]), op in ("and", "multiply"), op, [1])
    case("subtract_rows", rnd.array("f32", [6, 5]), 1.5, "subtract", [0])
    case("multiply_f32", rnd.array("f32", [6, 5]), 1.0, "multiply", [1])
    special = Array("f32", [7, 3], [INF, 1.0, 2.0, INF, -INF, 0.0, NAN, 1.0, 1.0, -0.0, -0.0, -0.0,
                                    3.4028234663852886e38, 3.4028234663852886e38, -3.4028234663852886e38,
                                    3.4028234663852886e38, 3.4028234663852886e38, 0.0, 2.0**-149, 2.0**-149,
                                    -0.0])
    case("add_special", special, -0.0, "add", [1])
    case("add_special_init", special, 0.0, "add", [1])
    case("maximum_special", special, -INF, "maximum", [1])
    case("minimum_special", special, INF, "minimum", [1])
    case("no_dimensions", x23, 0.25, "subtract", [])
    case("zero_kept", Array("f32", [0, 3], []), 1.0, "add", [1])
    case("midpoint", Array("f32", [3], [1.0, 2.0**-24, 2.0**-90]), 0.0, "add", [0])
    case("reducer_order", Array("s32", [5], [1, 2, 3, 4, 5]), 7, "subtract", [0])
    narrow = Array("bf16", [4], [1.0, 2.0**-8, 2.0**-8, 3.0])
    golden("reduce_wider_reducer", "rational", reducer("f32", "add") + entry(
        "x = bf16[4] parameter(0)", "i = bf16[] constant(0)",
        "ROOT r = f32[] reduce(x, i), dimensions={0}, to_apply=f"), [narrow], [Array("f32", [], [4.0078125])])
    golden("reduce_dynamic", "spec", reducer("f32", "add") + entry(
        "x = f32[2,5] parameter(0)", "n = s32[] constant(3)",
        "d = f32[2,<=5] set-dimension-size(x, n), dimensions={1}",
        "i = f32[] constant(0)", "rows = f32[2] reduce(d, i), dimensions={1}, to_apply=f",
        "columns = f32[<=5] reduce(d, i), dimensions={0}, to_apply=f",
        "ROOT t = (f32[2], f32[<=5]) tuple(rows, columns)"),
           [Array("f32", [2, 5], [float(v) for v in range(1, 11)])],
           [Array("f32", [2], [6.0, 21.0]), Array("f32", [3], [7.0, 9.0, 11.0])])
    add, bad = reducer("f32", "add"), lambda *lines: entry("x = f32[2,3] parameter(0)",
                                                           "i = f32[] constant(0)", *lines)
    refuse("reduce_refuse_c2", "Reduce-C2: operands 0 and 1", """
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT t = (f32[], f32[]) tuple(a, b)
}
""" + bad("y = f32[3,2] parameter(1)",
          "ROOT r = (f32[2], f32[2]) reduce(x, y, i, i), dimensions={1}, to_apply=f"))
    refuse("reduce_refuse_c3", "Reduce-C3: dimension 2 is out of range for rank 2",
           add + bad("ROOT r = f32[2] reduce(x, i), dimensions={2}, to_apply=f"))
    refuse("reduce_refuse_c4", "Reduce-C4: dimension 1 stands twice",
           add + bad("ROOT r = f32[2] reduce(x, i), dimensions={1,1}, to_apply=f"))
    refuse("reduce_refuse_red_c1", "RED-C1: the reducer has 1 parameter, wanted 2",
           "f {\n  ROOT a = f32[] parameter(0)\n}\n"
           + bad("ROOT r = f32[2] reduce(x, i), dimensions={1}, to_apply=f"))
    refuse("reduce_refuse_red_c2", "RED-C2: the reducer returns (f32[], f32[]), wanted a scalar",
           "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT t = (f32[], f32[]) tuple(a, b)\n}\n" +
           bad("ROOT r = f32[2] reduce(x, i), dimensions={1}, to_apply=f"))
    refuse("reduce_refuse_red_c3", "RED-C3: parameter 0 of the reducer is f32[], result 0 is s32[]",
           "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = s32[] convert(b)\n}\n" +
           bad("ROOT r = s32[2] reduce(x, i), dimensions={1}, to_apply=f"))
    refuse("reduce_refuse_red_c4", "RED-C4: init value 0 is s32[], wanted f32[]",
           add + entry("x = f32[2,3] parameter(0)", "i = s32[] constant(0)",
                       "ROOT r = f32[2] reduce(x, i), dimensions={1}, to_apply=f"))
    refuse("reduce_refuse_red_c5", "RED-C5: parameter 1 of the reducer is f32[], operand 0 has element type s32",
           add + entry("x = s32[2,3] parameter(0)", "i = f32[] constant(0)",
                       "ROOT r = f32[2] reduce(x, i), dimensions={1}, to_apply=f"))
    refuse("reduce_refuse_red_c6", "RED-C6: parameters 0 and 1 of the reducer are s32[] and f32[]",
           "f {\n  a = s32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = s32[] convert(b)\n}\n" +
           entry("x = f32[2,3] parameter(0)", "i = s32[] constant(0)",
                 "ROOT r = s32[2] reduce(x, i), dimensions={1}, to_apply=f"))


def map_goldens():
    f = "f {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  s = s32[] multiply(a, a)\n  ROOT r = s32[] add(s, b)\n}\n"
    golden("map_spec", "spec", f + entry(
        "x = s32[3] parameter(0)", "y = s32[3] parameter(1)",
        "ROOT m = s32[3] map(x, y), dimensions={0}, to_apply=f"),
           [Array("s32", [3], [1, 2, 3]), Array("s32", [3], [10, 20, 30])], [Array("s32", [3], [11, 24, 39])])
    golden("map_zero_size", "hand", f + entry(
        "x = s32[3,0] parameter(0)", "ROOT m = s32[3,0] map(x, x), dimensions={0,1}, to_apply=f"),
           [Array("s32", [3, 0], [])], [Array("s32", [3, 0], [])])
    golden("map_scalar", "hand",
           f + entry("x = s32[] parameter(0)", "ROOT m = s32[] map(x, x), dimensions={}, to_apply=f"),
           [Array("s32", [], [7])], [Array("s32", [], [56])])
    g = "f {\n  a = f32[] parameter(0)\n  b = pred[] parameter(1)\n  n = f32[] negate(a)\n  ROOT r = f32[] select(b, a, n)\n}\n"
    golden("map_types", "hand", g + entry(
        "x = f32[4] parameter(0)", "p = pred[4] parameter(1)",
        "ROOT m = f32[4] map(x, p), dimensions={0}, to_apply=f"),
           [Array("f32", [4], [1.5, -0.0, INF, 2.0]), Array("pred", [4], [True, False, False, False])],
           [Array("f32", [4], [1.5, 0.0, -INF, -2.0])])
    x = Random(4).array("bf16", [40])
    golden("map_bf16", "rational",
           "f {\n  a = bf16[] parameter(0)\n  ROOT r = bf16[] multiply(a, a)\n}\n" + entry(
        "x = bf16[40] parameter(0)", "ROOT m = bf16[40] map(x), dimensions={0}, to_apply=f"),
           [x], [Array("bf16", [40], [rn("bf16", Fraction(v) ** 2) for v in x.values])])
    two = "x = s32[3] parameter(0)", "y = s32[4] parameter(1)"
    refuse("map_refuse_c2", "Map-C2: operands 0 and 1",
           f + entry(*two, "ROOT m = s32[3] map(x, y), dimensions={0}, to_apply=f"))
    refuse("map_refuse_c3", "Map-C3: dimensions are {1}", f + entry(
        "x = s32[3] parameter(0)", "ROOT m = s32[3] map(x, x), dimensions={1}, to_apply=f"))
    refuse("map_refuse_c4_count", "Map-C4: the computation has 2 parameters, wanted 1", f + entry(
        "x = s32[3] parameter(0)", "ROOT m = s32[3] map(x), dimensions={0}, to_apply=f"))
    refuse("map_refuse_c4_type", "Map-C4: parameter 0 of the computation is s32[], wanted u32[]", f + entry(
        "x = u32[3] parameter(0)", "ROOT m = s32[3] map(x, x), dimensions={0}, to_apply=f"))


def scan_goldens():
    body = "f {\n  a = %s parameter(0)\n  c = %s parameter(1)\n  s = %s add(a, c)\n  ROOT t = (%s, %s) tuple(s, s)\n}\n"

    def case(name, x, carry, reverse=False, oracle="rational"):
        t = x.type
        inner = "%s[%s]" % (t, ",".join(map(str, x.sizes[1:])))
        out, c = Array.full(t, x.sizes, 0), Array(t, x.sizes[1:], carry)
        order = range(x.sizes[0])
        for i in reversed(order) if reverse else order:
            for j in indices(x.sizes[1:]):
                c[j] = wrap(t, c[j]
                            + x[(i,) + j]) if t in INTS else rn(t, Fraction(c[j]) + Fraction(x[(i,) + j]))
                out[(i,) + j] = c[j]
        golden("scan_" + name, oracle, body % ((inner,) * 5) + entry(
            "x = %s parameter(0)" % x.shape(), "c = %s parameter(1)" % inner,
            "ROOT r = (%s, %s) scan(x, c), dimensions={0}, num_carries=1, %sto_apply=f" % (
                x.shape(), inner, "is_reverse=true, " if reverse else "")),
               [x, Array(t, x.sizes[1:], carry)], [out, c])

    case("spec", Array("s32", [4], [1, 2, 3, 4]), [0], oracle="spec")
    case("reverse", Array("s32", [4], [1, 2, 3, 4]), [0], True)
    case("empty", Array("s32", [0], []), [5])
    case("rounded", Array("f32", [4], [1e8, 1.0, -1e8, 1.0]), [0.0])
    case("matrix", Random(9).array("bf16", [5, 3]), [0.0, 1.0, -1.0])
    golden("scan_middle_dimension", "hand", body % (("s32[2]",) * 5) + entry(
        "x = s32[2,3] parameter(0)", "c = s32[2] parameter(1)",
        "ROOT r = (s32[2,3], s32[2]) scan(x, c), dimensions={1}, num_carries=1, to_apply=f"),
           [Array("s32", [2, 3], [1, 2, 3, 4, 5, 6]), Array("s32", [2], [10, 20])],
           [Array("s32", [2, 3], [11, 13, 16, 24, 29, 35]), Array("s32", [2], [16, 35])])
    golden("scan_no_input", "hand",
           "f {\n  c = s32[] parameter(0)\n  one = s32[] constant(1)\n  n = s32[] add(c, one)\n  ROOT t = (s32[], s32[]) tuple(c, n)\n}\n" +
           entry("c = s32[] parameter(0)",
                 "ROOT r = (s32[3], s32[]) scan(c), dimensions={0}, num_carries=1, to_apply=f"),
           [Array("s32", [], [4])], [Array("s32", [3], [4, 5, 6]), Array("s32", [], [7])])
    b = body % (("s32[]",) * 5)
    refuse("scan_refuse_c1", "Scan-C1: input 1 has size 4", """
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
""" + entry("x = s32[3] parameter(0)", "y = s32[4] parameter(1)",
            "ROOT r = s32[3] scan(x, y), dimensions={0}, num_carries=0, to_apply=f"))
    refuse("scan_refuse_c2", "Scan-C2: parameter 0 of the computation is s32[], wanted f32[]", b + entry(
        "x = f32[3] parameter(0)", "c = s32[] constant(0)",
        "ROOT r = (s32[3], s32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=f"))
    refuse("scan_refuse_c3", "Scan-C3: carry 0 is s32[]",
           "f {\n  a = s32[] parameter(0)\n  c = s32[] parameter(1)\n  d = f32[] convert(a)\n  ROOT t = (s32[], f32[]) tuple(a, d)\n}\n" +
           entry("x = s32[3] parameter(0)", "c = s32[] constant(0)",
                 "ROOT r = (s32[3], f32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=f"))
    refuse("scan_refuse_c5", "Scan-C5: scan dimension 1 is out of range", b + entry(
        "x = s32[3] parameter(0)", "c = s32[] constant(0)",
        "ROOT r = (s32[3], s32[]) scan(x, c), dimensions={1}, num_carries=1, to_apply=f"))


class Window:
    def __init__(self, size, stride=None, pad=None, lhs=None, rhs=None, reversal=None):
        n = len(size)
        self.size, self.stride = size, stride or [1] * n
        self.pad, self.lhs, self.rhs = pad or [(0, 0)] * n, lhs or [1] * n, rhs or [1] * n
        self.reversal = reversal or [0] * n

    def text(self):
        x = lambda v: "x".join(map(str, v))
        if not self.size:
            return ""
        parts = "size=%s stride=%s pad=%s lhs_dilate=%s rhs_dilate=%s" % (
            x(self.size), x(self.stride), x("%d_%d" % p for p in self.pad), x(self.lhs), x(self.rhs))
        if any(self.reversal):
            parts += " rhs_reversal=" + x(self.reversal)
        return ", window={%s}" % parts

    def out(self, sizes):
        dil = lambda n, f: 0 if n == 0 else (n - 1) * f + 1
        result = []
        for d, n in enumerate(sizes):
            padded, win = self.pad[d][0] + dil(n,
                                               self.lhs[d]) + self.pad[d][1], dil(self.size[d], self.rhs[d])
            result.append(0 if padded == 0 or win > padded else (padded - win) // self.stride[d] + 1)
        return result

    def base(self, o, w, sizes):
        """The base index at output o and window offset w, or None."""
        index = []
        for d in range(len(sizes)):
            p = o[d] * self.stride[d] + w[d] * self.rhs[d] - self.pad[d][0]
            if p < 0 or p % self.lhs[d] or p // self.lhs[d] >= sizes[d]:
                return None
            index.append(p // self.lhs[d])
        return tuple(index)


def reduce_window(x, init, op, window):
    out = Array.full(x.type, window.out(x.sizes), init)
    for o in indices(out.sizes):
        hits = [window.base(o, w, x.sizes) for w in indices(window.size)]
        out[o] = fold(x.type, op, init, [x[p] for p in hits if p is not None])
    return out


def reduce_window_goldens():
    def case(name, x, init, op, window, oracle="rational", expected=None, decision=None):
        out = reduce_window(x, init, op, window)
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("reduce-window_" + name, oracle, reducer(x.type, op) + entry(
            "x = %s parameter(0)" % x.shape(), "i = %s[] parameter(1)" % x.type,
            "ROOT r = %s reduce-window(x, i)%s, to_apply=f" % (out.shape(), window.text())),
               [x, Array(x.type, [], [init])], [out], decision=decision)

    case("spec_padding", Array("f32", [3], [1.0, 2.0, 3.0]), 7.0, "add", Window([2], pad=[(1, 1)]), "spec",
         [8.0, 10.0, 12.0, 10.0], "window-padding-skipped")
    powers = Array("s32", [5], [10000, 1000, 100, 10, 1])
    big = 2**31 - 1
    case("spec_valid", powers, big, "minimum", Window([3], [2]), "spec", [100, 1])
    case("spec_same", powers, big, "minimum", Window([3], [2], [(1, 1)]), "spec", [1000, 10, 1])
    case("spec_dilated", Array("s32", [3, 2], [1, 2, 3, 4, 5, 6]), 0, "add",
         Window([2, 1], [4, 1], [(2, 1), (0, 0)], [2, 1], [3, 1]), "spec", [0, 0, 3, 4])
    golden("reduce-window_spec_argmax", "spec", """
f {
  m = f32[] parameter(0)
  i = s32[] parameter(1)
  v = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, m), direction=GT
  a = f32[] select(gt, v, m)
  b = s32[] select(gt, j, i)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
""" + entry("x = f32[4] parameter(0)", "n = s32[4] iota(), iota_dimension=0", "m = f32[] constant(-inf)",
            "z = s32[] constant(-1)",
            "ROOT r = (f32[3], s32[3]) reduce-window(x, n, m, z), window={size=2}, to_apply=f"),
           [Array("f32", [4], [3.0, 1.0, 4.0, 1.0])],
           [Array("f32", [3], [3.0, 4.0, 4.0]), Array("s32", [3], [0, 2, 2])])
    rnd = Random(2)
    windows = {
        "plain": Window([3, 2], [1, 1]),
        "strided": Window([2, 3], [2, 3], [(1, 0), (2, 1)]),
        "base_dilated": Window([3, 3], [2, 1], [(2, 2), (0, 3)], [3, 2]),
        "both_dilated": Window([2, 3], [1, 2], [(4, 1), (3, 3)], [2, 3], [3, 2]),
        "cropped": Window([2, 2], [1, 1], [(-1, -1), (-2, 1)], [1, 2]),
    }
    for name, window in windows.items():
        for t in ("f32", "s8", "bf16"):
            x = rnd.array(t, [6, 7], 20 if t == "f32" else 3)
            case("add_%s_%s" % (name, t), x, rnd.value(t), "add", window)
            case("maximum_%s_%s" % (name, t), x, rnd.value(t), "maximum", window)
        case("subtract_%s" % name, rnd.array("s32", [6, 7]), 5, "subtract", window)
        case("add_%s_c64" % name, rnd.array("c64", [6, 7], 20), (0.5, -1.0), "add", window)
        case("or_%s_pred" % name, rnd.array("pred", [6, 7]), False, "or", window)
    case("cumulative", rnd.array("f64", [20], 50), 0.0, "add", Window([20], pad=[(19, 0)]))
    case("zero_size", Array("f32", [0, 3], []), 1.0, "add", Window([1, 2]))
    case("window_in_padding", Array("f32", [2], [1.0, 2.0]), 5.0, "add", Window([2], [2], [(4, 4)]))
    case("empty_base_padded", Array("f32", [0], []), 5.0, "add", Window([2], pad=[(2, 2)]))
    case("scalar", Array("f32", [], [2.0]), 5.0, "add", Window([]))
    case("special", Array("f32", [6], [NAN, INF, -INF, 1.0, -0.0, -0.0]), -0.0, "add", Window([2]))
    case("maximum_long", Random(5).array("s8", [3, 4, 12]), -128, "maximum", Window([2, 2, 9]))
    # Results side by side: along the minor dimension, and features behind the window.
    wide = Random(31)
    for op in ("add", "multiply", "maximum", "minimum"):
        case("lines_" + op, wide.array("f32", [3, 41], 20), wide.value("f32"), op,
             Window([2, 3], [1, 2], [(0, 1), (1, 1)]))
        case("features_" + op, wide.array("f32", [5, 18], 20), wide.value("f32"), op,
             Window([3, 1], [2, 1], [(1, 0), (0, 0)]))
    # The two results of a row meet as many elements, of other window offsets.
    case("lines_short", wide.array("f32", [40, 2], 20), wide.value("f32"), "add",
         Window([1, 3], pad=[(0, 0), (1, 1)]))
    golden("reduce-window_dynamic", "spec", reducer("s32", "add") + entry(
        "x = s32[6] parameter(0)", "n = s32[] constant(4)",
        "d = s32[<=6] set-dimension-size(x, n), dimensions={0}",
        "i = s32[] constant(0)", "ROOT r = s32[<=5] reduce-window(d, i), window={size=2}, to_apply=f"),
           [Array("s32", [6], [1, 2, 3, 4, 5, 6])], [Array("s32", [3], [3, 5, 7])])
    add = reducer("f32", "add")

    def bad(name, label, window, out="f32[2]", extra=()):
        refuse("reduce-window_refuse_" + name, label, add + entry(
            "x = f32[3] parameter(0)", "i = f32[] constant(0)", *extra,
            "ROOT r = %s reduce-window(x, i)%s, to_apply=f" % (out, window)))

    bad("c2", "ReduceWindow-C2: the window has 2 dimensions, wanted 1", ", window={size=2x2}")
    bad("c3", "ReduceWindow-C3: window size 0 is 0", ", window={size=0}")
    bad("c4", "ReduceWindow-C4: window stride 0 is 0", ", window={size=2 stride=0}")
    bad("c5_base", "ReduceWindow-C5: dilations of dimension 0", ", window={size=2 lhs_dilate=0}")
    bad("c5_window", "ReduceWindow-C5: dilations of dimension 0", ", window={size=2 rhs_dilate=0}")
    bad("c7", "ReduceWindow-C7: dimension 0 of size 3 with padding -4_0", ", window={size=1 pad=-4_0}")
    refuse("reduce-window_refuse_red_c1", "RED-C1", "f {\n  ROOT a = f32[] parameter(0)\n}\n" + entry(
        "x = f32[3] parameter(0)", "i = f32[] constant(0)",
        "ROOT r = f32[2] reduce-window(x, i), window={size=2}, to_apply=f"))
    refuse("reduce-window_refuse_c1", "ReduceWindow-C1: operands 0 and 1", """
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT t = (f32[], f32[]) tuple(a, b)
}
""" + entry("x = f32[3] parameter(0)", "y = f32[4] parameter(1)", "i = f32[] constant(0)",
            "ROOT r = (f32[2], f32[2]) reduce-window(x, y, i, i), window={size=2}, to_apply=f"))


def select_and_scatter(x, source, init, window, keep, op):
    hits = {}
    for o in indices(source.sizes):
        chosen = None
        for w in indices(window.size):
            p = window.base(o, w, x.sizes)
            if p is not None and (chosen is None or not keep(x[chosen], x[p])):
                chosen = p
        if chosen is not None:
            hits.setdefault(chosen, []).append(source[o])
    out = Array.full(x.type, x.sizes, init)
    for p, values in hits.items():
        out[p] = fold(x.type, op, init, values)
    return out


def select_and_scatter_goldens():
    def program(t, direction, op, x, source, window):
        return ("s {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=%s\n}\n" % (
            t, t, direction) + reducer(t, op) + entry(
                "x = %s parameter(0)" % x.shape(), "y = %s parameter(1)" % source.shape(),
                "i = %s[] parameter(2)" % t,
                "ROOT r = %s select-and-scatter(x, y, i)%s, select=s, scatter=f" % (
                    x.shape(), window.text())))

    def case(name, x, source, init, window, direction="GE", op="add", oracle="rational"):
        keep = {"GE": lambda a, b: a >= b, "GT": lambda a, b: a > b, "LE": lambda a, b: a <= b}[direction]
        out = select_and_scatter(x, source, init, window, keep, op)
        golden("select-and-scatter_" + name, oracle, program(x.type, direction, op, x, source, window),
               [x, source, Array(x.type, [], [init])], [out])
        return out

    f = lambda v: [float(e) for e in v]
    x = Array("f32", [4, 4], f([7, 2, 5, 3, 3, 8, 9, 3, 1, 5, 7, 5, 0, 6, 2, 7]))
    y = Array("f32", [2, 2], f([2, 6, 3, 1]))
    out = case("spec", x, y, 0.0, Window([2, 2], [2, 2]), oracle="spec")
    assert (out[1, 1], out[1, 2], out[3, 1], out[2, 2], sum(out.values)) == (2, 6, 3, 1, 12)
    x = Array("f32", [4, 5], f([7, 2, 5, 3, 8, 3, 8, 9, 3, 4, 1, 5, 7, 5, 6, 0, 6, 2, 7, 2]))
    out = case("spec_overlap", x, y, 0.0, Window([2, 3], [2, 2]), oracle="spec")
    assert (out[1, 2], out[2, 2], sum(out.values)) == (8, 4, 12)
    case("ties_keep_first", Array("f32", [4], f([5, 5, 5, 5])), Array("f32", [2], f([1, 2])), 0.0,
         Window([2], [2]))
    case("ties_keep_last", Array("f32", [4], f([5, 5, 5, 5])), Array("f32", [2], f([1, 2])), 0.0,
         Window([2], [2]), "GT")
    case("exact", Array("f32", [3], f([1, 9, 1])), Array("f32", [4], [1e8, 1.0, -1e8, 1.0]), 0.25,
         Window([2], pad=[(1, 1)]))
    case("init", Array("f32", [3], f([1, 9, 1])), Array("f32", [3], f([1, 2, 3])), 0.5, Window([1]))
    case("subtract", Array("s32", [5], [1, 9, 1, 4, 4]), Array("s32", [4], [1, 20, 300, 4000]), 7,
         Window([2]), op="subtract")
    case("in_padding", Array("f32", [2], f([1, 2])), Array("f32", [4], f([5, 6, 7, 8])), 0.0,
         Window([2], [2], [(4, 2)]))
    case("zero_size", Array("f32", [0, 2], []), Array("f32", [0, 1], []), 0.0, Window([1, 2]))
    rnd = Random(3)
    for t in ("f32", "bf16", "s8", "f64"):
        w = Window([2, 3], [1, 2], [(1, 0), (1, 1)])
        x = rnd.array(t, [5, 6], 3)
        case("random_" + t, x, rnd.array(t, w.out(x.sizes), 8 if t != "bf16" else 3), rnd.value(t), w, "LE")
    x, y = Array("f32", [4], f([1, 2, 3, 4])), Array("f32", [2], f([1, 2]))
    good = program("f32", "GE", "add", x, y, Window([2], [2]))
    r = lambda name, label, old, new: refuse("select-and-scatter_refuse_" + name, label,
                                             good.replace(old, new))
    assert good.count("pred[] compare") == 1
    r("c2_result", "SelectAndScatter-C2: select returns", "ROOT c = pred[] compare(a, b), direction=GE",
      "ROOT c = f32[] add(a, b)")
    refuse("select-and-scatter_refuse_c2_type",
           "SelectAndScatter-C2: select has a parameter f64[], wanted f32[]",
           good.replace("s {\n  a = f32[] parameter(0)\n  b = f32[]",
                        "s {\n  a = f64[] parameter(0)\n  b = f64[]"))
    refuse("select-and-scatter_refuse_c3", "RED-C1", good.replace(
        "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)",
        "f {\n  ROOT a = f32[] parameter(0)"))
    r("c4", "SelectAndScatter-C4: the window has 2 dimensions",
      "window={size=2 stride=2 pad=0_0 lhs_dilate=1 rhs_dilate=1}", "window={size=2x2}")
    r("c4_dilated", "SelectAndScatter-C4: dimension 0 of the window is dilated", "lhs_dilate=1",
      "lhs_dilate=2")
    r("c5", "SelectAndScatter-C5: the source is f32[3], wanted dimensions [2]", "y = f32[2]", "y = f32[3]")


def main():
    reduce_goldens()
    map_goldens()
    scan_goldens()
    reduce_window_goldens()
    select_and_scatter_goldens()
