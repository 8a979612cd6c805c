"""Goldens of sort and topk, a part of shape.py."""
import numpy as np
from shape_base import NANS, add_f, arr, compare_f, golden, one, program, random, refuse, rng


def sort_cases():
    nan = np.nan
    one("sort_spec_variadic", "(s32[2], s32[2], f32[2])", "sort",
        [arr("s32", [3, 1]), arr("s32", [42, 50]), arr("f32", [-3, 1.1])],
        "dimensions={0}, to_apply=cmp",
        outs=[arr("s32", [1, 3]), arr("s32", [50, 42]), arr("f32", [1.1, -3])], oracle="spec",
        computations=compare_f(["s32", "s32", "f32"], "LT"))
    one("sort_spec_total_order", "f32[5]", "sort", [arr("f32", [nan, 1, -0.0, 0, -np.inf])],
        "dimensions={0}, to_apply=cmp",
        outs=[arr("f32", [-np.inf, -0.0, 0, 1, nan])], oracle="spec",
        computations=compare_f("f32", "LT", "TOTALORDER"))
    one("sort_gt", "s8[6]", "sort", [arr("s8", [3, -128, 127, 0, 3, -1])], "dimensions={0}, to_apply=cmp",
        outs=[arr("s8", [127, 3, 3, 0, -1, -128])], computations=compare_f("s8", "GT"))
    one("sort_stable", "(s32[7], s32[7])", "sort",
        [arr("s32", [2, 1, 2, 1, 3, 2, 1]), np.arange(7, dtype=np.int32)],
        "dimensions={0}, to_apply=cmp",
        outs=[arr("s32", [1, 1, 1, 2, 2, 2, 3]), arr("s32", [1, 3, 6, 0, 2, 5, 4])],
        computations=compare_f("s32", "LT", pairs=2))
    one("sort_zeros_stable", "f32[4]", "sort", [arr("f32", [0.0, -0.0, 0.0, -1])],
        "dimensions={0}, to_apply=cmp",
        outs=[arr("f32", [-1, 0.0, -0.0, 0.0])], computations=compare_f("f32", "LT"),
        remark="FLOAT: the zeros are equal and keep their order")

    def merge_sort(values, less):
        if len(values) < 2:
            return values
        left, right = merge_sort(values[:len(values) // 2], less), merge_sort(values[len(values) // 2:], less)
        out = []
        while left and right:
            out.append((right if less(right[0], left[0]) else left).pop(0))
        return out + left + right
    mess = [3, nan, 1, 2, nan, 0, 5, nan, 4, -1, 7, 6]
    one("sort_nan_not_an_order", "f32[12]", "sort", [arr("f32", mess)], "dimensions={0}, to_apply=cmp",
        outs=[arr("f32", merge_sort(mess, lambda a, b: a < b))], computations=compare_f("f32", "LT"),
        decision="sort-not-an-order")
    values = [5, 3, 9, 1, 7, 2, 8]
    one("sort_le", "(s32[7], s32[7])", "sort",
        [arr("s32", [1, 1, 2, 2, 1, 2, 1]), np.arange(7, dtype=np.int32)], "dimensions={0}, to_apply=cmp",
        outs=[np.array(x, np.int32) for x in zip(
            *merge_sort(list(zip([1, 1, 2, 2, 1, 2, 1], range(7))), lambda a, b: a[0] <= b[0]))],
        computations=compare_f("s32", "LE", pairs=2), decision="sort-not-an-order")
    zeros = [0.0, -0.0, 3.0, -0.0, 0.0, 0.0, -2.0]
    one("sort_le_zeros", "f32[7]", "sort", [arr("f32", zeros)], "dimensions={0}, to_apply=cmp",
        outs=[arr("f32", merge_sort(zeros, lambda a, b: a <= b))], computations=compare_f("f32", "LE"),
        decision="sort-not-an-order", remark="equal elements come out last one first, and keep their signs")
    always = "cmp { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT t = pred[] constant(true) }"
    one("sort_always_true", "s32[7]", "sort", [arr("s32", values)], "dimensions={0}, to_apply=cmp",
        outs=[arr("s32", merge_sort(values, lambda a, b: True))], computations=always,
        decision="sort-not-an-order")
    odd = """cmp {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  one = s32[] constant(1)
  x = s32[] and(a, one)
  y = s32[] and(b, one)
  lt = pred[] compare(a, b), direction=LT
  eq = pred[] compare(x, y), direction=EQ
  odd = pred[] compare(x, y), direction=LT
  ROOT r = pred[] select(eq, lt, odd)
}"""
    long = rng.integers(0, 1000, 100)
    one("sort_even_first", "s32[100]", "sort", [arr("s32", long)], "dimensions={0}, to_apply=cmp",
        outs=[arr("s32", sorted(long, key=lambda a: (a & 1, a)))], computations=odd)
    far = "cmp { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  d = s32[] subtract(a, b)\n  m = s32[] abs(d)\n  h = s32[] constant(300)\n  ROOT r = pred[] compare(m, h), direction=GT }"
    one("sort_far_first", "s32[100]", "sort", [arr("s32", long)], "dimensions={0}, to_apply=cmp",
        outs=[arr("s32", merge_sort(list(long), lambda a, b: abs(int(a) - int(b)) > 300))], computations=far,
        decision="sort-not-an-order")
    a = random("f32", (3, 5, 4))
    one("sort_middle_dimension", "f32[3,5,4]", "sort", [a], "dimensions={1}, is_stable=true, to_apply=cmp",
        computations=compare_f("f32", "LT"))
    one("sort_second_key", "(u8[2,6], bf16[2,6])", "sort", [random("u8", (2, 6)), random("bf16", (2, 6))],
        "dimensions={1}, to_apply=cmp", computations=compare_f(["u8", "bf16"], "GT", which=1))
    for t in ("s64", "u64", "f16", "f64"):
        one(f"sort_{t}", f"{t}[4,9]", "sort", [random(t, (4, 9))], "dimensions={1}, to_apply=cmp",
            computations=compare_f(t, "LT"))
    one("sort_zero_size", "f32[3,0]", "sort", [arr("f32", np.zeros((3, 0)))], "dimensions={1}, to_apply=cmp",
        outs=["f32[3,0] {{},{},{}}"], computations=compare_f("f32", "LT"))
    one("sort_zero_lines", "f32[0,3]", "sort", [arr("f32", np.zeros((0, 3)))], "dimensions={1}, to_apply=cmp",
        outs=["f32[0,3] {}"], computations=compare_f("f32", "LT"))
    golden("sort_dynamic",
           program("s32[<=5]", "sort", ["s32[<=5]"], "dimensions={0}, to_apply=cmp", compare_f("s32", "LT")),
           ["s32[3] {3,1,2}"], ["s32[3] {1,2,3}"], remark="only live elements are sorted")
    refuse("sort_c1", "operand", "f32[2]", "sort", [], "dimensions={0}, to_apply=cmp", compare_f("f32", "LT"))
    refuse("sort_c2", "Sort-C2", "(f32[2], f32[3])", "sort", ["f32[2]", "f32[3]"],
           "dimensions={0}, to_apply=cmp", compare_f("f32", "LT", pairs=2))
    refuse("sort_c3", "Sort-C3", "f32[2]", "sort", ["f32[2]"], "dimensions={1}, to_apply=cmp",
           compare_f("f32", "LT"))
    refuse("sort_c3_scalar", "Sort-C3", "f32[]", "sort", ["f32[]"], "dimensions={0}, to_apply=cmp",
           compare_f("f32", "LT"))
    refuse("sort_c4_count", "Sort-C4", "f32[2]", "sort", ["f32[2]"], "dimensions={0}, to_apply=cmp",
           compare_f("f32", "LT", pairs=2))
    refuse("sort_c4_type", "Sort-C4", "f32[2]", "sort", ["f32[2]"], "dimensions={0}, to_apply=cmp",
           compare_f("f64", "LT"))
    refuse("sort_c4_result", "Sort-C4", "f32[2]", "sort", ["f32[2]"], "dimensions={0}, to_apply=add_f",
           add_f("f32"))

    one("topk_spec_largest", "(f32[4], s32[4])", "topk", [arr("f32", [1, 5, nan, 5, -0.0, 3])],
        "k=4, largest=true", outs=[arr("f32", [nan, 5, 5, 3]), arr("s32", [2, 1, 3, 5])], oracle="spec")
    one("topk_spec_smallest", "(f32[4], s32[4])", "topk", [arr("f32", [1, 5, nan, 1, -0.0, 0])],
        "k=4, largest=false", outs=[arr("f32", [-0.0, 0, 1, 1]), arr("s32", [4, 5, 0, 3])], oracle="spec")
    for t in ("s8", "u64", "bf16", "f64", "pred"):
        a = random(t, (2, 3, 7))
        order = np.argsort(a.astype(np.float64) if t != "u64" else a, axis=-1, kind="stable")
        big = np.argsort(-a.astype(np.float64), axis=-1, kind="stable") if t != "u64" else np.argsort(
            np.uint64(2**64 - 1) - a, axis=-1, kind="stable")
        one(f"topk_{t}_smallest", f"({t}[2,3,3], s32[2,3,3])", "topk", [a], "k=3, largest=false",
            outs=[np.take_along_axis(a, order, -1)[..., :3], order[..., :3].astype(np.int32)])
        one(f"topk_{t}_largest", f"({t}[2,3,3], s32[2,3,3])", "topk", [a], "k=3",
            outs=[np.take_along_axis(a, big, -1)[..., :3], big[..., :3].astype(np.int32)])
    one("topk_nan_payload", "(f32[6], s32[6])", "topk", [NANS], "k=6, largest=false",
        outs=[NANS[[1, 5, 3, 4, 2, 0]], arr("s32", [1, 5, 3, 4, 2, 0])],
        remark="total order; payloads are kept")
    one("topk_zero", "(f32[2,0], s32[2,0])", "topk", [arr("f32", np.ones((2, 3)))], "k=0, largest=true",
        outs=["f32[2,0] {{},{}}", "s32[2,0] {{},{}}"])
    golden("topk_dynamic_rows", program("(s32[<=3,1], s32[<=3,1])", "topk", ["s32[<=3,2]"],
                                        "k=1, largest=true"), ["s32[2,2] {{1,2},{4,3}}"],
           ["s32[2,1] {{2},{4}}", "s32[2,1] {{1},{0}}"])
    refuse("topk_dynamic_few", "TopK-C2", "(s32[2], s32[2])", "topk", ["s32[<=3]"], "k=2, largest=true",
           code=5, args=[arr("s32", [1])])
    refuse("topk_c1", "TopK-C1", "(f32[], s32[])", "topk", ["f32[]"], "k=0")
    refuse("topk_c2", "TopK-C2", "(f32[4], s32[4])", "topk", ["f32[3]"], "k=4")
    refuse("topk_c2_negative", "TopK-C2", "(f32[0], s32[0])", "topk", ["f32[3]"], "k=-1")
    refuse("topk_c3", "TopK-C3", "(c64[1], s32[1])", "topk", ["c64[3]"], "k=1")
    refuse("topk_c4", "TopK-C4", "(s8[0,1], s32[0,1])", "topk", ["s8[0,3000000000]"], "k=1")


# --- dynamic.cc, iota.cc ---
