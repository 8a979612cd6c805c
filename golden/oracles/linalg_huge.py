"""Goldens whose arrays have no element but huge other sizes: strides must not overflow."""
from linalg_base import *


def main():
    big = 3 << 40
    add = reducer("f32", "add")
    golden("reduce_huge_empty", "hand", add + entry(
        "c = f32[] constant(3)", "x = f32[2,%d,0] broadcast(c), dimensions={}" % big,
        "ROOT r = f32[2] reduce(x, c), dimensions={1,2}, to_apply=f"), [], [Array("f32", [2], [3.0, 3.0])])
    golden("reduce_huge_empty_maximum", "hand", reducer("s32", "maximum") + entry(
        "c = s32[] constant(3)", "x = s32[2,%d,3,%d,0] broadcast(c), dimensions={}" % (big, big),
        "ROOT r = s32[2,3] reduce(x, c), dimensions={1,3,4}, to_apply=f"), [],
           [Array("s32", [2, 3], [3] * 6)])
    golden("reduce-window_huge_empty", "hand", add + entry(
        "c = f32[] constant(3)", "x = f32[%d,%d,0] broadcast(c), dimensions={}" % (big, big),
        "ROOT r = f32[1,1,2] reduce-window(x, c), window={size=%dx%dx2 pad=0_0x0_0x1_2}, to_apply=f" % (
            big, big)),
           [], [Array("f32", [1, 1, 2], [3.0, 3.0])])
    golden("dot_huge_empty", "hand", entry(
        "c = f32[] constant(3)", "x = f32[2,%d,%d,0] broadcast(c), dimensions={}" % (big, big),
        "y = f32[%d,%d,0] broadcast(c), dimensions={}" % (big, big),
        "ROOT r = f32[2] dot(x, y), lhs_contracting_dims={1,2,3}, rhs_contracting_dims={0,1,2}"),
           [], [Array("f32", [2], [0.0, 0.0])])
    golden("convolution_huge_empty", "hand", entry(
        "c = f32[] constant(3)", "x = f32[1,0,%d,%d] broadcast(c), dimensions={}" % (big, big),
        "k = f32[2,0,%d,%d] broadcast(c), dimensions={}" % (big, big),
        "ROOT r = f32[1,2,1,1] convolution(x, k), window={size=%dx%d}, dim_labels=bf01_oi01->bf01" % (
            big, big)),
           [], [Array("f32", [1, 2, 1, 1], [0.0, 0.0])])
    golden("scan_huge_slice", "hand",
           "f {\n  a = f32[] parameter(0)\n  ROOT r = f32[] add(a, a)\n}\n" + entry(
        "c = f32[] constant(3)", "x = f32[0,%d,%d] broadcast(c), dimensions={}" % (big, big),
        "ROOT r = f32[0] scan(x), dimensions={0}, num_carries=0, to_apply=f"), refuse="3 ")
