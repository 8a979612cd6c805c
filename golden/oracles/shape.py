#!/usr/bin/env python3
"""Writes golden/shape/*.hlo: ops that move elements.

Expected values come from the specification's worked examples (oracle: spec), from arithmetic done by hand or
by NumPy here (oracle: hand), or from XLA:CPU of jaxlib 0.10.2 run on the same text (oracle: jaxlib 0.10.2).
Usage: python golden/oracles/shape.py        (needs jax 0.10.2, numpy, ml_dtypes)
"""
import itertools

import numpy as np

import shape_left_out
import written
from shape_base import (
    NANS, SCRIPT, TYPES, add_f, arr, binary_f, compare_f, golden, one, program, random, refuse, shape_of)
from shape_index import gather_attributes, gather_cases, scatter_attributes, scatter_cases
from shape_sort import sort_cases


# --- layout.cc ---

def layout_cases():
    one("bitcast_spec_layout", "s32[3,2]{0,1}", "bitcast", [arr("s32", [[1, 2, 3], [4, 5, 6]])],
        outs=[arr("s32", [[1, 4], [2, 5], [3, 6]])], oracle="spec")
    one("bitcast_float_bits", "s32[2]", "bitcast", [arr("f32", [1.5, -0.0])],
        outs=[arr("f32", [1.5, -0.0]).view(np.int32)], oracle="spec")
    # f32[3,5]{1,0:T(2,2)}: 24 slots; read back untiled they lie tile by tile, padding zero.
    a = np.arange(1, 16, dtype=np.float32).reshape(3, 5)
    tiled = np.zeros((2, 3, 2, 2), np.float32)
    for y, x in itertools.product(range(3), range(5)):
        tiled[y // 2, x // 2, y % 2, x % 2] = a[y, x]
    golden("bitcast_tiles", program("f32[24]", "bitcast", ["f32[3,5]{1,0:T(2,2)}"]), [a],
           [tiled.reshape(24)], remark="slots of tiles that hold no element are zero (LAYOUT-4)")
    golden("bitcast_untile", program("f32[3,5]{1,0:T(2,2)}", "bitcast", ["f32[24]"]), [tiled.reshape(24)],
           [a])
    golden("bitcast_packed_s4", program("u8[4]", "bitcast", ["s4[7]{0:E(4)}"]),
           [arr("s4", [1, -1, 7, -8, 0, 2, 3])],
           [arr("u8", [0xF1, 0x87, 0x20, 0x03])], remark="lowest index in the lowest bits")
    golden("bitcast_unpack_s4", program("s4[7]{0:E(4)}", "bitcast", ["u8[4]"]),
           [arr("u8", [0xF1, 0x87, 0x20, 0x03])], [arr("s4", [1, -1, 7, -8, 0, 2, 3])])
    golden("bitcast_narrow", program("pred[4]", "bitcast", ["u8[4]"]), [arr("u8", [0, 1, 2, 255])],
           [arr("pred", [0, 1, 1, 1])], decision="bitcast-narrow")
    one("bitcast_zero_size", "f32[0,3]", "bitcast", [arr("f32", np.zeros((3, 0)))], outs=["f32[0,3] {}"])
    golden("bitcast_column_major", program("f32[6]", "bitcast", ["f32[2,3]{0,1}"]),
           [arr("f32", [[1, 2, 3], [4, 5, 6]])], [arr("f32", [1, 4, 2, 5, 3, 6])])
    refuse("bitcast_c1", "Bitcast-C1", "f32[2]", "bitcast", ["(f32[2])"])
    refuse("bitcast_c2", "Bitcast-C2", "f32[3]", "bitcast", ["f32[2]"])
    refuse("bitcast_c3", "Bitcast-C3", "f32[2]{0:S(5)}", "bitcast", ["f32[2]"])

    one("broadcast_spec_scalar", "f32[2,3]", "broadcast", [arr("f32", 2.0)], "dimensions={}",
        outs=[np.full((2, 3), 2, np.float32)], oracle="spec")
    one("broadcast_spec_rows", "s32[2,3]", "broadcast", [arr("s32", [7, 8])], "dimensions={0}",
        outs=[arr("s32", [[7, 7, 7], [8, 8, 8]])], oracle="spec")
    for t in ("pred", "u8", "bf16", "c64", "c128"):
        one(f"broadcast_{t}", f"{t}[3,2,4]", "broadcast", [random(t, (3, 4))], "dimensions={0,2}")
    one("broadcast_nan_payload", "f32[6,2]", "broadcast", [NANS], "dimensions={0}",
        outs=[np.stack([NANS, NANS], 1)])
    one("broadcast_zero_size", "s32[2,0]", "broadcast", [arr("s32", [5, 6])], "dimensions={0}",
        outs=["s32[2,0] {{},{}}"])
    one("broadcast_same", "s32[2,3]", "broadcast", [random("s32", (2, 3))], "dimensions={0,1}")
    refuse("broadcast_c1", "Broadcast-C1", "f32[2,2]", "broadcast", ["(f32[2])"], "dimensions={0}")
    refuse("broadcast_c3", "Broadcast-C3", "f32[2,2]", "broadcast", ["f32[2]"], "dimensions={}")
    refuse("broadcast_c4_range", "Broadcast-C4", "f32[2,2]", "broadcast", ["f32[2]"], "dimensions={2}")
    refuse("broadcast_c4_twice", "Broadcast-C4", "f32[2,2]", "broadcast", ["f32[2,2]"], "dimensions={1,1}")
    refuse("broadcast_c5", "Broadcast-C5", "f32[2,3]", "broadcast", ["f32[2]"], "dimensions={1}")
    refuse("broadcast_c6", "Broadcast-C6", "f64[2,3]", "broadcast", ["f32[2]"], "dimensions={0}")

    v = np.arange(24, dtype=np.int32).reshape(4, 2, 3)
    one("reshape_spec_24", "s32[24]", "reshape", [v], outs=[v.reshape(24)], oracle="spec")
    one("reshape_spec_8x3", "s32[8,3]", "reshape", [v], outs=[v.reshape(8, 3)], oracle="spec")
    one("reshape_spec_scalar", "s32[]", "reshape", [arr("s32", [[5]])], outs=[arr("s32", 5)], oracle="spec")
    one("reshape_nan_payload", "f32[2,3]", "reshape", [NANS], outs=[NANS.reshape(2, 3)])
    one("reshape_zero_size", "f32[5,0]", "reshape", [arr("f32", np.zeros((0, 3)))],
        outs=["f32[5,0] {{},{},{},{},{}}"])
    one("reshape_c128", "c128[3,2]", "reshape", [random("c128", (2, 3))])
    golden("reshape_layout_ignored", program("s32[6]", "reshape", ["s32[2,3]{0,1}"]),
           [arr("s32", [[1, 2, 3], [4, 5, 6]])], [arr("s32", [1, 2, 3, 4, 5, 6])])
    golden("reshape_dynamic_alone", program("s32[1,<=4,3,1]", "reshape", ["s32[<=4,1,3]"]),
           ["s32[2,1,3] {{{1,2,3}},{{4,5,6}}}"], ["s32[1,2,3,1] {{{{1},{2},{3}},{{4},{5},{6}}}}"])
    golden("reshape_dynamic_merged", program("s32[<=12]", "reshape", ["s32[<=4,3]"]),
           ["s32[2,3] {{1,2,3},{4,5,6}}"], ["s32[6] {1,2,3,4,5,6}"])
    golden("reshape_dynamic_split", program("s32[<=2,6]", "reshape", ["s32[<=4,3]"]),
           ["s32[2,3] {{1,2,3},{4,5,6}}"], ["s32[1,6] {{1,2,3,4,5,6}}"])
    golden("reshape_dynamic_inferred",
           program("s32[2,<=6]", "reshape", ["s32[<=4,3]"], "inferred_dimension=1"),
           ["s32[2,3] {{1,2,3},{4,5,6}}"], ["s32[2,3] {{1,2,3},{4,5,6}}"], decision="reshape-dynamic-split")
    refuse("reshape_c1", "Reshape-C1", "f32[2]", "reshape", ["(f32[2])"])
    refuse("reshape_c1_type", "Reshape-C1", "s32[2]", "reshape", ["f32[2]"])
    refuse("reshape_c2", "Reshape-C2", "f32[7]", "reshape", ["f32[2,3]"])

    one("transpose_spec", "s32[3,2]", "transpose", [arr("s32", [[0, 1, 2], [3, 4, 5]])], "dimensions={1,0}",
        outs=[arr("s32", [[0, 3], [1, 4], [2, 5]])], oracle="spec")
    for t, p in (("u8", (2, 0, 1)), ("bf16", (0, 2, 1)), ("f64", (2, 1, 0)), ("c128", (1, 2, 0)),
                 ("pred", (1, 0, 2))):
        a = random(t, (3, 4, 5))
        shape = [a.shape[i] for i in p]
        one(f"transpose_{t}", f"{t}[{','.join(map(str, shape))}]", "transpose", [a],
            f"dimensions={{{','.join(map(str, p))}}}")
    one("transpose_unit_dims", "s32[3,1,2]", "transpose", [random("s32", (1, 3, 2))], "dimensions={1,0,2}")
    one("transpose_nan_payload", "f32[3,2]", "transpose", [NANS.reshape(2, 3)], "dimensions={1,0}",
        outs=[NANS.reshape(2, 3).T])
    one("transpose_zero_size", "f32[0,3]", "transpose", [arr("f32", np.zeros((3, 0)))], "dimensions={1,0}",
        outs=["f32[0,3] {}"])
    golden("transpose_dynamic", program("s32[2,<=5]", "transpose", ["s32[<=5,2]"], "dimensions={1,0}"),
           ["s32[3,2] {{1,2},{3,4},{5,6}}"], ["s32[2,3] {{1,3,5},{2,4,6}}"])
    refuse("transpose_c1_count", "Transpose-C1", "f32[2,3]", "transpose", ["f32[2,3]"], "dimensions={0}")
    refuse("transpose_c1_twice", "Transpose-C1", "f32[2,2]", "transpose", ["f32[2,2]"], "dimensions={0,0}")
    refuse("transpose_c1_range", "Transpose-C1", "f32[2,2]", "transpose", ["f32[2,2]"], "dimensions={0,2}")

    one("reverse_spec", "s32[2,3]", "reverse", [arr("s32", [[0, 1, 2], [3, 4, 5]])], "dimensions={1}",
        outs=[arr("s32", [[2, 1, 0], [5, 4, 3]])], oracle="spec")
    for t, d in (("u16", (0, 2)), ("f32", (1,)), ("c64", (0, 1, 2)), ("pred", (2,)), ("s64", ())):
        one(f"reverse_{t}", f"{t}[2,3,4]", "reverse", [random(t, (2, 3, 4))],
            f"dimensions={{{','.join(map(str, d))}}}")
    one("reverse_nan_payload", "f32[6]", "reverse", [NANS], "dimensions={0}", outs=[NANS[::-1]])
    one("reverse_zero_size", "f32[0,3]", "reverse", [arr("f32", np.zeros((0, 3)))], "dimensions={0,1}",
        outs=["f32[0,3] {}"])
    golden("reverse_dynamic", program("s32[<=5]", "reverse", ["s32[<=5]"], "dimensions={0}"),
           ["s32[3] {1,2,3}"], ["s32[3] {3,2,1}"], remark="the live elements are reversed (DYN-3)")
    refuse("reverse_c1", "Rev-C1", "f32[2,2]", "reverse", ["f32[2,2]"], "dimensions={0,0}")
    refuse("reverse_c2", "Rev-C2", "f32[2,2]", "reverse", ["f32[2,2]"], "dimensions={2}")

    for t in ("pred", "s4", "f16", "c64"):
        one(f"copy_{t}", f"{t}[2,3]", "copy",
            [random(t, (2, 3)) if t != "s4" else arr("s4", [[1, -2, 3], [-8, 7, 0]])],
            outs=None if t != "s4" else [arr("s4", [[1, -2, 3], [-8, 7, 0]])])
    one("copy_nan_payload", "f32[6]", "copy", [NANS], outs=[NANS])
    one("copy_zero_size", "f32[0]", "copy", [arr("f32", [])], outs=["f32[0] {}"])
    golden("copy_layout", program("s32[2,3]{0,1}", "copy", ["s32[2,3]{1,0}"]),
           [arr("s32", [[1, 2, 3], [4, 5, 6]])], [arr("s32", [[1, 2, 3], [4, 5, 6]])])
    golden("copy_dynamic", program("s32[<=4]", "copy", ["s32[<=4]"]), ["s32[2] {7,8}"], ["s32[2] {7,8}"])


# --- slice.cc ---

def slice_cases():
    one("slice_spec", "s32[3]", "slice", [np.arange(7, dtype=np.int32)], "slice={[1:6:2]}",
        outs=[arr("s32", [1, 3, 5])], oracle="spec")
    for t, s in (("u8", "[0:4:3],[1:5:2]"), ("bf16", "[1:3],[2:4]"), ("f64", "[3:4],[0:6:5]"),
                 ("c128", "[0:4],[5:6]")):
        a = random(t, (4, 6))
        parts = [list(map(int, p.split(":"))) for p in s.replace("[", "").replace("]", "").split(",")]
        out = a[tuple(slice(*p) for p in parts)]
        one(f"slice_{t}", shape_of(out), "slice", [a], f"slice={{{s}}}")
    one("slice_empty", "f32[0,3]", "slice", [arr("f32", np.ones((2, 3)))], "slice={[2:2],[0:3]}",
        outs=["f32[0,3] {}"])
    one("slice_nan_payload", "f32[3]", "slice", [NANS], "slice={[0:6:2]}", outs=[NANS[::2]])
    one("slice_huge_stride", "s32[1]", "slice", [arr("s32", [1, 2, 3])], "slice={[1:3:9223372036854775807]}",
        outs=[arr("s32", [2])])
    golden("slice_dynamic", program("s32[<=3]", "slice", ["s32[<=7]"], "slice={[1:7:2]}"),
           ["s32[4] {10,11,12,13}"], ["s32[2] {11,13}"], remark="positions 1 and 3 are live")
    golden("slice_dynamic_none", program("s32[<=3]", "slice", ["s32[<=7]"], "slice={[4:7]}"),
           ["s32[3] {10,11,12}"], ["s32[0] {}"])
    golden("slice_dynamic_one", program("s32[1]", "slice", ["s32[<=7]"], "slice={[4:5]}"),
           ["s32[3] {10,11,12}"], ["s32[1] {0}"],
           remark="a result of size 1 is static; its dead element is zero")
    refuse("slice_c1", "Slice-C1", "f32[2]", "slice", ["f32[2,2]"], "slice={[0:2]}")
    refuse("slice_c2", "Slice-C2", "f32[2]", "slice", ["f32[3]"], "slice={[-1:1]}")
    refuse("slice_c3", "Slice-C3", "f32[4]", "slice", ["f32[3]"], "slice={[0:4]}")
    refuse("slice_c4", "Slice-C4", "f32[0]", "slice", ["f32[3]"], "slice={[2:1]}")
    refuse("slice_c5", "Slice-C5", "f32[1]", "slice", ["f32[3]"], "slice={[0:1:0]}")

    one("pad_spec_negative", "s32[6]", "pad", [arr("s32", [1, 2, 3, 4, 5]), arr("s32", -9)],
        "padding=-2_-1_1", outs=[arr("s32", [2, -9, 3, -9, 4, -9])], oracle="spec")
    rows = np.zeros((5, 7), np.int32)
    rows[0, [1, 3]] = [2, 3]
    rows[3, [1, 3]] = [5, 6]
    one("pad_spec_2d", "s32[5,7]", "pad", [arr("s32", [[1, 2, 3], [4, 5, 6]]), arr("s32", 0)],
        "padding=0_1_2x-1_3_1", outs=[rows], oracle="spec")
    for t, p, shape in (("u8", "1_2x0_0_2", (6, 7)), ("bf16", "-1_1x2_-3_1", (3, 4)),
                        ("f64", "0_0_3x-5_9", (9, 7)),
                        ("pred", "-2_1x1_1", (2, 5)), ("c64", "2_-4_1x-1_-1_2", (3, 5))):
        one(f"pad_{t}", f"{t}[{shape[0]},{shape[1]}]", "pad", [random(t, (3, 3)), random(t, ())],
            f"padding={p}")
    one("pad_nan_payload", "f32[8]", "pad", [NANS, NANS[1]], "padding=1_1",
        outs=[np.concatenate([NANS[1:2], NANS, NANS[1:2]])])
    one("pad_empty_operand", "s32[3]", "pad", [arr("s32", []), arr("s32", 7)], "padding=1_2_5",
        outs=[arr("s32", [7, 7, 7])])
    one("pad_to_empty", "s32[0]", "pad", [arr("s32", [1, 2]), arr("s32", 7)], "padding=-1_-1",
        outs=["s32[0] {}"])
    one("pad_huge_interior", "s32[1]", "pad", [arr("s32", [1, 2]), arr("s32", 7)],
        "padding=-2_-9223372036854775806_9223372036854775807",
        outs=[arr("s32", [7])], remark="2 + (2^63 - 1) - 2 - (2^63 - 2) = 1")
    golden("pad_dynamic", program("s32[<=9]", "pad", ["s32[<=4]", "s32[]"], "padding=1_1_1"),
           ["s32[2] {5,6}", arr("s32", 9)], ["s32[5] {9,5,9,6,9}"])
    golden("pad_dynamic_negative", program("s32[<=1]", "pad", ["s32[<=4]", "s32[]"], "padding=-3_0"),
           ["s32[2] {5,6}", arr("s32", 9)], ["s32[0] {}"], decision="pad-runtime-size")
    refuse("pad_c1", "Pad-C1", "f32[4]", "pad", ["(f32[2])", "f32[]"], "padding=1_1")
    refuse("pad_c2_type", "Pad-C2", "f32[4]", "pad", ["f32[2]", "f64[]"], "padding=1_1")
    refuse("pad_c2_rank", "Pad-C2", "f32[4]", "pad", ["f32[2]", "f32[1]"], "padding=1_1")
    refuse("pad_c3", "Pad-C3", "f32[4]", "pad", ["f32[2,2]", "f32[]"], "padding=1_1")
    refuse("pad_c5", "Pad-C5", "f32[0]", "pad", ["f32[2]", "f32[]"], "padding=-2_-1")
    refuse("pad_overflow", "SHAPE-3", "f32[0]", "pad", ["f32[4]", "f32[]"], "padding=0_0_9223372036854775807")

    one("concatenate_spec_rows", "s32[4,2]", "concatenate",
        [arr("s32", [[1, 2], [3, 4], [5, 6]]), arr("s32", [[7, 8]])],
        "dimensions={0}", outs=[arr("s32", [[1, 2], [3, 4], [5, 6], [7, 8]])], oracle="spec")
    one("concatenate_spec_three", "s32[6]", "concatenate",
        [arr("s32", [2, 3]), arr("s32", [4, 5]), arr("s32", [6, 7])],
        "dimensions={0}", outs=[arr("s32", [2, 3, 4, 5, 6, 7])], oracle="spec")
    for t in ("pred", "u8", "bf16", "f64", "c128"):
        one(f"concatenate_{t}", f"{t}[2,6,2]", "concatenate", [random(t, (2, n, 2)) for n in (3, 1, 2)],
            "dimensions={1}")
    one("concatenate_one", "s32[3]", "concatenate", [random("s32", (3,))], "dimensions={0}")
    one("concatenate_zero_size", "s32[2]", "concatenate",
        [arr("s32", []), arr("s32", [4, 5]), arr("s32", [])], "dimensions={0}",
        outs=[arr("s32", [4, 5])])
    one("concatenate_nan_payload", "f32[12]", "concatenate", [NANS, NANS], "dimensions={0}",
        outs=[np.concatenate([NANS, NANS])])
    golden("concatenate_dynamic",
           program("s32[<=9]", "concatenate", ["s32[<=4]", "s32[<=5]"], "dimensions={0}"),
           ["s32[2] {1,2}", "s32[3] {3,4,5}"], ["s32[5] {1,2,3,4,5}"], remark="the live parts are packed")
    refuse("concatenate_dyn4", "DYN-4", "s32[<=4,2]", "concatenate", ["s32[<=4,1]", "s32[<=4,1]"],
           "dimensions={1}", code=5, args=[arr("s32", [[1], [2]]), arr("s32", [[1], [2], [3]])])
    refuse("concatenate_c1", "operand", "f32[2]", "concatenate", [], "dimensions={0}")
    refuse("concatenate_c2_range", "ConcatInDim-C2", "f32[4]", "concatenate", ["f32[2]", "f32[2]"],
           "dimensions={1}")
    refuse("concatenate_c2_scalar", "ConcatInDim-C2", "f32[2]", "concatenate", ["f32[]", "f32[]"],
           "dimensions={0}")
    refuse("concatenate_c3", "ConcatInDim-C3", "f32[4]", "concatenate", ["f32[2]", "f32[2,1]"],
           "dimensions={0}")
    refuse("concatenate_c4", "ConcatInDim-C4", "f32[4]", "concatenate", ["f32[2]", "f64[2]"],
           "dimensions={0}")
    refuse("concatenate_c5", "ConcatInDim-C5", "f32[4,2]", "concatenate", ["f32[2,2]", "f32[2,3]"],
           "dimensions={0}")

    b = np.arange(12, dtype=np.int32).reshape(4, 3)
    one("dynamic-slice_spec_inside", "s32[2,2]", "dynamic-slice", [b, arr("s32", 2), arr("s32", 1)],
        "dynamic_slice_sizes={2,2}", outs=[arr("s32", [[7, 8], [10, 11]])], oracle="spec")
    one("dynamic-slice_spec_clamped", "s32[2,2]", "dynamic-slice", [b, arr("s32", 3), arr("s32", -7)],
        "dynamic_slice_sizes={2,2}",
        outs=[arr("s32", [[6, 7], [9, 10]])], oracle="spec", decision="dynamic-slice-clamp")
    one("dynamic-slice_u64_high", "f64[2]", "dynamic-slice", [arr("f64", [1, 2, 3]), arr("u64", 2**63 + 5)],
        "dynamic_slice_sizes={2}",
        outs=[arr("f64", [2, 3])], remark="a start above 2^63 is large, not negative")
    one("dynamic-slice_old_form", "s32[2,1]", "dynamic-slice", [b, arr("s64", [1, 9])],
        "dynamic_slice_sizes={2,1}", outs=[arr("s32", [[5], [8]])])
    one("dynamic-slice_rank0", "f32[]", "dynamic-slice", [arr("f32", 3)], "dynamic_slice_sizes={}",
        outs=[arr("f32", 3)])
    one("dynamic-slice_zero_size", "f32[0]", "dynamic-slice", [arr("f32", [1, 2]), arr("s8", 1)],
        "dynamic_slice_sizes={0}", outs=["f32[0] {}"])
    for t, i in (("pred", "u8"), ("bf16", "s8"), ("c64", "u16"), ("s64", "u32")):
        one(f"dynamic-slice_{t}_{i}", f"{t}[3,2]", "dynamic-slice",
            [random(t, (5, 4)), arr(i, 100), arr(i, 1)], "dynamic_slice_sizes={3,2}")
    golden("dynamic-slice_dynamic",
           program("s32[2]", "dynamic-slice", ["s32[<=5]", "s32[]"], "dynamic_slice_sizes={2}"),
           ["s32[3] {1,2,3}", arr("s32", 4)], ["s32[2] {2,3}"], decision="dynamic-slice-clamp")
    golden("dynamic-slice_dynamic_full",
           program("s32[<=5]", "dynamic-slice", ["s32[<=5]", "s32[]"], "dynamic_slice_sizes={5}"),
           ["s32[3] {1,2,3}", arr("s32", 2)], ["s32[3] {1,2,3}"])
    ds = "dynamic_slice_sizes="
    refuse("dynamic-slice_c1_count", "DynamicSlice-C1", "f32[1,1]", "dynamic-slice", ["f32[2,2]", "s32[]"],
           ds + "{1,1}")
    refuse("dynamic-slice_c1_type", "DynamicSlice-C1", "f32[1]", "dynamic-slice", ["f32[2]", "f32[]"],
           ds + "{1}")
    refuse("dynamic-slice_c1_mixed", "DynamicSlice-C1", "f32[1,1]", "dynamic-slice",
           ["f32[2,2]", "s32[]", "s64[]"], ds + "{1,1}")
    refuse("dynamic-slice_c1_vector", "DynamicSlice-C1", "f32[1,1]", "dynamic-slice", ["f32[2,2]", "s32[3]"],
           ds + "{1,1}")
    refuse("dynamic-slice_c2", "DynamicSlice-C2", "f32[1]", "dynamic-slice", ["f32[2]", "s32[]"],
           ds + "{1,1}")
    refuse("dynamic-slice_c3", "DynamicSlice-C3", "f32[3]", "dynamic-slice", ["f32[2]", "s32[]"], ds + "{3}")
    refuse("dynamic-slice_c3_negative", "DynamicSlice-C3", "f32[0]", "dynamic-slice", ["f32[2]", "s32[]"],
           ds + "{-1}")

    dus = "dynamic-update-slice"
    one(f"{dus}_spec", "s32[5]", dus, [arr("s32", [0, 1, 2, 3, 4]), arr("s32", [8, 9]), arr("s32", 4)],
        outs=[arr("s32", [0, 1, 2, 8, 9])], oracle="spec")
    for t, i in (("pred", "u8"), ("bf16", "s8"), ("c128", "s16"), ("f32", "u64")):
        one(f"{dus}_{t}_{i}", f"{t}[4,5]", dus,
            [random(t, (4, 5)), random(t, (2, 3)), arr(i, 1), arr(i, 100)])
    one(f"{dus}_empty", "s32[3]", dus, [arr("s32", [1, 2, 3]), arr("s32", []), arr("s32", 1)],
        outs=[arr("s32", [1, 2, 3])])
    one(f"{dus}_rank0", "s32[]", dus, [arr("s32", 1), arr("s32", 2)], outs=[arr("s32", 2)])
    one(f"{dus}_u64_high", "s32[3]", dus, [arr("s32", [1, 2, 3]), arr("s32", [9]), arr("u64", 2**64 - 1)],
        outs=[arr("s32", [1, 2, 9])])
    one(f"{dus}_nan_payload", "f32[6]", dus, [NANS, NANS[1:3], arr("s32", 0)],
        outs=[np.concatenate([NANS[1:3], NANS[2:]])])
    golden(f"{dus}_shared", """HloModule m
ENTRY main {
  x = s32[3] parameter(0)
  i = s32[] constant(1)
  u = s32[1] constant({9})
  y = s32[3] dynamic-update-slice(x, u, i)
  ROOT t = (s32[3], s32[3]) tuple(x, y)
}""", [arr("s32", [1, 2, 3])], [arr("s32", [1, 2, 3]), arr("s32", [1, 9, 3])],
           remark="the operand is used again: it must not change")
    golden(f"{dus}_dynamic", program("s32[<=6]", dus, ["s32[<=6]", "s32[2]", "s32[]"]),
           ["s32[4] {1,2,3,4}", arr("s32", [8, 9]), arr("s32", 5)],
           ["s32[4] {1,2,8,9}"], decision="dynamic-slice-clamp")
    golden(f"{dus}_dynamic_lost", program("s32[<=6]", dus, ["s32[<=6]", "s32[4]", "s32[]"]),
           ["s32[2] {1,2}", arr("s32", [6, 7, 8, 9]), arr("s32", 1)], ["s32[2] {6,7}"],
           remark="writes to dead positions are lost")
    refuse(f"{dus}_c1", "DynamicUpdateSlice-C1", "f32[2]", dus, ["f32[2]", "f32[1]"])
    refuse(f"{dus}_c1_type", "DynamicUpdateSlice-C1", "f32[2]", dus, ["f32[2]", "f32[1]", "pred[]"])
    refuse(f"{dus}_c2", "DynamicUpdateSlice-C2", "f32[2]", dus, ["f32[2]", "f32[1,1]", "s32[]"])
    refuse(f"{dus}_c3", "DynamicUpdateSlice-C3", "f32[2]", dus, ["f32[2]", "f64[1]", "s32[]"])
    refuse(f"{dus}_c4", "DynamicUpdateSlice-C4", "f32[2]", dus, ["f32[2]", "f32[3]", "s32[]"])


# --- sort.cc ---


def dynamic_cases():
    gds, sds, dr = "get-dimension-size", "set-dimension-size", "dynamic-reshape"
    one(f"{gds}_static", "s32[]", gds, [arr("f32", np.ones((2, 3)))], "dimensions={1}", outs=[arr("s32", 3)])
    golden(f"{gds}_dynamic", program("s32[]", gds, ["f32[<=7]"], "dimensions={0}"), ["f32[3] {1,2,3}"],
           [arr("s32", 3)])
    golden(f"{gds}_zero", program("s32[]", gds, ["f32[<=7,2]"], "dimensions={0}"), ["f32[0,2] {}"],
           [arr("s32", 0)])
    golden(f"{gds}_static_beside_dynamic", program("s32[]", gds, ["f32[<=7,2]"], "dimensions={1}"),
           ["f32[1,2] {{1,2}}"], [arr("s32", 2)])
    one(f"{gds}_pred", "s32[]", gds, [arr("pred", [True])], "dimensions={0}", outs=[arr("s32", 1)])
    refuse(f"{gds}_c1", "GetDimensionSize-C1", "s32[]", gds, ["(f32[2])"], "dimensions={0}")
    refuse(f"{gds}_c2", "GetDimensionSize-C2", "s32[]", gds, ["f32[2]"], "dimensions={1}")
    refuse(f"{gds}_c3", "GetDimensionSize-C3", "s32[]", gds, ["s8[2147483648,0]"], "dimensions={0}")
    for n, total, product in ((5, 15, 120), (6, 21, 720)):
        for op, init, value in (("add", 0, total), ("multiply", 1, product)):
            golden(f"{sds}_spec_{op}{n}", "HloModule m\n" + binary_f(op, "f32") + f"""
ENTRY main {{
  p0 = f32[10] parameter(0)
  p1 = s32[] parameter(1)
  d = f32[<=10] set-dimension-size(p0, p1), dimensions={{0}}
  i = f32[] constant({init})
  ROOT r = f32[] reduce(d, i), dimensions={{0}}, to_apply={op}_f
}}""", [np.arange(1, 11, dtype=np.float32), arr("s32", n)], [arr("f32", value)], oracle="spec")
    one(f"{sds}_cut", "s32[<=4,2]", sds, [arr("s32", [[1, 2], [3, 4], [5, 6], [7, 8]]), arr("s32", 3)],
        "dimensions={0}", outs=[arr("s32", [[1, 2], [3, 4], [5, 6]])])
    one(f"{sds}_zero", "f32[2,<=3]", sds, [arr("f32", np.ones((2, 3))), arr("s32", 0)], "dimensions={1}",
        outs=["f32[2,0] {{},{}}"])
    one(f"{sds}_full", "c64[<=2]", sds, [arr("c64", [1j, 2]), arr("s32", 2)], "dimensions={0}",
        outs=[arr("c64", [1j, 2])])
    golden(f"{sds}_regrow", """HloModule m
ENTRY main {
  p0 = s32[4] parameter(0)
  two = s32[] constant(2)
  four = s32[] constant(4)
  d = s32[<=4] set-dimension-size(p0, two), dimensions={0}
  ROOT r = s32[4] set-dimension-size(d, four), dimensions={0}
}""", [arr("s32", [1, 2, 3, 4])], [arr("s32", [1, 2, 0, 0])], decision="set-dimension-size-static",
           remark="dead elements that become live are zero")
    refuse(f"{sds}_c1", "SetDimensionSize-C1", "f32[<=2]", sds, ["(f32[2])", "s32[]"], "dimensions={0}")
    refuse(f"{sds}_c2", "SetDimensionSize-C2", "f32[<=2]", sds, ["f32[2]", "s32[]"], "dimensions={1}")
    refuse(f"{sds}_c3_type", "SetDimensionSize-C3", "f32[<=2]", sds, ["f32[2]", "s64[]"], "dimensions={0}")
    refuse(f"{sds}_c3_rank", "SetDimensionSize-C3", "f32[<=2]", sds, ["f32[2]", "s32[1]"], "dimensions={0}")
    refuse(f"{sds}_c4", "SetDimensionSize-C4", "s8[<=2147483648,0]", sds, ["s8[2147483648,0]", "s32[]"],
           "dimensions={0}")
    for n in (-1, 3):
        refuse(f"{sds}_c5_{'low' if n < 0 else 'high'}", "SetDimensionSize-C5", "f32[<=2]", sds,
               ["f32[2]", "s32[]"], "dimensions={0}", code=5, args=[arr("f32", [1, 2]), arr("s32", n)])
    refuse(f"{sds}_static_result", "static", "f32[2]", sds, ["f32[2]", "s32[]"], "dimensions={0}", code=5,
           args=[arr("f32", [1, 2]), arr("s32", 1)])

    def reshaped(name, result, operand, args, outs, **kw):
        sizes = ["s32[]"] * (len(args) - 1)
        golden(f"{dr}_{name}", program(result, dr, [operand] + sizes), args, outs, **kw)
    reshaped("spec", "s32[<=3,2]", "s32[<=6]", ["s32[4] {1,2,3,4}", arr("s32", 2), arr("s32", 2)],
             [arr("s32", [[1, 2], [3, 4]])], oracle="spec")
    reshaped("static", "s32[3,2]", "s32[6]", [np.arange(6, dtype=np.int32), arr("s32", 3), arr("s32", 2)],
             [np.arange(6, dtype=np.int32).reshape(3, 2)])
    reshaped("repack", "s32[<=3,<=4]", "s32[<=4,<=3]", ["s32[3,2] {{1,2},{3,4},{5,6}}", arr("s32", 2),
                                                        arr("s32", 3)], [arr("s32", [[1, 2, 3], [4, 5, 6]])],
             remark="both sides have dead elements inside")
    reshaped("empty", "f32[<=6]", "f32[<=2,3]", ["f32[0,3] {}", arr("s32", 0)], ["f32[0] {}"])
    reshaped("u8", "u8[<=2,2]", "u8[<=4]", ["u8[2] {8,9}", arr("s32", 1), arr("s32", 2)],
             [arr("u8", [[8, 9]])])
    refuse(f"{dr}_c1_count", "DynamicReshape-C1", "s32[<=3,2]", dr, ["s32[<=6]", "s32[]"])
    refuse(f"{dr}_c1_type", "DynamicReshape-C1", "s32[<=6]", dr, ["s32[<=6]", "s64[]"])
    refuse(f"{dr}_c1_element", "DynamicReshape-C1", "f32[<=6]", dr, ["s32[<=6]", "s32[]"])
    refuse(f"{dr}_c2", "DynamicReshape-C2", "s32[<=5]", dr, ["s32[<=6]", "s32[]"])
    for case, result, sizes in (("bound", "s32[<=3,2]", (4, 1)), ("static", "s32[<=3,2]", (4, 1)),
                                ("product", "s32[<=3,2]", (1, 2)), ("negative", "s32[<=3,<=2]", (-2, -2))):
        refuse(f"{dr}_c3_{case}", "DynamicReshape-C3", result, dr, ["s32[6]", "s32[]", "s32[]"], code=5,
               args=[np.arange(6, dtype=np.int32)] + [arr("s32", n) for n in sizes])

    golden("iota_spec_rows", program("s32[4,8]", "iota", [], "iota_dimension=0"), [],
           [np.repeat(np.arange(4, dtype=np.int32)[:, None], 8, 1)], oracle="spec")
    golden("iota_spec_columns", program("s32[4,8]", "iota", [], "iota_dimension=1"), [],
           [np.repeat(np.arange(8, dtype=np.int32)[None], 4, 0)], oracle="spec")
    golden("iota_u8_wraps", program("u8[300]", "iota", [], "iota_dimension=0"), [],
           [np.arange(300).astype(np.uint8)], oracle="spec")
    golden("iota_s4_wraps", program("s4[20]", "iota", [], "iota_dimension=0"), [],
           [arr("s4", [(i + 8) % 16 - 8 for i in range(20)])])
    half = np.arange(2052, dtype=np.float32).astype(np.float16)
    golden("iota_f16_rounds", "HloModule m\nENTRY main {\n  i = f16[2052] iota(), iota_dimension=0\n  ROOT r = f16[6] slice(i), slice={[2046:2052]}\n}", [], [half[2046:]],
           oracle="spec", remark="2049 rounds to 2048, 2051 to 2052")
    for t in ("bf16", "f8e4m3fn", "c64", "s64"):
        golden(f"iota_{t}", program(f"{t}[2,3,2]", "iota", [], "iota_dimension=1"), [],
               [np.broadcast_to(np.arange(3)[:, None], (2, 3, 2)).astype(TYPES[t])])
    golden("iota_zero_size", program("f32[0,9223372036854775807]", "iota", [], "iota_dimension=1"), [],
           ["f32[0,9223372036854775807] {}"])
    refuse("iota_c1", "Iota-C1", "s32[]", "iota", [], "iota_dimension=0")
    refuse("iota_c2", "Iota-C2", "s32[3]", "iota", [], "iota_dimension=1")
    refuse("iota_c2_negative", "Iota-C2", "s32[3]", "iota", [], "iota_dimension=-1")
    refuse("iota_c3", "Iota-C3", "pred[3]", "iota", [], "iota_dimension=0")


def fused_cases():
    """In a loop, where a few hundred elements are worth code: ops that a fusion computes while it reads."""
    def case(name, operand, fused):
        n, count = np.prod(operand), ",".join(map(str, operand))
        golden(name, f"""HloModule m
cond {{
  c = (s32[], s32[6,6,5], s32[{count}]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}}
body {{
  c = (s32[], s32[6,6,5], s32[{count}]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  a = s32[6,6,5] get-tuple-element(c), index=1
  x = s32[{count}] get-tuple-element(c), index=2
  f = s32[6,6,5] {fused}
  m = s32[6,6,5] multiply(a, f)
  s = s32[6,6,5] add(m, a)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], s32[6,6,5], s32[{count}]) tuple(j, s, x)
}}
ENTRY main {{
  p = s32[] parameter(0)
  a = s32[6,6,5] iota(), iota_dimension=1
  n = s32[{n}] iota(), iota_dimension=0
  x = s32[{count}] reshape(n)
  t = (s32[], s32[6,6,5], s32[{count}]) tuple(p, a, x)
  w = (s32[], s32[6,6,5], s32[{count}]) while(t), condition=cond, body=body
  ROOT r = s32[6,6,5] get-tuple-element(w), index=1
}}""", [arr("s32", 0)])

    case("slice_fused", (8, 13, 5), "slice(x), slice={[1:7],[2:13:2],[0:5]}")
    case("broadcast_fused", (6, 5), "broadcast(x), dimensions={0,2}")


def empty_cases():
    """Arrays without elements whose other sizes are huge: no stride or offset may be computed with them."""
    b = 1 << 40
    huge = f"s32[0,{b},{b},{b}]"
    zero = [f"{huge} {{}}"]
    half = f"s32[0,{b // 2},{b},{b}]"
    start = [arr("s32", 7)] * 4
    lt, add_s, add_r = compare_f("s32", "LT"), add_f("s32"), add_f("f32")
    index = arr("s32", [[1, 2], [3, -4]])
    scatter = scatter_attributes([1, 2, 3], [1], [1, 2], 1, "add_f")
    for name, result, op, args, attributes, f in (
            ("slice", half, "slice", zero, f"slice={{[0:0],[{b // 2}:{b}],[0:{b}],[0:{b}]}}", ""),
            ("reverse", huge, "reverse", zero, "dimensions={0,1,2,3}", ""),
            ("pad", f"s32[0,{b + 1},{b},{b}]", "pad", zero + [arr("s32", 1)], "padding=0_0x0_1x0_0x0_0", ""),
            ("concatenate", f"s32[0,{2 * b},{b},{b}]", "concatenate", zero * 2, "dimensions={1}", ""),
            ("dynamic-slice", half, "dynamic-slice", zero + start,
             f"dynamic_slice_sizes={{0,{b // 2},{b},{b}}}", ""),
            ("dynamic-update-slice", huge, "dynamic-update-slice", zero + [f"{half} {{}}"] + start, "", ""),
            ("gather", f"s32[2,0,{b},{b}]", "gather", zero + [index],
             gather_attributes([1, 2, 3], [1], [1, 2], 1, [0, 1, b, b]), ""),
            ("scatter", huge, "scatter", zero + [index, f"s32[2,0,{b},{b}] {{{{}},{{}}}}"], scatter, add_s),
            ("scatter_sum", huge.replace("s32", "f32"), "scatter",
             [f"{huge} {{}}".replace("s32", "f32"), index, f"f32[2,0,{b},{b}] {{{{}},{{}}}}"], scatter,
             add_r),
            ("sort", huge, "sort", zero, "dimensions={1}, to_apply=cmp", lt),
            ("topk", f"(s32[0,{b},{b},1], s32[0,{b},{b},1])", "topk", [f"s32[0,{b},{b},100] {{}}"], "k=1",
             "")):
        shapes = [a.split(" ")[0] if isinstance(a, str) else shape_of(a) for a in args]
        outs = [f"{r.strip()} {'{{},{}}' if name == 'gather' else '{}'}"
                for r in (result[1:-1].split(", ") if result[0] == "(" else [result])]
        golden(f"{op}_huge_empty{'_sum' if name == 'scatter_sum' else ''}",
               program(result, op, shapes, attributes, f), args, outs)
    one("slice_huge_stride_2d", "s32[1,4]", "slice", [arr("s32", np.arange(12).reshape(3, 4))],
        "slice={[1:3:9223372036854775807],[0:4]}", outs=[arr("s32", [[4, 5, 6, 7]])])


def unsorted_broadcast_cases():
    """Operand dimension i is result dimension dimensions[i], in any order."""
    for t in ("pred", "s4", "u8", "bf16", "f32", "c128"):
        one(f"broadcast_unsorted_{t}", f"{t}[3,4,2]", "broadcast", [random(t, (2, 3))], "dimensions={2,0}")
    one("broadcast_transposed", "s32[5,4,3]", "broadcast", [random("s32", (3, 5, 4))], "dimensions={2,0,1}")
    one("broadcast_unit_moved", "s32[3,1,2]", "broadcast", [random("s32", (3, 2, 1))], "dimensions={0,2,1}")
    a = np.arange(70 * 90, dtype=np.float32).reshape(70, 90)
    lines = ["n = f32[70,90] iota(), iota_dimension=1", "m = f32[70,90] iota(), iota_dimension=0",
             "k = f32[] constant(90)",
             "ks = f32[70,90] broadcast(k), dimensions={}", "mk = f32[70,90] multiply(m, ks)",
             "a = f32[70,90] add(mk, n)",
             "t = f32[90,70] broadcast(a), dimensions={1,0}", "s = f32[90,70] negate(t)",
             "b = f32[90,3,70] broadcast(a), dimensions={2,0}", "c = f32[90,3,70] negate(b)",
             "x = f32[1,70] slice(s), slice={[7:8],[0:70]}",
             "y = f32[2,3,1] slice(c), slice={[3:5],[0:3],[69:70]}",
             "ROOT r = (f32[1,70], f32[2,3,1]) tuple(x, y)"]
    golden("broadcast_unsorted_fused", "ENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n", [],
           [-a.T[7:8], -np.repeat(a.T[3:5, None, 69:70], 3, 1)])


def main(dry_run):
    for cases in (layout_cases, slice_cases, gather_cases, scatter_cases, sort_cases, dynamic_cases,
                  fused_cases, empty_cases, unsorted_broadcast_cases, shape_left_out.cases):
        cases()
    SCRIPT.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
