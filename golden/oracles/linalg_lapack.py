"""Goldens of the custom calls lapack_?getrf_ffi and lapack_?gtsv_ffi: rational arithmetic,
each step rounded once."""
from linalg_base import *
from linalg_transform import complex_of, divide, minus_products

LETTER = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}


class Arithmetic:
    """Numbers of a type as pairs (re, im)."""

    def __init__(self, type_name):
        self.part, self.is_complex = COMPONENT.get(type_name, type_name), type_name in COMPONENT

    def rest(self, b, pairs):
        re, im = minus_products(self.part, b, pairs, False)
        return (re, im) if self.is_complex else (re, 0.0)

    def divide(self, a, b):
        return divide(self.part, a, b, self.is_complex)

    def size(self, a):
        return rn(self.part, abs(Fraction(a[0])) + abs(Fraction(a[1])))


def stored(type_name, value):
    return value if type_name in COMPONENT else value[0]


def getrf(a):
    t, (m, n) = Arithmetic(a.type), a.sizes[-2:]
    batch = a.sizes[:-2]
    lu = Array.full(a.type, a.sizes, None)
    pivots, info = Array.full("s32", batch + [min(m, n)], 0), Array.full("s32", batch, 0)
    for index in indices(batch):
        x = [[complex_of(a[index + (i, j)]) for j in range(n)] for i in range(m)]
        for j in range(n):
            for i in range(m):
                x[i][j] = t.rest(x[i][j], [(x[i][k], x[k][j]) for k in range(min(i, j))])
            if j >= m:
                continue
            p = max(range(j, m), key=lambda i: (t.size(x[i][j]), -i))
            pivots[index + (j,)] = p + 1
            x[j], x[p] = x[p], x[j]
            if x[j][j] == (0, 0):
                info[index] = info[index] or j + 1
                continue
            for i in range(j + 1, m):
                x[i][j] = t.divide(x[i][j], x[j][j])
        for i, j in indices([m, n]):
            lu[index + (i, j)] = stored(a.type, x[i][j])
    return [lu, pivots, info]


def gtsv(dl, d, du, b):
    t, n, sides = Arithmetic(d.type), d.sizes[-1], b.sizes[-1]
    low, mid, up = ([complex_of(v) for v in x.values] for x in (dl, d, du))
    x = [[complex_of(b[i, r]) for r in range(sides)] for i in range(n)]
    info = 0
    for k in range(n - 1):
        if t.size(mid[k]) < t.size(low[k + 1]):
            f, following = t.divide(mid[k], low[k + 1]), mid[k + 1]
            mid[k], mid[k + 1] = low[k + 1], t.rest(up[k], [(f, following)])
            if k + 2 < n:
                low[k + 1] = up[k + 1]
                up[k + 1] = t.rest((0.0, 0.0), [(f, low[k + 1])])
            up[k] = following
            x[k], x[k + 1] = x[k + 1], [t.rest(v, [(f, w)]) for v, w in zip(x[k], x[k + 1])]
            continue
        if mid[k] == (0, 0):
            info = k + 1
            break
        f = t.divide(low[k + 1], mid[k])
        mid[k + 1] = t.rest(mid[k + 1], [(f, up[k])])
        x[k + 1] = [t.rest(w, [(f, v)]) for v, w in zip(x[k], x[k + 1])]
        if k + 2 < n:
            low[k + 1] = (0.0, 0.0)
    if info == 0 and mid[n - 1] == (0, 0):
        info = n
    for k in reversed(range(n if info == 0 else 0)):
        for r in range(sides):
            known = [(c, x[at][r]) for c, at in ((up[k], k + 1), (low[k + 1] if k + 2 < n else None, k + 2))
                     if at < n]
            x[k][r] = t.divide(t.rest(x[k][r], known), mid[k])
    results = [Array(d.type, [n], [stored(d.type, v) for v in values]) for values in (low, mid, up)]
    return results + [Array(d.type, b.sizes, [stored(d.type, v) for row in x for v in row]),
                      Array("s32", [], [info])]


def call(name, routine, args, outs, decision="lapack-exact"):
    t = args[0].type
    lines = ["p%d = %s parameter(%d)" % (i, a.shape(), i) for i, a in enumerate(args)]
    lines.append('ROOT r = (%s) custom-call(%s), custom_call_target="lapack_%s%s_ffi", api_version=API_VERSION_TYPED_FFI, '
                 "backend_config={}" % (", ".join(o.shape() for o in outs),
                                        ", ".join("p%d" % i for i in range(len(args))), LETTER[t], routine))
    golden("lapack_%s_%s" % (routine, name), "rational", entry(*lines), args, outs, decision=decision)


def main():
    for t, sizes in (("f32", [6, 6]), ("f64", [5, 7]), ("c64", [2, 4, 4]), ("c128", [5, 3])):
        a = Random(len(sizes) + sizes[0]).array(t, sizes, 2)
        call("%s_drawn" % t, "getrf", [a], getrf(a))
    # 1 + 2^-24 + 2^-60 and 1 + 2^-53 + 2^-170: halves but for a term that sums of doubles,
    # or pairs of them, lose.
    for t, half, rest in (("f32", (-12, -12), (-30, -30)), ("f64", (-26, -27), (-85, -85))):
        a = Array(t, [3, 3],
                  [1.0, 0.0, 2.0**half[1], 0.0, 1.0, 2.0**rest[1], -2.0**half[0], -2.0**rest[0], 1.0])
        out = getrf(a)
        assert out[0][2, 2] == 1 + (2.0**-23 if t == "f32" else 2.0**-52)
        call("%s_ties" % t, "getrf", [a], out)
    # Products beyond the range in which doubles can be split, and below it.
    wide = Array("f64", [3, 3], [2.0**-540, 3.0 * 2.0**1000, 2.0**-530, 2.0**-538, 2.0**1010, 5.0 * 2.0**-560,
                                 2.0**-539, 2.0**1009, 2.0**-1060])
    call("f64_wide", "getrf", [wide], getrf(wide))
    singular = Array("c128", [3, 3],
                     [(1.0, 1.0), (2.0, 0.0), (0.0, 3.0)] * 2 + [(2.0, 0.0), (2.0, -2.0), (1.0, 1.0)])
    call("c128_singular", "getrf", [singular], getrf(singular))
    for t in ("f32", "f64", "c64", "c128"):
        r = Random(40 + len(t))
        args = [r.array(t, [6], 2), r.array(t, [6], 2), r.array(t, [6], 2), r.array(t, [6, 2], 2)]
        call("%s_drawn" % t, "gtsv", args, gtsv(*args))
    zero = [Array("f64", [4], v) for v in ([0.0, 1.0, 0.0, 3.0], [1.0, 2.0, 0.0, 1.0], [2.0, 1.0, 5.0, 0.0])]
    args = zero + [Array("f64", [4, 1], [1.0, 2.0, 3.0, 4.0])]
    call("f64_singular", "gtsv", args, gtsv(*args))
