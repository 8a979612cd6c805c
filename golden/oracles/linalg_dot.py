"""Goldens of dot, ragged-dot, scaled-dot and convolution."""
from linalg_base import *
from linalg_reduce import Window


def product_sum(result, pairs):
    """The sum of products of pairs of elements, as the result type has it; a floating one starts at +0."""
    if result == "pred":
        return any(a and b for a, b in pairs)
    if result in INTS:
        return wrap(result, sum(int(a) * int(b) for a, b in pairs))
    if result in COMPONENT:
        re, im = [(0.0, 0.0)], [(0.0, 0.0)]
        for a, b in pairs:
            ac, bc = isinstance(a, tuple), isinstance(b, tuple)
            a, b = (a if ac else (a, None)), (b if bc else (b, None))
            re.append((a[0], b[0]))
            if ac and bc:
                re.append((-a[1], b[1]))
            if bc:
                im.append((a[0], b[1]))
            if ac:
                im.append((a[1], b[0]))
        part = COMPONENT[result]
        return tuple(exact_sum(part, [(float(a), float(b)) for a, b in terms]) for terms in (re, im))
    return exact_sum(result, [(0.0, 0.0)] + [(float(a), float(b)) for a, b in pairs])


class Dims:
    def __init__(self, lb=(), rb=(), lc=(), rc=()):
        self.lb, self.rb, self.lc, self.rc = list(lb), list(rb), list(lc), list(rc)

    def text(self):
        names = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")
        return "".join(", %s={%s}" % (n, ",".join(map(str, v)))
                       for n, v in zip(names, (self.lb, self.rb, self.lc, self.rc)) if v)


def dot(lhs, rhs, dims, result, keep=lambda i, j: True, skip=()):
    """keep(lhs index, rhs index): which pairs count; skip: rhs dimensions that are neither
    free nor in the result."""
    lf = [d for d in range(len(lhs.sizes)) if d not in dims.lb + dims.lc]
    rf = [d for d in range(len(rhs.sizes)) if d not in dims.rb + dims.rc and d not in skip]
    sizes = [lhs.sizes[d] for d in dims.lb + lf] + [rhs.sizes[d] for d in rf]
    out = Array.full(result, sizes, None)
    free_k = [range(lhs.sizes[d]) for d in dims.lc]
    for o in indices(sizes):
        b, i, j = o[:len(dims.lb)], o[len(dims.lb):len(dims.lb) + len(lf)], o[len(dims.lb) + len(lf):]
        pairs = []
        for k in itertools.product(*free_k):
            for g in itertools.product(*(range(rhs.sizes[d]) for d in skip)):
                li, ri = [0] * len(lhs.sizes), [0] * len(rhs.sizes)
                for d, v in list(zip(dims.lb, b)) + list(zip(lf, i)) + list(zip(dims.lc, k)):
                    li[d] = v
                for d, v in list(zip(dims.rb, b)) + list(zip(rf, j)) + list(zip(dims.rc, k)) + list(
                    zip(skip, g)):
                    ri[d] = v
                if keep(tuple(li), tuple(ri)):
                    pairs.append((lhs[li], rhs[ri]))
        out[o] = product_sum(result, pairs)
    return out


def f(values):
    return [float(v) for v in values]


def dot_goldens():
    def case(name, lhs, rhs, dims, result=None, oracle="rational", expected=None, extra="", decision=None):
        result = result or lhs.type
        out = dot(lhs, rhs, dims, result)
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("dot_" + name, oracle, entry(
            "l = %s parameter(0)" % lhs.shape(), "r = %s parameter(1)" % rhs.shape(),
            "ROOT d = %s dot(l, r)%s%s" % (out.shape(), dims.text(), extra)), [lhs, rhs], [out],
               decision=decision)

    case("spec_rows", Array("f32", [2, 3], f(range(1, 7))), Array("f32", [2, 3], f([1, 1, 1, 2, 2, 2])),
         Dims(lc=[1], rc=[1]), oracle="spec", expected=f([6, 12, 15, 30]))
    case("spec_batch", Array("f32", [2, 2, 3], f(range(1, 13))), Array("f32", [3, 2, 2], f(range(1, 13))),
         Dims([0], [2], [2], [0]), oracle="spec", expected=f([38, 50, 83, 113, 152, 200, 206, 272]))
    case("spec_exact", Array("f32", [4], [1e8, 1.0, -1e8, 1.0]), Array("f32", [4], f([1, 1, 1, 1])),
         Dims(lc=[0], rc=[0]), oracle="spec", expected=[2.0])
    case("spec_s8_wraps", Array("s8", [2], [100, 100]), Array("s8", [2], [1, 1]), Dims(lc=[0], rc=[0]),
         oracle="spec", expected=[-56])
    rnd = Random(11)
    matrix = Dims(lc=[1], rc=[0])
    for t, result in (("f32", "f32"), ("f64", "f64"), ("bf16", "bf16"), ("bf16", "f32"), ("f16", "f16"),
                      ("f8e4m3fn", "f8e4m3fn"), ("f8e5m2", "f32"), ("c64", "c64"), ("c128", "c128"),
                      ("s8", "s8"),
                      ("s8", "s32"), ("u4", "s32"), ("s32", "s32"), ("u64", "u64"), ("pred", "pred"),
                      ("pred", "s32"), ("s64", "f32"), ("s32", "f64")):
        spread = {"f64": 200, "f32": 30, "c64": 30}.get(t, 3)
        case("matrix_%s_%s" % (t, result), rnd.array(t, [4, 9], spread), rnd.array(t, [9, 3], spread), matrix,
             result)
    case("mixed_types", rnd.array("bf16", [3, 4]), rnd.array("f32", [4, 2]), matrix, "f32")
    case("mixed_signs", rnd.array("s8", [3, 4]), rnd.array("u8", [4, 2]), matrix, "s32")
    case("real_times_complex", rnd.array("f32", [3, 4]), rnd.array("c64", [4, 2]), matrix, "c64")
    case("complex_times_real", rnd.array("c64", [3, 4]), rnd.array("f32", [4, 2]), matrix, "c64")
    case("outer", rnd.array("f32", [3]), rnd.array("f32", [2]), Dims())
    case("two_batch_two_contracting", rnd.array("f32", [2, 3, 2, 2, 4]), rnd.array("f32", [4, 2, 2, 3, 3]),
         Dims([0, 1], [1, 3], [4, 2], [0, 2]))
    case("free_between", rnd.array("s16", [2, 3, 4]), rnd.array("s16", [3, 5, 2]), Dims(lc=[1], rc=[0]))
    case("empty_contraction", Array("f32", [2, 0], []), Array("f32", [0, 2], []), matrix, expected=[0.0] * 4)
    case("zero_rows", Array("f32", [0, 3], []), rnd.array("f32", [3, 2]), matrix)
    case("special", Array("f32", [5, 2], [INF, 1.0, NAN, 0.0, 0.0, -0.0, INF, -INF, 3e38, 3e38]),
         Array("f32", [2, 3], [1.0, 0.0, -1.0, 1.0, -1.0, 1.0]), matrix)
    case("minus_zero", Array("f32", [2, 2], [-0.0, 0.0, 0.0, 0.0]),
         Array("f32", [2, 2], [1.0, 1.0, -1.0, 1.0]), matrix)
    case("cancels_overflow", Array("f32", [3], [3e38, 3e38, -3e38]), Array("f32", [3], [2.0, 1.0, 2.0]),
         Dims(lc=[0], rc=[0]))
    case("subnormal", Array("f32", [2], [2.0**-100, 2.0**-100]), Array("f32", [2], [2.0**-49, 2.0**-50]),
         Dims(lc=[0], rc=[0]))
    case("infinity_times_integer", Array("f32", [2], [INF, 1.0]), Array("s64", [2], [5, (1 << 62) + 1]),
         Dims(lc=[0], rc=[0]), "f32")
    case("precision_attributes", rnd.array("f32", [2, 3]), rnd.array("f32", [3, 2]), matrix,
         extra=", operand_precision={highest,default}, algorithm=dot_bf16_bf16_f32_x3")
    golden("dot_dynamic", "hand", entry(
        "l = f32[2,3] parameter(0)", "r = f32[3,2] parameter(1)", "n = s32[] constant(2)",
        "ld = f32[2,<=3] set-dimension-size(l, n), dimensions={1}",
        "rd = f32[<=3,2] set-dimension-size(r, n), dimensions={0}",
        "ROOT d = f32[2,2] dot(ld, rd), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
           [Array("f32", [2, 3], f([1, 2, 50, 3, 4, 50])), Array("f32", [3, 2], f([1, 2, 3, 4, 50, 50]))],
           [Array("f32", [2, 2], f([7, 10, 15, 22]))])
    golden("dot_dynamic_mismatch", "hand", entry(
        "l = f32[3] constant({1,2,3})", "n = s32[] constant(2)",
        "ld = f32[<=3] set-dimension-size(l, n), dimensions={0}",
        "k = s32[] constant(1)", "rd = f32[<=3] set-dimension-size(l, k), dimensions={0}",
        "ROOT d = f32[] dot(ld, rd), lhs_contracting_dims={0}, rhs_contracting_dims={0}"), refuse="5 DYN-4")

    def bad(name, label, dims, extra="", lhs="f32[2,3]", rhs="f32[3,2]", out="f32[2,2]"):
        refuse("dot_refuse_" + name, label, entry("l = %s parameter(0)" % lhs, "r = %s parameter(1)" % rhs,
                                                  "ROOT d = %s dot(l, r)%s%s" % (out, dims.text(), extra)))

    bad("c1", "DotGeneral-C1: lhs contracting dimension 2 is out of range for rank 2", Dims(lc=[2], rc=[0]))
    bad("c2", "DotGeneral-C2: rhs dimension 0 stands twice", Dims([0], [0], [1], [0]))
    bad("c3_count", "DotGeneral-C3: 1 contracting dimensions in lhs, 2 in rhs", Dims(lc=[1], rc=[0, 1]))
    bad("c3_size", "DotGeneral-C3: contracting dimension 0 of lhs has size 2, dimension 0 of rhs has 3",
        Dims(lc=[0], rc=[0]))
    bad("c4_count", "DotGeneral-C4: 1 batch dimensions in lhs, 0 in rhs", Dims([0], [], [1], [0]))
    bad("c4_size", "DotGeneral-C4: batch dimension 0 of lhs has size 2", Dims([0], [1], [1], [0]),
        rhs="f32[3,4]")
    bad("dot_t", "DOT-1: products of f32 and f32 can't be summed in a result of type pred", matrix,
        out="pred[2,2]")
    bad("dot_t_complex", "DOT-1: products of c64 and c64", matrix, lhs="c64[2,3]", rhs="c64[3,2]")
    bad("precision", "operand_precision has 1 entry, wanted 2", matrix, ", operand_precision={highest}")
    bad("shape", "declared shape is f32[3,3], inferred f32[2,2]", matrix, out="f32[3,3]")


def zero_goldens():
    """Sums whose terms are all -0, by every algorithm: the bits of all results, or-ed, are 0,
    as those of +0 are."""
    def case(name, t, result, lhs, rhs, out, line, before=()):
        bits = {"f64": "u64", "c128": "u64", "f32": "u32", "c64": "u32"}.get(result, "u16")
        part = COMPONENT.get(result, result)
        shape = out[out.index("["):]
        sizes = shape[1:-1].split(",")
        dims = "{" + ",".join(str(i) for i in range(len(sizes))) + "}"
        value = lambda x: "(%s, %s)" % (x, x) if t in COMPONENT else x
        lines = ["three = %s[] constant(%s)" % (t, value("-3")),
                 "zero = %s[] constant(%s)" % (t, "(0, -0)" if t in COMPONENT else "0"),
                 "l = %s broadcast(three), dimensions={}" % lhs,
                 "r = %s broadcast(zero), dimensions={}" % rhs,
                 *before, "d = %s %s" % (out, line), "z = %s[] constant(0)" % bits]
        parts = ["d"] if part == result else ["re", "im"]
        if part != result:
            lines += ["re = %s%s real(d)" % (part, shape), "im = %s%s imag(d)" % (part, shape)]
        for p in parts:
            lines += ["b%s = %s%s bitcast-convert(%s)" % (p, bits, shape, p),
                      "o%s = %s[] reduce(b%s, z), dimensions=%s, to_apply=f" % (p, bits, p, dims)]
        lines.append("ROOT o = %s[] %s" % (bits, "add(od, z)" if part == result else "or(ore, oim)"))
        golden("zeros_" + name, "hand", reducer(bits, "or") + "\n" + entry(*lines),
               outs=[Array(bits, [], [0])])

    for t, result in (("f32", "f32"), ("f64", "f64"), ("bf16", "bf16"), ("bf16", "f32"), ("f16", "f16"),
                      ("c64", "c64"), ("c128", "c128")):
        for m, n, k in ((1, 1, 1), (5, 9, 3), (2, 3, 70000), (64, 64, 64), (400, 300, 70), (256, 256, 512)):
            if t in COMPONENT and k == 512:
                continue  # as the one before, and four times the work
            case("dot_%s_%s_%d_%d_%d" % (t, result, m, n, k), t, result, "%s[%d,%d]" % (t, m, k),
                 "%s[%d,%d]" % (t, k, n),
                 "%s[%d,%d]" % (result, m, n),
                 "dot(l, r), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
        case("convolution_%s_%s" % (t, result), t, result, "%s[2,40,17]" % t, "%s[3,17,5]" % t,
             "%s[2,40,5]" % result, "convolution(l, r), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f")
    for t in ("f32", "f64", "c64"):
        case("ragged_dot_" + t, t, t, t + "[5,4]", t + "[2,4,3]", t + "[5,3]",
             "ragged-dot(l, r, gs), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
             "rhs_group_dims={0}", ["gs = s32[2] constant({3, 2})"])
    case("scaled_dot", "f32", "f32", "f32[2,4]", "f32[4,3]", "f32[2,3]",
         "scaled-dot(l, r, s, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
         ["s = f32[2,1] constant({{2}, {2}})", "u = f32[] constant(2)"])


def ragged_goldens():
    def program(lhs, rhs, gs, dims, ragged, group, out):
        return entry("l = %s parameter(0)" % lhs.shape(), "r = %s parameter(1)" % rhs.shape(),
                     "g = %s parameter(2)" % gs.shape(),
                     "ROOT d = %s ragged-dot(l, r, g)%s, lhs_ragged_dims={%d}%s" % (
                         out.shape(), dims.text(), ragged,
                         ", rhs_group_dims={%d}" % group if group is not None else ""))

    def ends(gs, prefix, size):
        """end_i of the groups at a prefix, clamped."""
        row = [gs[tuple(prefix[:len(gs.sizes) - 1]) + (i,)] for i in range(gs.sizes[-1])]
        return [min(max(sum(row[:i + 1]), 0), size) for i in range(len(row))]

    def case(name, lhs, rhs, gs, dims, ragged, group=None, oracle="rational", expected=None, decision=None):
        result = lhs.type
        lf = [d for d in range(len(lhs.sizes)) if d not in dims.lb + dims.lc]
        if ragged in dims.lb:
            prefix = dims.lb[:dims.lb.index(ragged)]
        elif ragged in dims.lc:
            prefix = dims.lb + dims.lc[:dims.lc.index(ragged)]
        else:
            prefix = dims.lb + lf[:lf.index(ragged)]
        size = lhs.sizes[ragged]

        def limits(i):
            return ends(gs, [i[d] for d in prefix], size)

        if ragged in dims.lc:
            parts = []
            for g in range(gs.sizes[-1]):
                inside = lambda i, j: (limits(i)[g - 1] if g else 0) <= i[ragged] < limits(i)[g]
                parts.append(dot(lhs, rhs, dims, result, inside))
            out = Array(result, [gs.sizes[-1]] + parts[0].sizes, sum((p.values for p in parts), []))
        elif ragged in dims.lb:
            out = dot(lhs, rhs, dims, result, lambda i, j: i[ragged] < limits(i)[-1])
        else:
            def of_group(i, j):
                hit = [g for g, e in enumerate(limits(i)) if i[ragged] < e]
                return bool(hit) and j[group] == hit[0]
            out = dot(lhs, rhs, dims, result, of_group, [group])
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("ragged-dot_" + name, oracle, program(lhs, rhs, gs, dims, ragged, group, out), [lhs, rhs, gs],
               [out], decision=decision)

    lhs = Array("f32", [4, 2], f([1, 2, 3, 4, 5, 6, 7, 8]))
    rhs = Array("f32", [3, 2, 2], f([1, 0, 0, 1, 2, 0, 0, 2, 1, 1, 1, 1]))
    free = Dims(lc=[1], rc=[1])
    case("spec", lhs, rhs, Array("s32", [3], [1, 2, 0]), free, 0, 0, "spec", f([1, 2, 6, 8, 10, 12, 0, 0]))
    rnd = Random(12)
    case("all_rows", lhs, rhs, Array("s32", [3], [2, 1, 9]), free, 0, 0)
    case("negative_group", lhs, rhs, Array("s32", [3], [2, -1, 2]), free, 0, 0,
         decision="ragged-dot-negative-groups")
    case("zero_groups", Array("f32", [2, 2], f([1, 2, 3, 4])), Array("f32", [0, 2, 2], []),
         Array("s32", [0], []), free, 0, 0)
    case("prefix", rnd.array("s32", [2, 5, 3]), rnd.array("s32", [2, 2, 3, 2]),
         Array("s64", [2, 2], [1, 3, 4, 4]), Dims([0], [0], [2], [2]), 1, 1)
    case("free_prefix", rnd.array("f32", [2, 4, 3]), rnd.array("f32", [2, 3, 2]),
         Array("u8", [2, 2], [1, 2, 0, 4]), Dims(lc=[2], rc=[1]), 1, 0)
    case("contracting", rnd.array("f32", [3, 5]), rnd.array("f32", [5, 2]), Array("s32", [3], [2, 0, 2]),
         Dims(lc=[1], rc=[0]), 1)
    case("contracting_prefix", rnd.array("s8", [2, 3, 4]), rnd.array("s8", [2, 3, 4]),
         Array("s32", [2, 3, 2], [1, 2, 0, 9, 4, -2, 2, 2, 3, 0, 0, 4]),
         Dims([0], [0], [1, 2], [1, 2]), 2)
    case("contracting_first_of_two", rnd.array("bf16", [4, 3]), rnd.array("bf16", [4, 3, 2]),
         Array("s32", [2], [1, 2]), Dims(lc=[0, 1], rc=[0, 1]), 0)
    case("batch", rnd.array("f32", [4, 2, 3]), rnd.array("f32", [4, 3, 2]), Array("s32", [2], [1, 2]),
         Dims([0], [0], [2], [1]), 0)
    case("batch_prefix", rnd.array("c64", [2, 3, 2]), rnd.array("c64", [2, 3, 2]),
         Array("s32", [2, 1], [2, 0]), Dims([0, 1], [0, 1], [2], [2]), 1)

    def bad(name, label, gs="s32[3]", ragged="0", group=", rhs_group_dims={0}", lc=1, rhs="f32[3,2,2]", rc=1):
        refuse("ragged-dot_refuse_" + name, label, entry(
            "l = f32[4,2] parameter(0)", "r = %s parameter(1)" % rhs, "g = %s parameter(2)" % gs,
            "ROOT d = f32[4,2] ragged-dot(l, r, g), lhs_contracting_dims={%d}, rhs_contracting_dims={%d}, lhs_ragged_dims={%s}%s" % (
                lc, rc, ragged, group)))

    bad("c1", "DotGeneral-C3", lc=0)
    bad("c2_count", "RaggedDot-C2: lhs_ragged_dims is {0,1}", ragged="0,1")
    bad("c2_range", "RaggedDot-C2: lhs_ragged_dims is {2}", ragged="2")
    bad("c3_type", "RaggedDot-C3: group_sizes is f32[3]", gs="f32[3]")
    bad("c3_rank", "RaggedDot-C3: group_sizes has rank 2, wanted 1 or 1", gs="s32[4,3]")
    bad("c4_none", "RaggedDot-C4: rhs_group_dims has 0 entries, wanted 1", group="")
    bad("c4_size", "RaggedDot-C4: rhs group dimension 0 has size 3, group_sizes has 2 groups", gs="s32[2]")
    bad("c4_role", "RaggedDot-C4: rhs group dimension 1 is a batch or contracting dimension",
        group=", rhs_group_dims={1}")
    bad("c4_mode", "RaggedDot-C4: rhs_group_dims has 1 entry, wanted 0", ragged="1", rhs="f32[2,2]", rc=0,
        group=", rhs_group_dims={1}")
    bad("c5", "RaggedDot-C5: rhs group dimension 3 is out of range", group=", rhs_group_dims={3}")


def scaled_goldens():
    def scaled(x, scale):
        if not scale.sizes:
            return x
        out = Array.full(x.type, x.sizes, None)
        for i in indices(x.sizes):
            s = scale[tuple(v // (n // m) for v, n, m in zip(i, x.sizes, scale.sizes))]
            if isinstance(x[i], tuple):
                out[i] = tuple(v * s for v in x[i])
            else:
                out[i] = x[i] * s
        return out

    def case(name, l, r, ls, rs, dims, result, oracle="rational", expected=None):
        out = dot(scaled(l, ls), scaled(r, rs), dims, result)
        if expected is not None:
            assert out.values == expected, (name, out.values)
        golden("scaled-dot_" + name, oracle, entry(
            "l = %s parameter(0)" % l.shape(), "r = %s parameter(1)" % r.shape(),
            "a = %s parameter(2)" % ls.shape(),
            "b = %s parameter(3)" % rs.shape(),
            "ROOT d = %s scaled-dot(l, r, a, b)%s" % (out.shape(), dims.text())),
               [l, r, ls, rs], [out])

    matrix = Dims(lc=[1], rc=[0])
    one = Array("f8e8m0fnu", [], [1.0])
    case("spec", Array("f8e4m3fn", [1, 4], f([1, 2, 3, 4])), Array("f8e4m3fn", [4, 1], f([1, 1, 1, 1])),
         Array("f8e8m0fnu", [1, 2], f([2, 4])), one, matrix, "f32", "spec", [34.0])
    rnd = Random(13)
    powers = lambda sizes: Array("f8e8m0fnu", sizes,
                                 [2.0**rnd.integer(-20, 20) for _ in range(math.prod(sizes))])
    case("both", rnd.array("f8e4m3fn", [3, 8], 3), rnd.array("f8e5m2", [8, 2], 3), powers([3, 2]),
         powers([4, 2]), matrix, "f32")
    case("f4", rnd.array("f4e2m1fn", [2, 6], 1), rnd.array("f4e2m1fn", [6, 3], 1), powers([1, 3]),
         powers([2, 1]), matrix, "bf16")
    case("f32_scales", rnd.array("f32", [2, 4], 9), rnd.array("f32", [4, 2], 9), rnd.array("f32", [2, 2], 9),
         rnd.array("f32", [1, 2], 9), matrix, "f32")
    case("scalar_ignored", rnd.array("bf16", [2, 4]), rnd.array("bf16", [4, 2]), Array("bf16", [], [7.0]),
         rnd.array("bf16", [2, 1]), matrix, "f32")
    case("integers", rnd.array("s8", [2, 4]), rnd.array("s8", [4, 2]), rnd.array("s8", [2, 2]),
         rnd.array("u8", [1, 1]), matrix, "s32")
    case("complex", rnd.array("c64", [2, 4], 8), rnd.array("c64", [4, 2], 8), rnd.array("f16", [2, 2]),
         Array("f32", [], [1.0]), matrix, "c64")
    case("batch", rnd.array("f16", [2, 3, 4]), rnd.array("f16", [2, 4, 2]), powers([1, 3, 2]),
         powers([2, 2, 1]), Dims([0], [0], [2], [1]), "f32")
    case("zero_size", Array("f16", [2, 0], []), Array("f16", [0, 2], []), Array("f16", [2, 0], []), one,
         matrix, "f32")
    case("special", Array("f16", [1, 4], [INF, 1.0, 0.0, -0.0]), Array("f16", [4, 1], [1.0, 1.0, 1.0, 1.0]),
         Array("f16", [1, 2], [2.0, 0.0]), one, matrix, "f32")

    def bad(name, label, ls, rs="f32[]", dims=matrix, code=3, l="f32[2,4]", r="f32[4,2]", out="f32[2,2]"):
        refuse("scaled-dot_refuse_" + name, label, entry(
            "l = %s parameter(0)" % l, "r = %s parameter(1)" % r, "a = %s parameter(2)" % ls,
            "b = %s parameter(3)" % rs, "ROOT d = %s scaled-dot(l, r, a, b)%s" % (out, dims.text())), code)

    bad("c1", "DotGeneral-C3", "f32[2,2]", dims=Dims(lc=[0], rc=[0]))
    bad("c2_rank", "ScaledDot-C2: the scale of operand 0 has rank 1, wanted 0 or 2", "f32[2]")
    bad("c2_size", "ScaledDot-C2: dimension 1 of operand 0 has size 4, not a multiple of the scale's 3",
        "f32[2,3]")
    bad("c3", "ScaledDot-C3: 2 contracting dimensions, wanted 1 with a scale", "f32[2,2]",
        dims=Dims(lc=[0, 1], rc=[1, 0]), out="f32[]")
    bad("c4", "ScaledDot-C4: both scales are scalars", "f32[]")
    bad("wide", "scaled-dot: operand 0 of type f64 with a scale of type f64", "f64[2,2]", "f64[]", code=4,
        l="f64[2,4]", r="f64[4,2]", out="f64[2,2]")


class Conv:
    """Dimension numbers by label, as the text has them."""

    def __init__(self, labels="bf01_oi01->bf01"):
        self.labels = labels
        left, self.out = labels.split("->")
        self.lhs, self.rhs = left.split("_")


def convolution(lhs, rhs, window, conv, fgc, bgc, result):
    n = len(conv.lhs) - 2
    ls = [lhs.sizes[conv.lhs.index(str(d))] for d in range(n)]
    rs = [rhs.sizes[conv.rhs.index(str(d))] for d in range(n)]
    B, Fi = lhs.sizes[conv.lhs.index("b")], rhs.sizes[conv.rhs.index("i")]
    O = rhs.sizes[conv.rhs.index("o")]
    spatial = window.out(ls)
    size_of = {"b": B // bgc, "f": O, **{str(d): spatial[d] for d in range(n)}}
    out = Array.full(result, [size_of[c] for c in conv.out], None)
    Fo, Bo, Po = O // fgc, B // bgc, O // bgc
    for index in indices(out.sizes):
        at = dict(zip(conv.out, index))
        b, o, X = at["b"], at["f"], [at[str(d)] for d in range(n)]
        pairs = []
        for i in range(Fi):
            for K in indices(rs):
                q = window.base(X, K, ls)
                if q is None:
                    continue
                where = {"b": b + o // Po * Bo, "f": o // Fo * Fi + i, **{str(d): q[d] for d in range(n)}}
                k = {"o": o, "i": i,
                     **{str(d): rs[d] - 1 - K[d] if window.reversal[d] else K[d] for d in range(n)}}
                pairs.append((lhs[[where[c] for c in conv.lhs]], rhs[[k[c] for c in conv.rhs]]))
        out[index] = product_sum(result, pairs)
    return out


def convolution_goldens():
    def text(lhs, rhs, out, window, conv, fgc=1, bgc=1, extra=""):
        groups = (", feature_group_count=%d" % fgc if fgc > 1
                  else "") + (", batch_group_count=%d" % bgc if bgc > 1 else "")
        return entry("l = %s parameter(0)" % lhs, "r = %s parameter(1)" % rhs,
                     "ROOT c = %s convolution(l, r)%s, dim_labels=%s%s%s" % (
            out, window.text(), conv.labels, groups, extra))

    def case(name, lhs, rhs, window, labels="bf0_oi0->bf0", fgc=1, bgc=1, result=None, oracle="rational",
             expected=None, decision=None):
        conv = Conv(labels)
        out = convolution(lhs, rhs, window, conv, fgc, bgc, result or lhs.type)
        if expected is not None:
            assert [number(v, "f32")
                    for v in out.values] == [number(v, "f32") for v in expected], (name, out.values)
        golden("convolution_" + name, oracle,
               text(lhs.shape(), rhs.shape(), out.shape(), window, conv, fgc, bgc), [lhs, rhs], [out],
               decision=decision)

    line = lambda v: Array("f32", [1, 1, len(v)], f(v))
    two = "bf01_oi01->bf01"
    wide = Random(32)
    case("depthwise_features", wide.array("f32", [2, 5, 6, 11], 20), wide.array("f32", [3, 2, 1, 11], 20),
         Window([3, 2], [1, 2], [(1, 1), (1, 0)], reversal=[0, 1]), "b01f_01io->b01f", fgc=11)
    case("spec_2d", Array("f32", [1, 1, 3, 3], f(range(1, 10))), Array("f32", [1, 1, 2, 2], f([1, 2, 3, 4])),
         Window([2, 2], pad=[(0, 1), (0, 1)]), two, oracle="spec",
         expected=f([37, 47, 21, 67, 77, 33, 23, 26, 9]))
    case("spec_strided", line([1, 2, 3, 4, 5]), line([1, 10, 100]), Window([3], [2], [(1, 1)]), oracle="spec",
         expected=f([210, 432, 54]))
    case("spec_lhs_dilated", line([1, 2, 3]), line([1, 10]), Window([2], pad=[(1, 1)], lhs=[2]),
         oracle="spec", expected=f([10, 1, 20, 2, 30, 3]))
    case("spec_rhs_dilated_reversed", line([1, 2, 3, 4, 5]), line([1, 10]),
         Window([2], rhs=[2], reversal=[1]), oracle="spec", expected=f([13, 24, 35]))
    case("spec_negative_padding", line([1, 2, 3, 4, 5]), line([1, 10]), Window([2], pad=[(-1, -1)]),
         oracle="spec", expected=f([32, 43]))
    case("spec_feature_groups", Array("f32", [1, 2, 3], f(range(1, 7))),
         Array("f32", [4, 1, 2], f([1, 0, 0, 1, 1, 1, 1, -1])),
         Window([2]), fgc=2, oracle="spec", expected=f([1, 2, 2, 3, 9, 11, -1, -1]))
    case("spec_batch_groups", Array("f32", [2, 1, 3], f(range(1, 7))),
         Array("f32", [2, 1, 2], f([1, 0, 1, 1])), Window([2]),
         bgc=2, oracle="spec", expected=f([1, 2, 9, 11]))
    case("spec_nan_kernel", line([1, 2]), Array("f32", [1, 1, 2], [NAN, 1.0]), Window([2], pad=[(1, 1)]),
         oracle="spec", expected=[1.0, NAN, NAN], decision="convolution-padding-contributes-nothing")
    rnd = Random(14)
    everything = Window([2, 3], [2, 1], [(1, 2), (3, 0)], [2, 1], [1, 2], [0, 1])
    for t, result in (("f32", "f32"), ("bf16", "bf16"), ("f64", "f64"), ("c64", "c64"), ("s8", "s32"),
                      ("s8", "s8"), ("u16", "u16"), ("pred", "pred"), ("f8e4m3fn", "f32"), ("f16", "f16")):
        spread = 20 if t in ("f32", "f64", "c64") else 2
        case("nhwc_%s_%s" % (t, result), rnd.array(t, [2, 4, 5, 3], spread),
             rnd.array(t, [2, 3, 3, 2], spread), everything, "b01f_01io->b01f", result=result)
        case("feature_groups_%s_%s" % (t, result), rnd.array(t, [2, 4, 6], spread),
             rnd.array(t, [6, 2, 3], spread), Window([3], [1], [(1, 1)]), fgc=2, result=result)
        case("batch_groups_%s_%s" % (t, result), rnd.array(t, [4, 2, 6], spread),
             rnd.array(t, [6, 2, 3], spread), Window([3], [2], [(0, 2)], [2]), bgc=2, result=result)
    case("permuted", rnd.array("f32", [3, 2, 4, 5]), rnd.array("f32", [2, 2, 3, 3]), Window([2, 3]),
         "0fb1_i0o1->f1b0")
    case("depthwise", rnd.array("f32", [1, 4, 5, 5]), rnd.array("f32", [8, 1, 3, 3]),
         Window([3, 3], pad=[(1, 1), (1, 1)]), two, fgc=4)
    case("no_spatial", rnd.array("f32", [2, 3]), rnd.array("f32", [4, 3]), Window([]), "bf_oi->bf")
    case("three_spatial", rnd.array("s32", [1, 2, 3, 3, 3]), rnd.array("s32", [2, 2, 2, 2, 2]),
         Window([2, 2, 2]), "bf012_oi012->bf012")
    case("zero_batch", Array("f32", [0, 2, 3], []), rnd.array("f32", [2, 2, 2]), Window([2]))
    case("no_input_features", Array("f32", [1, 0, 3], []), Array("f32", [2, 0, 2], []), Window([2]))
    case("window_in_padding", line([1, 2]), line([3, 4]), Window([2], [2], [(4, 4)]))
    case("exact", line([1e8, 1.0, -1e8, 1.0]), line([1, 1, 1, 1]), Window([4], pad=[(1, 1)]))
    case("mixed_types", rnd.array("bf16", [1, 2, 4]), rnd.array("f32", [2, 2, 2]), Window([2]), result="f32")
    # With products enough for a kernel.
    rnd = Random(15)
    case("base_dilated_large", rnd.array("s8", [1, 3, 9]), rnd.array("s8", [4, 3, 4]),
         Window([4], pad=[(1, 1)], lhs=[2]), result="s32")
    case("batch_groups_large", rnd.array("s8", [4, 3, 12]), rnd.array("s8", [4, 3, 3]), Window([3]), bgc=2,
         result="s32")
    golden("convolution_dynamic", "hand", entry(
        "l = f32[1,1,4] parameter(0)", "r = f32[1,1,2] parameter(1)", "n = s32[] constant(3)",
        "d = f32[1,1,<=4] set-dimension-size(l, n), dimensions={2}",
        "ROOT c = f32[1,1,<=5] convolution(d, r), window={size=2 pad=1_1}, dim_labels=bf0_oi0->bf0"),
           [line([1, 2, 3, 50]), line([1, 10])], [line([10, 21, 32, 3])])

    def bad(name, label, lhs="f32[2,2,5]", rhs="f32[4,2,2]", out="f32[2,4,4]", window=Window([2]),
            labels="bf0_oi0->bf0", fgc=1, bgc=1, extra=""):
        refuse("convolution_refuse_" + name, label,
               text(lhs, rhs, out, window, Conv(labels), fgc, bgc, extra))

    op = "ConvGeneralDilated-"
    bad("c1", op + "C1: operand 0 is f32[2,2], wanted an array of rank 3", lhs="f32[2,2]")
    bad("c3_count", op + "C3: the window has 2 dimensions, wanted 1", window=Window([2, 2]))
    bad("c3_size", op + "C3: window size 0 is 3, the kernel's is 2", window=Window([3]))
    bad("c3_stride", op + "C3: window stride 0 is 0", window=Window([2], [0]))
    bad("c3_dilation", op + "C3: dilations of dimension 0", window=Window([2], rhs=[0]))
    bad("c4_zero", op + "C4", extra=", feature_group_count=0")
    bad("c4_both", op + "C4: feature_group_count is 2 and batch_group_count 2", rhs="f32[4,1,2]", fgc=2,
        bgc=2)
    bad("c5", op + "C5: lhs has 2 features, rhs 2 input features, feature_group_count is 2", fgc=2)
    bad("c6", op + "C6: rhs has 3 output features, wanted a multiple of 2", rhs="f32[3,1,2]", fgc=2)
    bad("c7", op + "C7: lhs has batch size 3, wanted a multiple of batch_group_count 2", lhs="f32[3,2,5]",
        bgc=2)
    bad("c8", "DOT-1: products of f32 and f32", out="pred[2,4,4]")
    bad("precision", "operand_precision has 3 entries, wanted 2",
        extra=", operand_precision={high,high,high}")
    bad("negative_size", op + "C3: dimension 0 of size 5 with padding -6_0",
        window=Window([2], pad=[(-6, 0)]))


def main():
    dot_goldens()
    zero_goldens()
    ragged_goldens()
    scaled_goldens()
    convolution_goldens()
