"""The programs that bench/peers times: HLO text, inputs and, where there is one, the same work in NumPy."""

import dataclasses
import pathlib
import re
from typing import Callable, Optional

import ml_dtypes
import numpy

DTYPES = {"f32": numpy.float32, "f64": numpy.float64, "s8": numpy.int8, "s32": numpy.int32,
          "bf16": ml_dtypes.bfloat16}
RAW = {"bf16": ml_dtypes.bfloat16, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}


@dataclasses.dataclass
class Program:
    name: str
    text: str
    inputs: list  # arrays, by parameter number
    numpy: Optional[Callable] = None  # of the inputs
    reference: bool = True  # quick enough for the reference engine


def normal(kind, *shape, seed=1):
    values = numpy.random.default_rng(seed).standard_normal(shape)
    return values.astype(DTYPES[kind])


def integers(kind, low, high, *shape, seed=1):
    return numpy.random.default_rng(seed).integers(low, high, shape).astype(DTYPES[kind])


def computation(name, op, kind):
    return f"{name} {{ a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT c = {kind}[] {op}(a, b) }}\n"


def entry(body, computations=""):
    return f"HloModule m\n{computations}ENTRY e {{\n{body}}}\n"


def unary(name, op, kind, n, function, reference=False):
    x = abs(normal(kind, n)) if op == "log" else normal(kind, n)
    return Program(name, entry(f" x = {kind}[{n}] parameter(0)\n ROOT y = {kind}[{n}] {op}(x)\n"), [x],
                   function, reference)


def chain(n):
    body = (f" x = f32[{n}] parameter(0)\n y = f32[{n}] parameter(1)\n z = f32[{n}] parameter(2)\n"
            f" p = f32[{n}] multiply(x, y)\n t = f32[{n}] tanh(z)\n ROOT s = f32[{n}] add(p, t)\n")
    return Program("x y + tanh(z) f32 2^24", entry(body), [normal("f32", n, seed=k) for k in range(3)],
                   lambda x, y, z: x * y + numpy.tanh(z), False)


def add_chain(kind, n):
    body = (f" x = {kind}[{n}] parameter(0)\n y = {kind}[{n}] parameter(1)\n a = {kind}[{n}] add(x, y)\n"
            f" b = {kind}[{n}] add(a, x)\n c = {kind}[{n}] add(b, y)\n ROOT d = {kind}[{n}] add(c, a)\n")
    return Program(f"chain of four adds {kind} 2^{n.bit_length() - 1}", entry(body),
                   [normal(kind, n, seed=k) for k in range(2)],
                   (lambda x, y: ((x + y) + x + y) + (x + y)) if kind == "f32" else None, False)


def layer_norm(rows, columns):
    """Scale and shift of rows whose mean and deviation are given: broadcasts along both dimensions."""
    shape = f"f32[{rows},{columns}]"
    body = (f" x = {shape} parameter(0)\n m = f32[{rows}] parameter(1)\n s = f32[{rows}] parameter(2)\n"
            f" g = f32[{columns}] parameter(3)\n b = f32[{columns}] parameter(4)\n"
            + "".join(f" {v}w = {shape} broadcast({v}), dimensions={{{d}}}\n"
                      for v, d in (("m", 0), ("s", 0), ("g", 1), ("b", 1)))
            + f" c = {shape} subtract(x, mw)\n n = {shape} multiply(c, sw)\n h = {shape} multiply(n, gw)\n"
              f" ROOT r = {shape} add(h, bw)\n")
    return Program(f"layer norm's last part f32 {rows} x {columns}", entry(body),
                   [normal("f32", rows, columns), normal("f32", rows), normal("f32", rows, seed=2),
                    normal("f32", columns, seed=3), normal("f32", columns, seed=4)],
                   lambda x, m, s, g, b: (x - m[:, None]) * s[:, None] * g + b, False)


def dot_text(kind, n, result):
    return entry(f" x = {kind}[{n},{n}] parameter(0)\n y = {kind}[{n},{n}] parameter(1)\n"
                 f" ROOT z = {result}[{n},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n")


def dot(kind, n, result, with_numpy=True):
    if kind == "s8":
        inputs = [integers("s8", -128, 128, n, n, seed=k) for k in range(2)]
    else:
        inputs = [normal(kind, n, n, seed=k) for k in range(2)]
    name = f"dot {kind} {n}" + ("" if result == kind else f" to {result}")
    return Program(name, dot_text(kind, n, result), inputs, numpy.matmul if with_numpy else None, False)


def cancelling_dot(n, remainder):
    """Every entry's exact value is about `remainder` of its terms: x = [u, u], y = [v;
    -v (1 + remainder)]."""
    u, v = normal("f32", n, n // 2), normal("f32", n // 2, n, seed=2)
    noise = remainder * normal("f64", n // 2, n, seed=3)
    x, y = numpy.concatenate([u, u], 1), numpy.concatenate([v, (-v * (1 + noise)).astype(numpy.float32)], 0)
    to = "to 0" if remainder == 0 else f"2^{int(numpy.log2(remainder))}"
    return Program(f"dot f32 {n}, cancelling {to}", dot_text("f32", n, "f32"), [x, y], numpy.matmul, False)


def reduce_add(n):
    body = (f" x = f32[{n}] parameter(0)\n i = f32[] constant(0)\n"
            " ROOT y = f32[] reduce(x, i), dimensions={0}, to_apply=add\n")
    return Program("reduce-add f32 2^24", entry(body, computation("add", "add", "f32")), [normal("f32", n)],
                   numpy.sum, False)


def row_maximum(rows, columns):
    body = (f" x = f32[{rows},{columns}] parameter(0)\n i = f32[] constant(-inf)\n"
            f" ROOT y = f32[{rows}] reduce(x, i), dimensions={{1}}, to_apply=max\n")
    return Program("reduce-max f32 4096x1024 by rows", entry(body, computation("max", "maximum", "f32")),
                   [normal("f32", rows, columns)], lambda x: x.max(1), False)


def cumulative_sum(n):
    body = (f" x = f32[{n}] parameter(0)\n i = f32[] constant(0)\n"
            f" ROOT y = f32[{n}] reduce-window(x, i), window={{size={n} pad={n - 1}_0}}, to_apply=add\n")
    return Program("cumulative sum f32 2^20", entry(body, computation("add", "add", "f32")),
                   [normal("f32", n)], numpy.cumsum, False)


def mapped(n):
    """A map whose body has a function and a constant."""
    body = ("f { a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] multiply(a, b)\n t = f32[] tanh(m)\n"
            " c = f32[] constant(0.5)\n ROOT r = f32[] add(t, c) }\n")
    return Program("map tanh(x y) + 0.5 f32 2^20",
                   entry(f" x = f32[{n}] parameter(0)\n y = f32[{n}] parameter(1)\n"
                         f" ROOT z = f32[{n}] map(x, y), dimensions={{0}}, to_apply=f\n", body),
                   [normal("f32", n), normal("f32", n, seed=2)],
                   lambda x, y: numpy.tanh(x * y) + numpy.float32(0.5))


# 3x3 windows with stride 2 over images of 112x112 with 32 features: shapes of image and result, window.
POOLS = {"NHWC": ("8,112,112,32", "8,56,56,32", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0"),
         "NCHW": ("8,32,112,112", "8,32,56,56", "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x0_1x0_1")}


def sizes_of(text):
    return [int(size) for size in text.split(",")]


def pool(op, start, layout):
    image, result, window = POOLS[layout]
    body = (f" x = f32[{image}] parameter(0)\n i = f32[] constant({start})\n"
            f" ROOT y = f32[{result}] reduce-window(x, i), window={{{window}}}, to_apply={op}\n")
    return Program(f"reduce-window {op} 3x3 {layout}", entry(body, computation(op, op, "f32")),
                   [normal("f32", *sizes_of(image))], None, False)


def argmax_pool(layout):
    """Largest element and its index, as two results of one window."""
    image, result, window = POOLS[layout]
    larger = ("larger { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n"
              " j = s32[] parameter(3)\n g = pred[] compare(a, b), direction=GE\n s = f32[] select(g, a, b)\n"
              " q = s32[] select(g, i, j)\n ROOT r = (f32[], s32[]) tuple(s, q) }\n")
    body = (f" x = f32[{image}] parameter(0)\n k = s32[{image}] parameter(1)\n i = f32[] constant(-inf)\n"
            f" m = s32[] constant(-1)\n ROOT y = (f32[{result}], s32[{result}]) reduce-window(x, k, i, m), "
            f"window={{{window}}}, to_apply=larger\n")
    sizes = sizes_of(image)
    return Program(f"reduce-window argmax 3x3 {layout}", entry(body, larger),
                   [normal("f32", *sizes), numpy.arange(numpy.prod(sizes), dtype=numpy.int32).reshape(sizes)],
                   None, False)


def pool_gradient(op, start, layout):
    image, result, window = POOLS[layout]
    computations = computation(op, op, "f32") + (
        "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE }\n")
    body = (f" x = f32[{image}] parameter(0)\n s = f32[{result}] parameter(1)\n i = f32[] constant({start})\n"
            f" ROOT y = f32[{image}] select-and-scatter(x, s, i), window={{{window}}}, select=ge, scatter={op}\n")
    return Program(f"select-and-scatter {op} 3x3 {layout}", entry(body, computations),
                   [normal("f32", *sizes_of(image)), normal("f32", *sizes_of(result), seed=2)], None, False)


def convolution(kind):
    body = (f" x = {kind}[8,56,56,64] parameter(0)\n k = {kind}[3,3,64,64] parameter(1)\n"
            f" ROOT z = {kind}[8,56,56,64] convolution(x, k), window={{size=3x3 pad=1_1x1_1}}, "
            "dim_labels=b01f_01io->b01f\n")
    return Program(f"convolution {kind}", entry(body),
                   [normal(kind, 8, 56, 56, 64), normal(kind, 3, 3, 64, 64)], None,
                   False)


def sort(n):
    less = ("less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT }\n")
    return Program("sort f32 1e5", entry(f" x = f32[{n}] parameter(0)\n"
                                         f" ROOT y = f32[{n}] sort(x), dimensions={{0}}, to_apply=less\n",
                                         less),
                   [normal("f32", n)], numpy.sort)


def jax_key(name, parameter):
    """What jax.numpy compares of a float: all NaNs and both zeros are alike."""
    return (f" {name} = f32[] parameter({parameter})\n {name}n = pred[] compare({name}, {name}), direction=NE\n"
            f" {name}z = pred[] compare({name}, zero), direction=EQ\n {name}s = f32[] select({name}z, zero, {name})\n"
            f" {name}k = f32[] select({name}n, qnan, {name}s)\n")


JAX_CONSTANTS = " qnan = f32[] constant(nan)\n zero = f32[] constant(0)\n"


def jax_sort(rows, n):
    less = ("less {\n" + JAX_CONSTANTS + jax_key("a", 0) + jax_key("b", 1) +
            " ROOT c = pred[] compare(ak, bk), direction=LT, type=TOTALORDER }\n")
    return Program(f"jnp.sort f32 {rows}x{n}",
                   entry(f" x = f32[{rows},{n}] parameter(0)\n"
                         f" ROOT y = f32[{rows},{n}] sort(x), dimensions={{1}}, is_stable=true, to_apply=less\n", less),
                   [normal("f32", rows, n)], numpy.sort, False)


def argsort(n):
    less = ("less {\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n" + JAX_CONSTANTS + jax_key("a", 0) +
            jax_key("b", 1) + " ROOT c = pred[] compare(ak, bk), direction=LT, type=TOTALORDER }\n")
    return Program("jnp.argsort f32 1e5",
                   entry(f" x = f32[{n}] parameter(0)\n i = s32[{n}] iota(), iota_dimension=0\n"
                         f" ROOT y = (f32[{n}], s32[{n}]) sort(x, i), dimensions={{0}}, is_stable=true, "
                         "to_apply=less\n", less),
                   [normal("f32", n)], lambda x: numpy.argsort(x, kind="stable"))


def two_key_sort(n):
    less = ("less {\n" + JAX_CONSTANTS + jax_key("a", 2) + jax_key("b", 3) +
            " i = s32[] parameter(0)\n j = s32[] parameter(1)\n l = pred[] compare(i, j), direction=LT\n"
            " e = pred[] compare(i, j), direction=EQ\n m = pred[] compare(ak, bk), direction=LT, type=TOTALORDER\n"
            " t = pred[] and(e, m)\n ROOT c = pred[] or(l, t) }\n")
    return Program("lax.sort s32, f32 by two keys 1e5",
                   entry(f" i = s32[{n}] parameter(0)\n x = f32[{n}] parameter(1)\n"
                         f" ROOT y = (s32[{n}], f32[{n}]) sort(i, x), dimensions={{0}}, is_stable=true, to_apply=less\n",
                         less), [integers("s32", 0, 1000, n), normal("f32", n)],
                   lambda i, x: numpy.lexsort((x, i)), False)


def custom_sort(n):
    less = ("less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n p = f32[] abs(a)\n q = f32[] abs(b)\n"
            " d = f32[] subtract(p, q)\n z = f32[] constant(0)\n ROOT c = pred[] compare(d, z), direction=LT }\n")
    return Program("sort f32 1e5 by |a| - |b| < 0",
                   entry(f" x = f32[{n}] parameter(0)\n ROOT y = f32[{n}] sort(x), dimensions={{0}}, to_apply=less\n",
                         less), [normal("f32", n)], None, False)


def top_k(rows, n, k):
    return Program(f"top {k} of f32 {rows}x{n}",
                   entry(f" x = f32[{rows},{n}] parameter(0)\n"
                         f" ROOT y = (f32[{rows},{k}], s32[{rows},{k}]) topk(x), k={k}, largest=true\n"),
                   [normal("f32", rows, n)], lambda x: numpy.argpartition(-x, k, 1), False)


def argmax(rows, columns):
    """As jax.numpy.argmax has it."""
    larger = ("larger { a = f32[] parameter(0)\n b = f32[] parameter(2)\n g = pred[] compare(a, b), direction=GT\n"
              " n = pred[] compare(a, a), direction=NE\n o = pred[] or(g, n)\n s = f32[] select(o, a, b)\n"
              " e = pred[] compare(a, b), direction=EQ\n i = s32[] parameter(1)\n j = s32[] parameter(3)\n"
              " l = pred[] compare(i, j), direction=LT\n t = pred[] and(e, l)\n p = pred[] or(o, t)\n"
              " q = s32[] select(p, i, j)\n ROOT r = (f32[], s32[]) tuple(s, q) }\n")
    body = (f" x = f32[{rows},{columns}] parameter(0)\n i = s32[{rows},{columns}] iota(), iota_dimension=1\n"
            " m = f32[] constant(-inf)\n z = s32[] constant(0)\n"
            f" ROOT y = (f32[{rows}], s32[{rows}]) reduce(x, i, m, z), dimensions={{1}}, to_apply=larger\n")
    return Program(f"jnp.argmax f32 {rows}x{columns}", entry(body, larger), [normal("f32", rows, columns)],
                   lambda x: x.argmax(1), False)


def reduce_multiply(rows, columns):
    body = (f" x = f32[{rows},{columns}] parameter(0)\n i = f32[] constant(1)\n"
            f" ROOT y = f32[{rows}] reduce(x, i), dimensions={{1}}, to_apply=multiply\n")
    return Program(f"reduce-multiply f32 {rows}x{columns}",
                   entry(body, computation("multiply", "multiply", "f32")),
                   [normal("f32", rows, columns)], lambda x: x.prod(1), False)


def cumulative_product(n):
    body = (f" x = f32[{n}] parameter(0)\n i = f32[] constant(1)\n"
            f" ROOT y = f32[{n}] reduce-window(x, i), window={{size={n} pad={n - 1}_0}}, to_apply=multiply\n")
    return Program("cumulative product f32 1e4", entry(body, computation("multiply", "multiply", "f32")),
                   [normal("f32", n)], numpy.cumprod, False)


def associative_scan(n):
    """jax.lax.associative_scan of add: every second prefix from the sums of pairs, recursively."""
    lines, names = [], iter(range(10**6))

    def emit(kind, text):
        name = f"v{next(names)}"
        lines.append(f" {name} = f32[{kind}] {text}\n")
        return name

    def scan(x, n):
        if n < 2:
            return x
        half = n // 2
        left = emit(half, f"slice({x}), slice={{[0:{n - 1}:2]}}")
        right = emit(half, f"slice({x}), slice={{[1:{n}:2]}}")
        odd = scan(emit(half, f"add({left}, {right})"), half)
        even_n = (n + 1) // 2 - 1
        head = odd if even_n == half else emit(even_n, f"slice({odd}), slice={{[0:{even_n}]}}")
        rest = emit(even_n, f"slice({x}), slice={{[2:{n}:2]}}")
        first = emit(1, f"slice({x}), slice={{[0:1]}}")
        even = emit(even_n + 1, f"concatenate({first}, {emit(even_n, f'add({head}, {rest})')}), dimensions={{0}}")
        a = emit(n, f"pad({even}, z), padding=0_{n - 2 * even_n - 1}_1")
        b = emit(n, f"pad({odd}, z), padding=1_{n - 2 * half}_1")
        return emit(n, f"add({a}, {b})")

    lines.append(f" x = f32[{n}] parameter(0)\n z = f32[] constant(0)\n")
    root = scan("x", n)
    lines.append(f" ROOT r = f32[{n}] copy({root})\n")
    return Program("associative scan of add f32 2^20", entry("".join(lines)), [normal("f32", n)],
                   numpy.cumsum, False)


def gather(rows, columns, count):
    body = (f" x = f32[{rows},{columns}] parameter(0)\n i = s32[{count},1] parameter(1)\n"
            f" ROOT y = f32[{count},{columns}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
            f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{columns}}}\n")
    return Program(f"gather {count} rows of {columns}", entry(body),
                   [normal("f32", rows, columns), integers("s32", 0, rows, count, 1)],
                   lambda x, i: x[i[:, 0]], False)


def scatter_add(rows, columns, count):
    def in_numpy(x, i, u):
        y = x.copy()
        numpy.add.at(y, i[:, 0], u)
        return y

    body = (f" x = f32[{rows},{columns}] parameter(0)\n i = s32[{count},1] parameter(1)\n"
            f" u = f32[{count},{columns}] parameter(2)\n"
            f" ROOT y = f32[{rows},{columns}] scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n")
    return Program(f"scatter-add {count} rows of {columns}", entry(body, computation("add", "add", "f32")),
                   [normal("f32", rows, columns), integers("s32", 0, rows, count, 1),
                    normal("f32", count, columns, seed=2)], in_numpy, False)


def gather_scalars(n, count):
    body = (f" x = f32[{n}] parameter(0)\n i = s32[{count},1] parameter(1)\n"
            f" ROOT y = f32[{count}] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{0}}, "
            f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}\n")
    return Program(f"gather {count} scalars", entry(body),
                   [normal("f32", n), integers("s32", 0, n, count, 1)], lambda x, i: x[i[:, 0]], False)


def scatter_scalars(op, n, count):
    def in_numpy(x, i, u):
        y = x.copy()
        getattr(numpy, op).at(y, i[:, 0], u)
        return y

    body = (f" x = f32[{n}] parameter(0)\n i = s32[{count},1] parameter(1)\n u = f32[{count}] parameter(2)\n"
            f" ROOT y = f32[{n}] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
            f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={op}\n")
    return Program(f"scatter-{op} {count} scalars", entry(body, computation(op, op, "f32")),
                   [normal("f32", n), integers("s32", 0, n, count, 1), normal("f32", count, seed=2)],
                   in_numpy, False)


def transpose(n):
    return Program("transpose f32 4096x4096", entry(f" x = f32[{n},{n}] parameter(0)\n"
                                                    f" ROOT y = f32[{n},{n}]{{1,0}} transpose(x), dimensions={{1,0}}\n"),
                   [normal("f32", n, n)], lambda x: numpy.ascontiguousarray(x.T), False)


def tiny():
    return Program("tiny: x y + 1 of 4 elements",
                   entry(" x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n p = f32[4] multiply(x, y)\n"
                         " o = f32[] constant(1)\n b = f32[4] broadcast(o), dimensions={}\n ROOT s = f32[4] add(p, b)\n"),
                   [normal("f32", 4), normal("f32", 4)], lambda x, y: x * y + 1)


def scalar_loop(n):
    loop = ("body { t = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n"
            " x = f32[] get-tuple-element(t), index=1\n o = s32[] constant(1)\n j = s32[] add(i, o)\n"
            " h = f32[] constant(0.5)\n m = f32[] multiply(x, h)\n k = f32[] constant(3)\n y = f32[] add(m, k)\n"
            " ROOT r = (s32[], f32[]) tuple(j, y) }\n"
            f"cond {{ t = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n"
            f" n = s32[] constant({n})\n ROOT c = pred[] compare(i, n), direction=LT }}\n")
    return Program(f"scalar loop, {n} iterations",
                   entry(" x = f32[] parameter(0)\n i = s32[] constant(0)\n t = (s32[], f32[]) tuple(i, x)\n"
                         " ROOT w = (s32[], f32[]) while(t), condition=cond, body=body\n", loop),
                   [numpy.float32(1)])


def gru_scan(steps, batch, width):
    """A GRU: its state h is updated `steps` times from rows of xs, and every state is kept in ys."""
    b, h, g = batch, width, 3 * width
    state = f"(s32[], f32[{b},{h}], f32[{steps},{b},{h}], f32[{steps},{b},{h}], f32[{h},{g}], f32[{h},{g}])"
    parts = "\n".join(f" {of}{gate} = f32[{b},{h}] slice({of}), slice={{[0:{b}],[{k * h}:{(k + 1) * h}]}}"
                      for of in "xh" for k, gate in enumerate("rzn"))
    body = (f"body {{ s = {state} parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
            f" last = f32[{b},{h}] get-tuple-element(s), index=1\n"
            f" ys = f32[{steps},{b},{h}] get-tuple-element(s), index=2\n"
            f" xs = f32[{steps},{b},{h}] get-tuple-element(s), index=3\n"
            f" w = f32[{h},{g}] get-tuple-element(s), index=4\n u = f32[{h},{g}] get-tuple-element(s), index=5\n"
            f" zero = s32[] constant(0)\n one = s32[] constant(1)\n next = s32[] add(i, one)\n"
            f" row = f32[1,{b},{h}] dynamic-slice(xs, i, zero, zero), dynamic_slice_sizes={{1,{b},{h}}}\n"
            f" in = f32[{b},{h}] reshape(row)\n"
            f" x = f32[{b},{g}] dot(in, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
            f" h = f32[{b},{g}] dot(last, u), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n{parts}\n"
            f" r0 = f32[{b},{h}] add(xr, hr)\n r = f32[{b},{h}] logistic(r0)\n"
            f" z0 = f32[{b},{h}] add(xz, hz)\n z = f32[{b},{h}] logistic(z0)\n"
            f" n0 = f32[{b},{h}] multiply(r, hn)\n n1 = f32[{b},{h}] add(xn, n0)\n n = f32[{b},{h}] tanh(n1)\n"
            f" d = f32[{b},{h}] subtract(last, n)\n zd = f32[{b},{h}] multiply(z, d)\n"
            f" new = f32[{b},{h}] add(n, zd)\n kept = f32[1,{b},{h}] reshape(new)\n"
            f" all = f32[{steps},{b},{h}] dynamic-update-slice(ys, kept, i, zero, zero)\n"
            f" ROOT t = {state} tuple(next, new, all, xs, w, u) }}\n"
            f"cond {{ s = {state} parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
            f" n = s32[] constant({steps})\n ROOT c = pred[] compare(i, n), direction=LT }}\n")
    return Program(f"gru scan, {steps} steps",
                   entry(f" xs = f32[{steps},{b},{h}] parameter(0)\n w = f32[{h},{g}] parameter(1)\n"
                         f" u = f32[{h},{g}] parameter(2)\n zero = f32[] constant(0)\n i = s32[] constant(0)\n"
                         f" h = f32[{b},{h}] broadcast(zero), dimensions={{}}\n"
                         f" ys = f32[{steps},{b},{h}] broadcast(zero), dimensions={{}}\n"
                         f" s = {state} tuple(i, h, ys, xs, w, u)\n"
                         f" l = {state} while(s), condition=cond, body=body\n"
                         f" ROOT out = f32[{steps},{b},{h}] get-tuple-element(l), index=2\n", body),
                   [normal("f32", steps, b, h), normal("f32", h, g, seed=2) / numpy.float32(8),
                    normal("f32", h, g, seed=3) / numpy.float32(8)])


def parameter_types(text):
    """The element types of the entry's parameters, by number: files of arrays lack NumPy's missing types."""
    body = text[text.index("\nENTRY"):]
    found = re.findall(r"= (\w+)\[.* parameter\((\d+)\)", body)
    return {int(number): kind for kind, number in found}


def real_programs(folder):
    """Assay's fifteen real programs with the inputs that stand beside them."""
    for directory in sorted(pathlib.Path(folder).iterdir()):
        if not (directory / "program.hlo").exists():
            continue
        with numpy.load(directory / "inputs.npz") as arrays:
            inputs = [arrays[f"arg{k}"] for k in range(len(arrays.files))]
        text = (directory / "program.hlo").read_text(encoding="utf-8")
        types = parameter_types(text)
        inputs = [array.view(RAW[types[k]]) if array.dtype.kind == "V" else array
                  for k, array in enumerate(inputs)]
        yield Program(directory.name, text, inputs)


def all_programs(folder):
    def erf(x):
        import scipy.special
        return scipy.special.erf(x)

    big, cached = 2**24, 2**15
    return [
        tiny(),
        scalar_loop(10_000),
        gru_scan(1000, 8, 64),
        unary("exp f32 2^15", "exponential", "f32", cached, numpy.exp),
        unary("tanh f32 2^15", "tanh", "f32", cached, numpy.tanh),
        unary("log f32 2^15", "log", "f32", cached, numpy.log),
        unary("erf f32 2^15", "erf", "f32", cached, None),
        unary("exp f64 2^15", "exponential", "f64", cached, numpy.exp),
        unary("exp f32 2^24", "exponential", "f32", big, numpy.exp),
        unary("tanh f32 2^24", "tanh", "f32", big, numpy.tanh),
        unary("log f32 2^24", "log", "f32", big, numpy.log),
        unary("erf f32 2^24", "erf", "f32", big, None),
        chain(big),
        add_chain("f32", big),
        add_chain("bf16", big),
        layer_norm(4096, 4096),
        dot("f32", 512, "f32"),
        dot("f32", 1024, "f32"),
        dot("f32", 2048, "f32"),
        cancelling_dot(512, 0),
        cancelling_dot(1024, 2.0**-20),
        dot("bf16", 1024, "bf16", with_numpy=False),
        dot("bf16", 1024, "f32", with_numpy=False),
        dot("s8", 1024, "s32", with_numpy=False),
        dot("f64", 512, "f64"),
        convolution("f32"),
        convolution("bf16"),
        reduce_add(big),
        row_maximum(4096, 1024),
        cumulative_sum(2**20),
        cumulative_product(10_000),
        associative_scan(2**20),
        mapped(2**20),
        pool("maximum", "-inf", "NHWC"),
        pool("maximum", "-inf", "NCHW"),
        pool("multiply", "1", "NHWC"),
        pool("multiply", "1", "NCHW"),
        pool("add", "0", "NHWC"),
        argmax_pool("NHWC"),
        pool_gradient("add", "0", "NHWC"),
        pool_gradient("add", "0", "NCHW"),
        pool_gradient("multiply", "1", "NHWC"),
        sort(100_000),
        jax_sort(1000, 1000),
        argsort(100_000),
        two_key_sort(100_000),
        custom_sort(100_000),
        top_k(64, 50_000, 40),
        argmax(1000, 1000),
        reduce_multiply(1000, 1000),
        gather(10_000, 32, 100_000),
        gather_scalars(10_000, 100_000),
        scatter_add(10_000, 32, 100_000),
        scatter_scalars("add", 10_000, 100_000),
        scatter_scalars("multiply", 10_000, 100_000),
        transpose(4096),
        *real_programs(folder),
    ]
