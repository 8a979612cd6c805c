"""golden/shape/left_out_*.hlo: programs whose result shapes are left out, read back in the order of memory.

The bitcast shows in which layout the result before it lies. XLA's parser gives these ops the layout of an
operand (the shapes it infers are in tests/evaluator/left_out_shapes_test.cc): the expected values are the
result, by NumPy, flattened in that order.
"""
import numpy as np

from shape_base import arr, golden

A = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
B = np.array([[8, 1, 6, 3], [2, 9, 4, 5]])
# Column-major operands; the results are too, but for what says otherwise.
COLUMNS = [
    ("elementwise", "s16[2,4]{0,1}", "n = negate(a)\nr = add(n, n)", "s16", -2 * A),
    ("binary_of_two_layouts", "s16[2,4]{0,1}", "c = s16[2,4]{1,0} copy(b)\nr = multiply(a, c)", "s16", A * B),
    ("not", "s16[2,4]{0,1}", "r = not(a)", "s16", ~A),
    ("compare", "s16[2,4]{0,1}", "r = compare(a, b), direction=LT", "pred", A < B),
    ("is_finite", "f32[2,4]{0,1}", "z = f32[] constant(0)\nw = f32[2,4]{0,1} broadcast(z), dimensions={}\n"
     "q = divide(b, w)\nl = compare(a, b), direction=LT\ns = select(l, a, q)\n"
     "r = is-finite(s)", "pred", A < B),
    ("select_lies_as_pred", "s16[2,4]{1,0}",
     "p = compare(a, b), direction=GT\nt = pred[2,4]{0,1} copy(p)\nr = select(t, a, b)", "s16",
     np.where(A > B, A, B)),
    ("clamp", "s16[2,4]{0,1}", "l = s16[] constant(3)\nh = s16[] constant(6)\nr = clamp(l, a, h)", "s16",
     np.clip(A, 3, 6)),
    ("complex_parts", "f32[2,4]{0,1}", "c = complex(a, b)\ni = imag(c)\ne = real(c)\nr = subtract(e, i)",
     "f32", A - B),
    ("abs_complex", "f32[2,4]{0,1}", "z = subtract(a, a)\nc = complex(z, b)\nr = abs(c)", "f32", B),
    ("reverse", "s16[2,4]{0,1}", "r = reverse(a), dimensions={1}", "s16", A[:, ::-1]),
    ("sort", "s16[2,4]{0,1}", "r = sort(b), dimensions={1}, to_apply=less", "s16", np.sort(B, axis=1)),
    ("scatter", "s16[2,4]{0,1}",
     "i = s32[1] constant({1})\nu = s16[4] constant({10, 20, 30, 40})\n"
     "r = scatter(a, i, u), update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
     "index_vector_dim=0, to_apply=sum", "s16", A + np.array([[0], [1]]) * np.array([10, 20, 30, 40])),
]
COMPUTATIONS = """less {
  x = s16[] parameter(0)
  y = s16[] parameter(1)
  ROOT l = pred[] compare(x, y), direction=LT
}
sum {
  v = s16[] parameter(0)
  w = s16[] parameter(1)
  ROOT s = s16[] add(v, w)
}
"""


def text(shape, body, flat):
    lines = "".join(f"  {line}\n" for line in body.split("\n"))
    computations = COMPUTATIONS if "to_apply" in body else ""
    return (f"HloModule m\n{computations}ENTRY main {{\n  a = {shape} parameter(0)\n  b = {shape} parameter(1)\n{lines}"
            f"  ROOT flat = {flat} bitcast(r)\n}}")


def cases():
    for name, shape, body, element, result in COLUMNS:
        kind = shape.split("[")[0]
        golden(f"left_out_{name}", text(shape, body, f"{element}[8]"), [arr(kind, A), arr(kind, B)],
               [arr(element, result.flatten(order="F"))])
    # A transpose moves nothing: the bytes are those of the operand.
    golden("left_out_transpose", "HloModule m\nENTRY main {\n  a = s16[2,4] parameter(0)\n"
           "  t = transpose(a), dimensions={1,0}\n  ROOT flat = s16[8] bitcast(t)\n}", [arr("s16", A)],
           [arr("s16", A.flatten())])
    cube = np.arange(24).reshape(2, 3, 4)
    golden("left_out_transpose_cube", "HloModule m\nENTRY main {\n  a = s16[2,3,4]{0,2,1} parameter(0)\n"
           "  t = transpose(a), dimensions={2,0,1}\n  n = negate(t)\n  ROOT flat = s16[24] bitcast(n)\n}",
           [arr("s16", cube)], [arr("s16", -cube.transpose(1, 2, 0).flatten())])
    # Two elements of four bits a byte, the lower one first.
    golden("left_out_element_size", "HloModule m\nENTRY main {\n  a = s4[4]{0:E(4)} parameter(0)\n  n = not(a)\n"
           "  ROOT flat = u8[2] bitcast(n)\n}", [arr("s4", [0, 1, -8, 7])], [arr("u8", [0xEF, 0x87])],
           decision="left-out-layouts")
    line = np.array([[1.0, 2.0], [3.0, 5.0]])
    golden("left_out_fft", "HloModule m\nENTRY main {\n  a = f32[2,2]{0,1} parameter(0)\n"
           "  f = fft(a), fft_type=RFFT, fft_length={2}\n  e = real(f)\n  ROOT flat = f32[4] bitcast(e)\n}",
           [arr("f32", line)],
           [arr("f32", np.stack([line[:, 0] + line[:, 1], line[:, 0] - line[:, 1]], 1).flatten(order="F"))])
