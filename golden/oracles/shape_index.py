"""golden/shape: gather and scatter. Written by shape.py."""
import itertools
import math

import numpy as np

from shape_base import NANS, add_f, arr, binary_f, golden, one, program, random, refuse, rng, second


# For batching dimensions of sizes 3 and 2, into a dimension of size 4; some are outside.
INDICES_OF_TWO = arr(
    "s32", [[[0, 3, 5, 1], [2, 4, -1, 3]], [[3, 0, 2, 2], [1, -1, 4, 0]], [[2, 1, -1, 5], [0, 2, 4, 1]]])


# --- gather.cc ---

def ints(values):
    return "{" + ",".join(map(str, values)) + "}"


def gather_attributes(offset, collapsed, start_map, v, sizes, batching=None):
    text = f"offset_dims={ints(offset)}, collapsed_slice_dims={ints(collapsed)}, start_index_map={ints(start_map)}, "
    if batching:
        text += f"operand_batching_dims={ints(batching[0])}, start_indices_batching_dims={ints(batching[1])}, "
    return text + f"index_vector_dim={v}, slice_sizes={ints(sizes)}"


def gather_cases():
    m = np.arange(1, 13, dtype=np.int32).reshape(3, 4)
    rows = gather_attributes([1], [0], [0], 1, [1, 4])
    one("gather_spec_rows", "s32[2,4]", "gather", [m, arr("s32", [[2], [7]])], rows,
        outs=[arr("s32", [[9, 10, 11, 12]] * 2)], oracle="spec", decision="gather-oob-clamp")
    one("gather_spec_windows", "s32[2,2,2]", "gather", [m, arr("s32", [[0, 1], [-5, 3]])],
        gather_attributes([1, 2], [], [0, 1], 1, [2, 2]),
        outs=[arr("s32", [[[2, 3], [6, 7]], [[3, 4], [7, 8]]])], oracle="spec")
    one("gather_spec_batching", "s32[2,3]", "gather",
        [np.arange(1, 9, dtype=np.int32).reshape(2, 4), arr("s32", [[0, 3, 9], [1, 1, -4]])],
        gather_attributes([], [1], [1], 2, [1, 1], ([0], [0])), outs=[arr("s32", [[1, 4, 4], [6, 6, 5]])],
        oracle="spec")
    one("gather_batching_two", "s32[3,2,4]", "gather",
        [np.arange(24, dtype=np.int32).reshape(4, 2, 3), INDICES_OF_TWO],
        gather_attributes([], [0], [0], 3, [1, 1, 1], ([1, 2], [1, 0])))
    x = random("f32", (16, 11))
    i = arr("s64", rng.integers(-2, 18, (3, 2, 1)))
    one("gather_nd", "f32[3,2,11]", "gather", [x, i], gather_attributes([2], [0], [0], 2, [1, 11]))
    one("gather_u64_high", "s32[2,4]", "gather", [m, arr("u64", [[2**63 + 1], [1]])], rows, outs=[m[[2, 1]]],
        remark="an index above 2^63 clamps high")
    one("gather_nan_payload", "f32[3]", "gather", [NANS, arr("s32", [[2], [0], [1]])],
        gather_attributes([], [0], [0], 1, [1]), outs=[NANS[[2, 0, 1]]])
    one("gather_vector_dim_implicit", "s32[2,4]", "gather", [m, arr("s32", [2, 0])], rows)
    one("gather_vector_dim_first", "s32[3]", "gather", [m, arr("s32", [[0, 1, 2], [3, 1, 0]])],
        gather_attributes([], [0, 1], [0, 1], 0, [1, 1]))
    one("gather_one_vector", "s32[2,2]", "gather", [m, arr("s32", [1, 1])],
        gather_attributes([0, 1], [], [0, 1], 0, [2, 2]))
    one("gather_offset_first", "s32[4,2]", "gather", [m, arr("s32", [[2], [0]])],
        gather_attributes([0], [0], [0], 1, [1, 4]))
    one("gather_collapsed_two", "bf16[2,2,3,4,2]", "gather",
        [random("bf16", (2, 3, 2, 4, 4, 2)), arr("s8", rng.integers(-1, 5, (2, 3)))],
        gather_attributes([1, 2, 3, 4], [0, 2], [0, 1, 3], 1, [1, 2, 1, 3, 4, 2]))
    one("gather_zero_indices", "f32[0,4]", "gather",
        [arr("f32", np.ones((3, 4))), arr("s32", np.zeros((0, 1)))], rows, outs=["f32[0,4] {}"])
    one("gather_zero_slice", "f32[2,0]", "gather", [arr("f32", np.ones((3, 4))), arr("s32", [[1], [2]])],
        gather_attributes([1], [0], [0], 1, [1, 0]), outs=["f32[2,0] {{},{}}"])
    one("gather_empty_operand", "f32[2]", "gather", [arr("f32", []), arr("s32", [[1], [2]])],
        gather_attributes([], [0], [0], 1, [0]),
        outs=[arr("f32", [0, 0])], remark="a collapsed slice of size 0 gives zeros")
    for n, t in enumerate(["pred", "u8", "bf16", "f64", "c64", "c128", "s16", "u32"]):
        random_gather(n, t)
    golden("gather_dynamic_operand", program("s32[2,<=4]", "gather", ["s32[3,<=4]", "s32[2,1]"], rows),
           ["s32[3,2] {{1,2},{3,4},{5,6}}", arr("s32", [[2], [0]])],
           ["s32[2,2] {{5,6},{1,2}}"], remark="a slice of a whole dynamic dimension has its run-time size")
    golden("gather_dynamic_clamp",
           program("s32[2]", "gather", ["s32[<=5]", "s32[2,1]"], gather_attributes([], [0], [0], 1, [1])),
           ["s32[3] {1,2,3}", arr("s32", [[4], [0]])], ["s32[2] {3,1}"], decision="gather-oob-clamp")
    golden("gather_dynamic_indices",
           program("s32[<=3]", "gather", ["s32[5]", "s32[<=3,1]"], gather_attributes([], [0], [0], 1, [1])),
           [arr("s32", [5, 6, 7, 8, 9]), "s32[2,1] {{4},{1}}"], ["s32[2] {9,6}"])

    def bad(name, label, operands, *a, result="f32[2,4]"):
        refuse(f"gather_{name}", label, result, "gather", operands, gather_attributes(*a))
    f, s = "f32[3,4]", "s32[2,1]"
    bad("c1", "Gather-C1", [f, "f32[2,1]"], [1], [0], [0], 1, [1, 4])
    bad("c2", "Gather-C2", [f, s], [1], [0], [0], 3, [1, 4])
    bad("c2_negative", "Gather-C2", [f, s], [1], [0], [0], -1, [1, 4])
    bad("c3_count", "Gather-C3", [f, s], [1], [0], [0], 1, [1])
    bad("c3_size", "Gather-C3", [f, s], [1], [0], [0], 1, [1, 5])
    bad("c3_negative", "Gather-C3", [f, s], [1], [0], [0], 1, [1, -1])
    bad("c4_count", "Gather-C4: start_index_map has 2 entries, index vector has 1", [f, s], [1], [0], [0, 1],
        1, [1, 4])
    bad("c4_range", "Gather-C4", [f, s], [1], [0], [2], 1, [1, 4])
    bad("c4_twice", "Gather-C4", [f, "s32[2,2]"], [1], [0], [0, 0], 1, [1, 4])
    bad("c5_range", "Gather-C5", [f, s], [2], [0], [0], 1, [1, 4])
    bad("c5_order", "Gather-C5", [f, s], [1, 0], [], [0], 1, [1, 4])
    bad("c6_size", "Gather-C6", [f, s], [1], [0], [0], 1, [2, 4])
    bad("c6_range", "Gather-C6", [f, s], [1], [2], [0], 1, [1, 4])
    bad("c6_order", "Gather-C6", [f, "s32[2,2]"], [], [1, 0], [0, 1], 1, [1, 1])
    bad("c7_size", "Gather-C7", ["f32[2,4]", s], [], [1], [1], 1, [2, 1], ([0], [0]))
    bad("c7_range", "Gather-C7", ["f32[2,4]", s], [], [1], [1], 1, [1, 1], ([2], [0]))
    bad("c8_vector", "Gather-C8", ["f32[2,4]", s], [], [1], [1], 1, [1, 1], ([0], [1]))
    bad("c8_count", "Gather-C8", ["f32[2,4]", s], [], [1], [1], 1, [1, 1], ([0], []))
    bad("c8_range", "Gather-C8", ["f32[2,4]", s], [], [1], [1], 1, [1, 1], ([0], [2]))
    bad("c8_twice", "Gather-C8", ["f32[2,2,4]", s], [], [2], [2], 1, [1, 1, 1], ([0, 1], [0, 0]))
    bad("c9", "Gather-C9", ["f32[3,4]", s], [], [1], [1], 1, [1, 1], ([0], [0]))
    bad("c10_collapsed", "Gather-C10", ["f32[2,4]", s], [], [0], [1], 1, [1, 1], ([0], [0]))
    bad("c10_map", "Gather-C10", ["f32[2,4]", s], [], [1], [0], 1, [1, 1], ([0], [0]))
    bad("c11", "Gather-C11", [f, s], [1], [], [0], 1, [1, 4])


def random_gather(n, t):
    """Operand dimensions get random roles; the indices' vector dimension a random place."""
    rank = int(rng.integers(1, 4))
    sizes = rng.integers(1, 5, rank)
    batching_count = int(rng.integers(0, min(rank, 2)))
    roles = rng.permutation(rank)
    batching = sorted(int(d) for d in roles[:batching_count])
    rest = [d for d in range(rank) if d not in batching]
    collapsed = [d for d in rest if rng.integers(0, 2)]
    start_map = [int(d) for d in rng.permutation(rest)[:int(rng.integers(1, len(rest) + 1))]]
    slices = [1 if d in collapsed or d in batching else int(rng.integers(1, sizes[d] + 1))
              for d in range(rank)]
    b = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))]
    places = list(range(len(b), len(b) + batching_count))
    b += [int(sizes[d]) for d in batching]
    v = int(rng.integers(0, len(b) + 1))
    idx_shape = b[:v] + [len(start_map)] + b[v:]
    places = [p if p < v else p + 1 for p in places]
    kept = [slices[d] for d in range(rank) if d not in collapsed and d not in batching]
    out_rank = len(b) + len(kept)
    offset = sorted(int(d) for d in rng.permutation(out_rank)[:len(kept)])
    ib, ik = iter(b), iter(kept)
    out = [next(ik) if d in offset else next(ib) for d in range(out_rank)]
    index_type = ["s32", "s64", "u8", "s8"][n % 4]
    low = 0 if index_type[0] == "u" else -3
    idx = arr(index_type, rng.integers(low, 7, idx_shape))
    one(f"gather_random{n}_{t}", f"{t}[{','.join(map(str, out))}]", "gather", [random(t, tuple(sizes)), idx],
        gather_attributes(offset, collapsed, start_map, v, slices, (batching, places) if batching else None))


# --- scatter.cc ---

def scatter_attributes(window, inserted, to_operand, v, f, batching=None, extra=""):
    text = f"update_window_dims={ints(window)}, inserted_window_dims={ints(inserted)}, "
    text += f"scatter_dims_to_operand_dims={ints(to_operand)}, "
    if batching:
        text += f"input_batching_dims={ints(batching[0])}, scatter_indices_batching_dims={ints(batching[1])}, "
    return text + f"index_vector_dim={v}, to_apply={f}" + extra


def exact_scatter_add(x, rows, updates):
    """Row scatter, exact: sums of fractions rounded once to f32."""
    from fractions import Fraction
    out = x.copy()
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            terms = [x[r, c]] + [updates[i, c] for i in range(len(rows)) if rows[i] == r]
            total = sum((Fraction(float(v)) for v in terms), Fraction(0))
            out[r, c] = round_f32(total)
    return out


def round_f32(q):
    """Fraction to f32, ties to even (normal range)."""
    if q == 0:
        return np.float32(0)
    sign, q = (-1, -q) if q < 0 else (1, q)
    e = 0
    while q >= 2**24:
        q /= 2
        e += 1
    while q < 2**23:
        q *= 2
        e -= 1
    n, rest = divmod(q.numerator, q.denominator)
    twice = 2 * rest
    if twice > q.denominator or (twice == q.denominator and n % 2):
        n += 1
    return np.float32(sign * math.ldexp(n, e))


def scatter_cases():
    z = np.zeros((3, 4), np.float32)
    rows = scatter_attributes([1], [0], [0], 1, "add_f")
    out = z.copy()
    out[2] = [6, 8, 10, 12]
    one("scatter_spec_rows", "f32[3,4]", "scatter",
        [z, arr("s32", [[2], [2], [5]]), np.arange(1, 13, dtype=np.float32).reshape(3, 4)],
        rows, outs=[out], oracle="spec", computations=add_f("f32"), decision="scatter-window-drop")
    one("scatter_spec_windows", "f32[5]", "scatter",
        [arr("f32", np.zeros(5)), arr("s32", [[0], [4], [-1]]), arr("f32", [[1, 2], [3, 4], [5, 6]])],
        scatter_attributes([1], [], [0], 1, "add_f"), outs=[arr("f32", [1, 2, 0, 0, 0])], oracle="spec",
        computations=add_f("f32"), decision="scatter-window-drop")
    op, idx = np.zeros((2, 3, 4, 2), np.int32), arr("s64", rng.integers(-1, 4, (2, 2, 3, 2)))
    upd = random("s32", (2, 2, 3, 1, 2)) // 1000
    figure = scatter_attributes([3, 4], [1], [2, 1], 3, "add_f", ([0], [1]))
    out = op.copy()
    for a, b, c in itertools.product(range(2), range(2), range(3)):
        s0, s1 = idx[a, b, c]
        if 0 <= s0 < 4 and 0 <= s1 < 3:
            out[b, s1, s0] += upd[a, b, c, 0]
    one("scatter_spec_batching", "s32[2,3,4,2]", "scatter", [op, idx, upd], figure, outs=[out],
        computations=add_f("s32"))
    one("scatter_batching_two", "s32[4,2,3]", "scatter",
        [np.arange(24, dtype=np.int32).reshape(4, 2, 3), INDICES_OF_TWO,
         100 * np.arange(1, 25, dtype=np.int32).reshape(3, 2, 4)],
        scatter_attributes([], [0], [0], 3, "add_f", ([1, 2], [1, 0])), computations=add_f("s32"))
    one("scatter_window_2d", "s32[5,6]", "scatter",
        [np.arange(30, dtype=np.int32).reshape(5, 6), arr("s32", [[0, 1], [2, 3], [2, 4], [3, 0], [1, 2]]),
         100 * np.arange(1, 31, dtype=np.int32).reshape(5, 2, 3)],
        scatter_attributes([1, 2], [], [0, 1], 1, "add_f"), computations=add_f("s32"),
        remark="the third window is not inside")
    one("scatter_exact_sum", "f32[2,1]", "scatter",
        [arr("f32", [[1e30], [1]]), arr("s32", [[0], [1], [0], [1], [0]]),
                                                      arr("f32",
                                                          [[1], [2**-24], [-1e30], [2**-50], [2**-30]])],
        rows, outs=[arr("f32", [[1], [np.float32(1) + np.float32(2**-23)]])], computations=add_f("f32"),
        remark="1e30 + 1 - 1e30 + 2^-30 = 1; 1 + 2^-24 + 2^-50 is above the midpoint",
        decision="scatter-exact-sum")
    x, i = random("f32", (4, 3)), rng.integers(0, 4, 20)
    u = (random("f32", (20, 3)) * 10.0 ** rng.integers(-6, 7, (20, 3))).astype(np.float32)
    one("scatter_exact_random", "f32[4,3]", "scatter", [x, arr("s32", i[:, None]), u], rows,
        outs=[exact_scatter_add(x, i, u)],
        oracle="rational", computations=add_f("f32"), decision="scatter-exact-sum")
    inf = np.inf
    one("scatter_add_specials", "f32[5,1]", "scatter",
        [arr("f32", [[inf], [1], [-0.0], [-0.0], [3e38]]), arr("s32", [[0], [1], [2], [3], [4], [4]]),
                                                         arr("f32", [[-inf], [inf], [-0.0], [0.0], [3e38],
                                                                     [-3e38]])],
        rows, outs=[arr("f32", [[np.nan], [inf], [-0.0], [0.0], [3e38]])], computations=add_f("f32"))
    one("scatter_add_c64", "c64[2,1]", "scatter", [arr("c64", [[1 + 1j], [0]]), arr("s32", [[0], [0], [1]]),
                                                   arr("c64", [[1e30 + 1j], [-1e30 + 2j], [2 - 3j]])],
        rows, outs=[arr("c64", [[1 + 4j], [2 - 3j]])], computations=add_f("c64"),
        decision="scatter-exact-sum")
    one("scatter_add_overlap", "f64[6]", "scatter", [arr("f64", [1, 2, 3, 4, 5, 6]), arr("s32", [
        [0], [1], [3], [2]]), arr("f64", [[1, 2, 4], [8, 16, 32], [64, 128, 256], [512, 1024, 2048]])],
        scatter_attributes([1], [], [0], 1, "add_f"), outs=[arr("f64", [2, 12, 535, 1124, 2181, 262])],
        computations=add_f("f64"), remark="windows of extent 3 that overlap")
    one("scatter_replace_last", "s32[3]", "scatter",
        [arr("s32", [1, 2, 3]), arr("s32", [[1], [1], [0]]), arr("s32", [7, 8, 9])],
        scatter_attributes([], [0], [0], 1, "second"), outs=[arr("s32", [9, 8, 3])],
        computations=second("s32"), decision="scatter-order")
    one("scatter_replace_nan", "f32[6]", "scatter",
        [np.zeros(6, np.float32), arr("s32", [[0], [1], [2], [3], [4], [5]]), NANS],
        scatter_attributes([], [0], [0], 1, "second"), outs=[NANS], computations=second("f32"))
    one("scatter_replace_overlap", "s32[4]", "scatter",
        [arr("s32", [0, 0, 0, 0]), arr("s32", [[0], [1]]), arr("s32", [[1, 3], [2, 4], [5, 6]])],
        scatter_attributes([0], [], [0], 1, "second"), outs=[arr("s32", [1, 2, 5, 6])],
        computations=second("s32"),
        decision="scatter-order", remark="windows first in the updates: order (0,0) (0,1) (1,0) (1,1) (2,0) (2,1), the last one wins")
    one("scatter_subtract", "s32[2]", "scatter",
        [arr("s32", [10, 20]), arr("s32", [[1], [1], [0]]), arr("s32", [1, 2, 3])],
        scatter_attributes([], [0], [0], 1, "subtract_f"), outs=[arr("s32", [7, 17])],
        computations=binary_f("subtract", "s32"))
    one("scatter_order_matters", "f32[1]", "scatter",
        [arr("f32", [1]), arr("s32", [[0], [0], [0]]), arr("f32", [2, 3, 4])],
        scatter_attributes([], [0], [0], 1, "f"), outs=[arr("f32", [26])], decision="scatter-order",
        computations="f { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  two = f32[] constant(2)\n  m = f32[] multiply(a, two)\n  ROOT s = f32[] add(m, b) }",
        remark="((1*2 + 2)*2 + 3)*2 + 4")
    one("scatter_empty_updates", "f32[2]", "scatter",
        [arr("f32", [1, 2]), arr("s32", np.zeros((0, 1))), arr("f32", [])],
        scatter_attributes([], [0], [0], 1, "add_f"), outs=[arr("f32", [1, 2])], computations=add_f("f32"))
    one("scatter_u64_high", "f32[2]", "scatter",
        [arr("f32", [1, 2]), arr("u64", [[2**63], [1]]), arr("f32", [5, 6])],
        scatter_attributes([], [0], [0], 1, "add_f"), outs=[arr("f32", [1, 8])], computations=add_f("f32"))
    one("scatter_unique_violated", "s32[1]", "scatter",
        [arr("s32", [0]), arr("s32", [[0], [0]]), arr("s32", [1, 2])],
        scatter_attributes([], [0], [0], 1, "add_f", extra=", indices_are_sorted=true, unique_indices=true"),
        outs=[arr("s32", [3])], computations=add_f("s32"))
    both = """f {
  a = s32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = f32[] parameter(3)
  s = s32[] add(a, c)
  ROOT t = (s32[], f32[]) tuple(s, d)
}"""
    one("scatter_variadic", "(s32[3], f32[3])", "scatter",
        [arr("s32", [1, 2, 3]), arr("f32", [1, 2, 3]), arr("s32", [[1], [1], [9], [2]]),
         arr("s32", [10, 20, 30, 40]), arr("f32", [5, 6, 7, 8])],
        scatter_attributes([], [0], [0], 1, "f"), outs=[arr("s32", [1, 32, 43]), arr("f32", [1, 6, 8])],
        computations=both)
    golden("scatter_shared", "HloModule m\n" + add_f("f32") + """
ENTRY main {
  x = f32[2] parameter(0)
  i = s32[1,1] constant({{1}})
  u = f32[1] constant({9})
  y = f32[2] scatter(x, i, u), """ + scatter_attributes([], [0], [0], 1, "add_f") + """
  ROOT t = (f32[2], f32[2]) tuple(x, y)
}""", [arr("f32", [1, 2])], [arr("f32", [1, 2]), arr("f32", [1, 11])])
    golden("scatter_dynamic", program("f32[<=4]", "scatter", ["f32[<=4]", "s32[3,1]", "f32[3]"],
                                      scatter_attributes([], [0], [0], 1, "add_f"), add_f("f32")),
           ["f32[2] {1,2}", arr("s32", [[0], [2], [1]]), arr("f32", [10, 20, 30])], ["f32[2] {11,32}"],
           remark="index 2 is beyond the run-time size")
    for n, t in enumerate(["s32", "u8", "s64", "pred", "u16", "s32"]):
        random_scatter(n, t)

    def bad(name, label, operands, *a, f=add_f("f32"), result="f32[3,4]", **kw):
        refuse(f"scatter_{name}", label, result, "scatter", operands, scatter_attributes(*a, "add_f", **kw),
               f)
    x, i, u = "f32[3,4]", "s32[2,1]", "f32[2,4]"
    w = ([1], [0], [0], 1)
    bad("c1", "Scatter-C1", [x, i, u, u], *w)
    bad("c2_operands", "Scatter-C2", [x, "f32[3,5]", i, u, u], *w, result="(f32[3,4], f32[3,5])")
    bad("c2_updates", "Scatter-C2", [x, x, i, u, "f32[2,3]"], *w, result="(f32[3,4], f32[3,4])")
    bad("c3", "Scatter-C3", [x, "f32[2,1]", u], *w)
    bad("c4", "Scatter-C4", [x, i, u], [1], [0], [0], 3)
    bad("c5", "Scatter-C5", [x, i, "f32[2,4,1]"], *w)
    bad("c6_range", "Scatter-C6", [x, i, u], [2], [0], [0], 1)
    bad("c6_order", "Scatter-C6", [x, "s32[1]", "f32[3,4]"], [1, 0], [], [0], 0)
    bad("c7_range", "Scatter-C7", [x, i, u], [1], [2], [0], 1)
    bad("c8_range", "Scatter-C8", ["f32[2,4]", i, "f32[2]"], [], [1], [1], 1, batching=([2], [0]),
        result="f32[2,4]")
    bad("c8_inserted", "Scatter-C8", ["f32[2,4]", i, "f32[2]"], [], [0], [1], 1, batching=([0], [0]),
        result="f32[2,4]")
    bad("c9_vector", "Scatter-C9", ["f32[2,4]", i, "f32[2]"], [], [1], [1], 1, batching=([0], [1]),
        result="f32[2,4]")
    bad("c9_count", "Scatter-C9", ["f32[2,4]", i, "f32[2]"], [], [1], [1], 1, batching=([0], []),
        result="f32[2,4]")
    bad("c9_size", "Scatter-C9", ["f32[3,4]", i, "f32[2]"], [], [1], [1], 1, batching=([0], [0]))
    bad("c10", "Scatter-C10", [x, i, u], [1], [], [0], 1)
    bad("c11_count", "Scatter-C11", [x, i, u], [1], [0], [0, 1], 1)
    bad("c11_range", "Scatter-C11", [x, i, u], [1], [0], [2], 1)
    bad("c11_twice", "Scatter-C11", [x, "s32[2,2]", u], [1], [0], [0, 0], 1)
    bad("c11_batching", "Scatter-C11", ["f32[2,4]", i, "f32[2]"], [], [1], [0], 1, batching=([0], [0]),
        result="f32[2,4]")
    bad("c12", "Scatter-C12", [x, i, "f32[2,5]"], *w)
    bad("c13", "Scatter-C13", [x, i, "f32[3,4]"], *w)
    bad("c14_count", "Scatter-C14", [x, i, u], *w,
        f="add_f { a = f32[] parameter(0)\n  ROOT s = f32[] negate(a) }")
    bad("c14_type", "Scatter-C14", [x, i, u], *w, f=add_f("s32"))
    bad("c14_rank", "Scatter-C14", [x, i, u], *w, f="add_f { a = f32[1] parameter(0)\n  b = f32[1] parameter(1)\n  ROOT s = f32[1] add(a, b) }")


def random_scatter(n, t):
    """As random_gather; integer add, or for odd n maximum, whose order does not show."""
    rank = int(rng.integers(1, 4))
    sizes = rng.integers(2, 5, rank)
    batching_count = int(rng.integers(0, min(rank, 2)))
    batching = sorted(int(d) for d in rng.permutation(rank)[:batching_count])
    rest = [d for d in range(rank) if d not in batching]
    inserted = [d for d in rest if rng.integers(0, 2)]
    to_operand = [int(d) for d in rng.permutation(rest)[:int(rng.integers(1, len(rest) + 1))]]
    window = [int(rng.integers(1, sizes[d] + 1)) for d in rest if d not in inserted]
    b = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(1, 3)))]
    places = list(range(len(b), len(b) + batching_count))
    b += [int(sizes[d]) for d in batching]
    v = int(rng.integers(0, len(b) + 1))
    idx_shape = b[:v] + [len(to_operand)] + b[v:]
    places = [p if p < v else p + 1 for p in places]
    rank_u = len(b) + len(window)
    window_dims = sorted(int(d) for d in rng.permutation(rank_u)[:len(window)])
    ib, iw = iter(b), iter(window)
    u_shape = [next(iw) if d in window_dims else next(ib) for d in range(rank_u)]
    op = "or" if t == "pred" else "maximum" if n % 2 else "add"
    one(f"scatter_random{n}_{t}", f"{t}[{','.join(map(str, sizes))}]", "scatter",
        [random(t, tuple(sizes)), arr("s32", rng.integers(-1, 4, idx_shape)), random(t, tuple(u_shape))],
        scatter_attributes(window_dims, inserted, to_operand, v, f"{op}_f",
                           (batching, places) if batching else None),
        computations=binary_f(op, t))
