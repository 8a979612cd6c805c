#!/usr/bin/env python3
"""Writes golden/xla_calls: custom calls of XLA's compilers. Expected values by rational arithmetic from the
libraries' own formulas (a gradient of a convolution adds up what each product of the
forward one contributes), each step of docs/optimized_modules.md rounded once; functions by mpmath. Run with
mpmath installed: python3 xla_calls.py"""
import math
from fractions import Fraction

import mpmath
from linalg_base import INTS, Array, Random, indices, rn, wrap
import written
from xla_calls_gemm import gemms
from xla_calls_base import (
    ACTIVATIONS, DIMENSION, GROUPED, HWIO, Labels, NCHW, NHWC, SCRIPT, add, apply, compute_type,
    conv_config, f, gemm_config, golden, mul, nested, product, program, relu, sizes_of, store, sums)


def convolutions():
    def forward(name, labels, types, config, seed, target="__cudnn$convForward", bias=None, side=None,
                decision=None):
        r = Random(seed)
        inner = config["cudnn_conv_backend_config"]
        spatial = [5, 4][:labels.spatial]
        x_sizes, w_sizes = sizes_of(labels, 2, 2 * labels.groups, spatial, 2 * labels.groups)
        x, w = r.array(types[0], x_sizes, 1), r.array(types[0], w_sizes, 1)
        d, fused = types[1], bias is not None
        plain = not fused and inner["conv_result_scale"] == 1 and d != "s8"
        t = d if plain else compute_type(types[0], d)
        y_sizes = labels.output_sizes(x_sizes, w_sizes)
        values = sums(y_sizes, ((y, x[i], w[j]) for i, j, y in labels.terms(x_sizes, w_sizes)), t)
        args = [x, w]
        if fused:
            bias_array = r.array(bias, [w_sizes[labels.w.index("o")]], 1)
            args.append(bias_array)
        if side:
            side_array = r.array(side, y_sizes, 1)
            args.append(side_array)
        out = Array.full(d, y_sizes, None)
        for o, v in values.items():
            if inner["conv_result_scale"] != 1:
                v = mul(t, v, rn(t, Fraction(inner["conv_result_scale"])))
            if side:
                term = side_array[o]
                v = add(t, v, term if inner["side_input_scale"] == 1
                        else mul(t, term, rn(t, Fraction(inner["side_input_scale"]))))
            if fused:
                v = add(t, v, bias_array[o[labels.y.index("f")],])
                v = ACTIVATIONS[inner["activation_mode"]](t, v, inner["leakyrelu_alpha"])
            out[o] = store(d, v)
        golden(name, program(args, [out], target, config, labels.text(), "u8[0]"), args, [out],
               decision=decision)

    forward("conv_forward_f32", NCHW, ("f32", "f32"), conv_config(), 60)
    forward("conv_forward_nhwc_f16", NHWC, ("f16", "f16"), conv_config(), 61)
    forward("conv_forward_dilated_f64", HWIO, ("f64", "f64"), conv_config(), 62)
    forward("conv_forward_grouped_f32", GROUPED, ("f32", "f32"), conv_config(), 63)
    forward("conv_forward_scaled_bf16", NCHW, ("bf16", "bf16"), conv_config(scale=0.3), 64,
            decision="xla-call-rounding")
    forward("conv_forward_reversed_f32", Labels("b0f_0io->b0f", [{"size": 3, "reversal": 1}]), ("f32", "f32"),
            conv_config(), 65)
    forward("conv_forward_s8_to_f32", NHWC, ("s8", "f32"), conv_config(scale=0.125), 66)
    fused = "__cudnn$convBiasActivationForward"
    forward("conv_bias_f32", NCHW, ("f32", "f32"), conv_config(), 70, fused, "f32")
    forward("conv_bias_relu_f16", NHWC, ("f16", "f16"), conv_config("kRelu"), 71, fused, "f16")
    forward("conv_bias_side_f32", NCHW, ("f32", "f32"), conv_config("kRelu", 1, 1), 72, fused, "f32", "f32")
    forward("conv_bias_side_scaled_f32", NCHW, ("f32", "f32"), conv_config("kNone", 0.7, 1.3), 73, fused,
            "f32", "f32")
    forward("conv_bias_leaky_relu_f32", HWIO, ("f32", "f32"), conv_config("kLeakyRelu", alpha=0.1), 74, fused,
            "f32")
    forward("conv_bias_relu6_f16", NCHW, ("f16", "f16"), conv_config("kRelu6", 4), 75, fused, "f16")
    forward("conv_bias_elu_f32", NCHW, ("f32", "f32"), conv_config("kElu"), 76, fused, "f32")
    forward("conv_bias_sigmoid_f32", GROUPED, ("f32", "f32"), conv_config("kSigmoid"), 77, fused, "f32")
    forward("conv_bias_tanh_bf16", NHWC, ("bf16", "bf16"), conv_config("kTanh"), 78, fused, "bf16")
    forward("conv_bias_s8_saturates", NHWC, ("s8", "s8"), conv_config("kRelu", 0.01, 0.5), 79, fused, "f32",
            "s8", decision="xla-call-saturation")
    # The program of the report: forward with the filter as 01io.
    forward("conv_forward_01io_f32", Labels("bf01_01io->bf01", [dict(DIMENSION), dict(DIMENSION)]),
            ("f32", "f32"), conv_config(), 80)

    def backward(name, labels, t, of, seed, scale=1):
        r = Random(seed)
        x_sizes, w_sizes = sizes_of(labels, 2, 2 * labels.groups, [5, 4][:labels.spatial], 2 * labels.groups)
        y_sizes = labels.output_sizes(x_sizes, w_sizes)
        dy = r.array(t, y_sizes, 1)
        other = r.array(t, w_sizes if of == "Input" else x_sizes, 1)
        wide = compute_type(t, t) if scale != 1 else t
        if of == "Input":
            sizes = x_sizes
            values = sums(sizes, ((i, other[j], dy[y]) for i, j, y in labels.terms(x_sizes, w_sizes)), wide)
            args = [dy, other]
        else:
            sizes = w_sizes
            values = sums(sizes, ((j, other[i], dy[y]) for i, j, y in labels.terms(x_sizes, w_sizes)), wide)
            args = [other, dy]
        out = Array(t, sizes, [f(t, v if scale == 1 else mul(wide, v, rn(wide, Fraction(scale)))) for v in
                               (values[i] for i in indices(sizes))])
        golden(name, program(args, [out], "__cudnn$convBackward" + of, conv_config(scale=scale),
                             labels.text(), "u8[0]"), args, [out])

    reversed_ = Labels("b0f_0io->b0f", [{"size": 3, "reversal": 1, "stride": 2, "pad": (1, 0)}])
    for of in ("Input", "Filter"):
        low = of.lower()
        backward("conv_backward_%s_f32" % low, NCHW, "f32", of, 90)
        backward("conv_backward_%s_strided_f32" % low, NHWC, "f32", of, 91)
        backward("conv_backward_%s_dilated_f64" % low, HWIO, "f64", of, 92)
        backward("conv_backward_%s_grouped_f32" % low, GROUPED, "f32", of, 93)
        backward("conv_backward_%s_grouped_oi_f32" % low,
                 Labels("bf01_oi01->bf01", [dict(DIMENSION), {"size": 2}], 3), "f32", of, 94)
        backward("conv_backward_%s_reversed_bf16" % low, reversed_, "bf16", of, 95)
        backward("conv_backward_%s_scaled_f16" % low, NCHW, "f16", of, 96, 0.5)


def graphs():
    def case(name, graph, steps, in_type, out, seed, extra=(), amax=False):
        """steps: functions (t, value, extras) -> value; the last gives what is stored,
        amax is of the one before it."""
        r = Random(seed)
        x_sizes, w_sizes = sizes_of(NHWC, 1, 2, [5, 4], 2)
        x, w = r.array(in_type, x_sizes, 2), r.array(in_type, w_sizes, 2)
        y_sizes = NHWC.output_sizes(x_sizes, w_sizes)
        extras = [Array("f32", [], [rn("f32", Fraction(e))]) if not isinstance(e, str)
                  else r.array(e, y_sizes, 2) for e in extra]
        values = sums(y_sizes, ((y, x[i], w[j]) for i, j, y in NHWC.terms(x_sizes, w_sizes)), "f32")
        result, most = Array.full(out, y_sizes, None), 0.0
        for o, v in values.items():
            at = [e[o] if e.sizes else e.values[0] for e in extras]
            for step in steps[:-1]:
                v = step(v, at)
            most = max(most, abs(v))
            result[o] = store(out, steps[-1](v, at))
        args, outs = [x, w] + extras, [result] + ([Array("f32", [], [most])] if amax else [])
        config = conv_config(serialized_graph=graph)
        golden(name, program(args, outs, "__cudnn$convForwardGraph", config, NHWC.text(), "u8[0]"), args,
               outs, decision="xla-call-saturation" if out.startswith("f8") else None)

    scale = lambda k: lambda v, at: mul("f32", v, at[k])
    same = lambda v, at: v
    case("graph_conv_f8", "4:[f8e4m3fn]conv();", [same], "f8e4m3fn", "f8e4m3fn", 110)
    case("graph_scales_f8", "28:[f32]conv();30:[f32]scale(28);32:[f32]scale(30);16:[f8e4m3fn]scale(32);",
         [scale(0), scale(1), scale(2)], "f8e4m3fn", "f8e4m3fn", 111, (0.3, 1.7, 3.0))
    case("graph_amax_f8", "28:[f32]conv();30:[f32]scale(28);32:[f32]scale(30);16:[f8e4m3fn]scale(32);25:[f32]amax(32);",
         [scale(0), scale(1), scale(2)], "f8e4m3fn", "f8e4m3fn", 112, (0.3, 1.7, 3.0), amax=True)
    case("graph_add_relu_bf16", "1:[f32]conv();2:[f32]add(1);7:[bf16]relu(2);",
         [lambda v, at: add("f32", v, at[0]), lambda v, at: relu("f32", v)], "bf16", "bf16", 113, ("f32",))
    case("graph_invscale_f8", "1:[f32]conv();2:[f32]relu(1);3:[f8e5m2]invscale(2);",
         [lambda v, at: relu("f32", v), lambda v, at: rn("f32", Fraction(v) / Fraction(at[0]))], "f8e5m2",
         "f8e5m2", 114, (0.3,))
    case("graph_rounds_between_bf16", "1:[bf16]conv();2:[bf16]scale(1);3:[bf16]relu(2);",
         [lambda v, at: rn("bf16", Fraction(v)), lambda v, at: rn("bf16", Fraction(mul("f32", v, at[0]))),
          lambda v, at: relu("f32", v)],
         "bf16", "bf16", 115, (1.1,))


# --- normalisation, softmax, oneDNN ---


def normalized(row, epsilon, t="f32"):
    count = len(row)
    mean = rn(t, Fraction(rn(t, sum(map(Fraction, row), Fraction(0)))) / count)
    centred = [add(t, v, -mean) for v in row]
    squares = rn(t, sum((Fraction(mul(t, v, v)) for v in centred), Fraction(0)))
    factor = apply(t, lambda v: 1 / mpmath.sqrt(v),
                   add(t, rn(t, Fraction(squares) / count), rn(t, Fraction(epsilon))))
    return [mul(t, v, factor) for v in centred], mean, factor


def normalizations():
    r = Random(130)
    for kind, t in (("LAYER_FWD_INFER", "f32"), ("LAYER_FWD_TRAIN", "f32"), ("LAYER_FWD_INFER", "bf16")):
        x, scale, bias = r.array(t, [3, 5, 1, 1], 1), r.array(t, [1, 5, 1, 1], 1), r.array(t, [1, 5, 1, 1], 1)
        y, means, factors = Array.full(t, x.sizes, None), Array.full("f32", [3, 1, 1, 1], None), Array.full(
            "f32", [3, 1, 1, 1], None)
        for n in range(3):
            values, mean, factor = normalized([x[n, i, 0, 0] for i in range(5)], 0.001)
            means[n, 0, 0, 0], factors[n, 0, 0, 0] = mean, factor
            for i, v in enumerate(values):
                y[n, i, 0, 0] = rn(t,
                                   Fraction(add("f32", mul("f32", v, scale[0, i, 0, 0]), bias[0, i, 0, 0])))
        outs = [y] + ([means, factors] if kind.endswith("TRAIN") else [])
        config = {
            "cudnn_norm_backend_config": {"epsilon": 0.001, "algorithm": {"algo_id": "0"}, "kind": kind}}
        golden("norm_%s_%s" % (kind[6:].lower(), t),
               program([x, scale, bias], outs, "__cudnn$norm", config, workspace="u8[0]"),
               [x, scale, bias], outs, oracle="mpmath")
    x = r.array("f32", [3, 4], 1)
    y = Array.full("f32", [3, 4], None)
    for i in range(3):
        most = max(x[i, j] for j in range(4))
        e = [apply("f32", mpmath.exp, add("f32", x[i, j], -most)) for j in range(4)]
        total = rn("f32", sum(map(Fraction, e), Fraction(0)))
        for j in range(4):
            y[i, j] = rn("f32", Fraction(e[j]) / Fraction(total))
    golden("onednn_softmax_f32",
           program([x], [y], "__onednn$softmax", {"onednn_softmax_config": {"softmax_axis": 1}}, bare=True),
           [x], [y], oracle="mpmath")
    scale, shift = r.array("f32", [4], 1), r.array("f32", [4], 1)
    for i in range(3):
        values, _, _ = normalized([x[i, j] for j in range(4)], 2.0**-10)
        for j, v in enumerate(values):
            y[i, j] = add("f32", mul("f32", v, scale[j,]), shift[j,])
    config = {
        "onednn_layer_norm_config": {"rescale": "SCALE_AND_SHIFT", "epsilon_typecast": (127 - 10) << 23}}
    golden("onednn_layernorm_f32", program([x, scale, shift], [y], "__onednn$layernorm", config, bare=True),
           [x, scale, shift], [y], oracle="mpmath")


def onednn():
    def matmul(name, types, ops, seed, extra=(), transpose=(False, False), alpha=1.0, sizes=((3, 4), (4, 5)),
               old=False, scratch=False):
        r = Random(seed)
        a, b = r.array(types[0], sizes[0], 1), r.array(types[0], sizes[1], 1)
        batch = list(range(len(sizes[0]) - 2))
        ra, rb = len(sizes[0]), len(sizes[1])
        config = gemm_config((ra - 2 if transpose[0] else ra - 1,), (rb - 1 if transpose[1] else rb - 2,),
                             batch, batch)
        t = compute_type(types[0], types[1]) if ops else types[1]
        values, shape = product(a, b, config, t)
        extras = [r.array(types[1], e if e != "same" else shape, 1) for e in extra]
        out = Array.full(types[1], shape, None)
        for o, v in values.items():
            left = list(extras)
            for op in ops:
                if op in ("BIAS", "BINARY_ADD"):
                    e = left.pop(0)
                    last = o[len(o) - len(e.sizes):]
                    v = add(t, v, e[tuple(0 if n == 1 else i for i, n in zip(last, e.sizes))])
                else:
                    v = ACTIVATIONS[op](t, v, alpha)
            out[o] = store(types[1], v)
        bits = int.from_bytes(__import__("struct").pack("<f", alpha), "little", signed=True)
        inner = {"fused_ops": ops} if old else {
            "transpose_a": transpose[0], "transpose_b": transpose[1],
            "fusions": {"ops": ops, "alpha_typecast": bits},
            "optimization_config": {"weights_prepacked": False, "user_scratchpad": scratch,
                                    "bias_broadcast": True}}
        config = {"outer_dimension_partitions": [], "onednn_matmul_config": inner}
        args = [a, b] + extras
        golden(name, program(args, [out], "__onednn$matmul", config, bare=not scratch, workspace="u8[32]"),
               args, [out])

    matmul("onednn_matmul_f32", ("f32", "f32"), [], 150)
    matmul("onednn_matmul_bias_relu_f32", ("f32", "f32"), ["BIAS", "RELU"], 151, ([5],))
    matmul("onednn_matmul_old_bias_f32", ("f32", "f32"), ["BIAS"], 152, ([1, 5],), old=True)
    matmul("onednn_matmul_transposed_bf16", ("bf16", "bf16"), ["GELU_TANH"], 153, (), (True, True),
           sizes=((4, 3), (5, 4)))
    matmul("onednn_matmul_add_linear_f32", ("f32", "f32"), ["BINARY_ADD", "LINEAR"], 154, ("same",),
           alpha=0.3)
    matmul("onednn_matmul_batch_erf_f32", ("f32", "f32"), ["BIAS", "GELU_ERF"], 155, ([1, 1, 5],),
           sizes=((2, 3, 4), (2, 4, 5)))
    matmul("onednn_matmul_tanh_scratchpad_f16", ("f16", "f16"), ["TANH"], 156, scratch=True)

    def convolution(name, offset, seed):
        r = Random(seed)
        labels = Labels("b01f_01io->b01f",
                        [{"size": 3, "pad": (1, 0), "stride": 2}, {"size": 2, "pad": (0, 1)}])
        x_sizes, w_sizes = sizes_of(labels, 2, 2, [5, 4], 3)
        x, w, bias = r.array("f32", x_sizes, 1), r.array("f32", w_sizes, 1), r.array("f32", [3], 1)
        y_sizes = labels.output_sizes(x_sizes, w_sizes)
        values = sums(y_sizes, ((y, x[i], w[j]) for i, j, y in labels.terms(x_sizes, w_sizes)), "f32")
        out = Array.full("f32", y_sizes, None)
        for o, v in values.items():
            out[o] = relu("f32", add("f32", v, bias[o[3],]))
        more = lambda *numbers: [str(n + offset) for n in numbers]
        data = {"dims": "4", "data": {"batch_dim": "0", "feature_dim": "3", "spatial_dims": more(1, 2)}}
        config = {"onednn_conv_config": {
            "dims": "4", "input": data, "output": data,
            "kernel": {"dims": "4", "filter": {"input_feature_dim": "2", "output_feature_dim": "3",
                                               "spatial_dims": more(0, 1), "shape": []}},
            "window": {"size": [], "pad_left": more(1, 0), "pad_right": more(0, 1), "strides": more(2, 1),
                       "window_dilations": more(1, 1)},
            "fusions": {"ops": ["BIAS", "RELU"], "alpha_typecast": 0}, "feature_groups": "1"}}
        args = [x, w, bias]
        golden(name, program(args, [out], "__onednn$convolution", config, bare=True), args, [out])

    convolution("onednn_convolution_f32", 0, 160)
    convolution("onednn_convolution_counted_from_one_f32", 1, 161)


# --- the others ---


def others():
    nan = math.nan
    keys = Array("f32", [8], [1.0, nan, -0.0, -math.inf, 0.0, -1.0, math.inf, 0.0])
    values = Array("s32", [8], list(range(8)))

    def order(v):
        return (2, 0) if math.isnan(v) else (1, v)

    for descending in (False, True):
        # Zeros are equal; equal keys stay in order.
        at = sorted(range(8), key=lambda i: order(keys.values[i]), reverse=descending)
        if descending:
            at = sorted(range(8), key=lambda i: tuple(-v for v in order(keys.values[i])))
        outs = [Array("f32", [8], [keys.values[i] for i in at]), Array("s32", [8], at)]
        name = "descending" if descending else "ascending"
        golden("radix_sort_pairs_" + name,
               program([keys, values], outs, "__cub$DeviceRadixSort", {"descending": descending},
                                                   workspace="u8[128]"), [keys, values], outs,
               decision="xla-call-radix-order")
    r = Random(180)
    rows = r.array("u16", [3, 6])
    out = Array("u16", [3, 6], sum((sorted(rows.values[6 * i:6 * i + 6]) for i in range(3)), []))
    golden("radix_sort_rows_u16",
           program([rows], [out], "__cub$DeviceRadixSortUnassignedScratchSize", {"descending": False},
                                          workspace="u8[1]"), [rows], [out])
    x = r.array("f32", [2, 6], 2)
    top = [sorted(range(6), key=lambda j: (-x[i, j], j))[:3] for i in range(2)]
    outs = [Array("f32", [2, 3], [x[i, j] for i in range(2) for j in top[i]]),
            Array("s32", [2, 3], top[0] + top[1])]
    golden("gpu_top_k_f32", program([x], outs, "__gpu$TopK", "", workspace=""), [x], outs)
    # (l 0; l l) x = b, x from the left and the right.
    a = Array("f64", [2, 2], [2.0, 7.0, 3.0, 4.0])
    b = Array("f64", [2, 2], [4.0, 8.0, 14.0, 4.0])
    solution = Array("f64", [2, 2], [2.0, 4.0, 2.0, -2.0])
    config = {"left_side": True, "lower": True, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE"}
    golden("triangular_solve_f64",
           program([a, b], [solution], "__cublas$triangularSolve", config, workspace="s8[0]"), [a, b],
           [solution], oracle="hand")
    # x a^T = b: x00 2 = 4, x00 3 + x01 4 = 8
    b2 = Array("f64", [1, 2], [4.0, 8.0])
    config = dict(config, left_side=False, transpose_a="TRANSPOSE")
    solution = Array("f64", [1, 2], [2.0, 0.5])
    golden("triangular_solve_right_f64",
           program([a, b2], [solution], "__cublas$triangularSolve", config, workspace="s8[0]"), [a, b2],
           [solution], oracle="hand")
    a = Array("f64", [2, 2, 2], [4.0, 9.0, 2.0, 10.0, 1.0, 0.0, 3.0, 25.0])
    factor = Array("f64", [2, 2, 2], [2.0, 9.0, 1.0, 3.0, 1.0, 0.0, 3.0, 4.0])
    lines = """ENTRY main {
  p0 = f64[2,2,2] parameter(0)
  call = (f64[2,2,2], f64[7], s32[2]) custom-call(p0), custom_call_target="__cusolver$cholesky", backend_config={"lower":true}
  l = f64[2,2,2] get-tuple-element(call), index=0
  info = s32[2] get-tuple-element(call), index=2
  ROOT r = (f64[2,2,2], s32[2]) tuple(l, info)
}
"""
    golden("cholesky_f64", lines, [a], [factor, Array("s32", [2], [0, 0])], oracle="hand")
    for columns, t in ((None, "f32"), (3, "f64"), (2, "s32")):
        data = r.array(t, [6], 1) if t != "s32" else Array("s32", [6], [3, -4, 5, 7, 100, 9])
        # the last entry is nowhere
        starts, places = Array("s32", [5], [0, 2, 2, 3, 5]), Array("s32", [6], [0, 2, 1, 0, 2, 1])
        x_sizes = [3] + ([columns] if columns else [])
        x = r.array(t, x_sizes, 1) if t != "s32" else Array("s32", x_sizes, [1, -2, 3, 4, 5, 6])
        out = Array.full(t, [4] + x_sizes[1:], None)
        for o in indices(out.sizes):
            products = [mul(t, data[k,], x[(places[k,],) + o[1:]])
                        for k in range(starts[o[0],], starts[o[0] + 1,])]
            out[o] = wrap(t, sum(products)) if t in INTS else rn(t, sum(map(Fraction, products), Fraction(0)))
        golden("csr_product_%s" % t, program([data, starts, places, x], [out], "cpu_csr_sparse_dense_ffi",
                                             "{}", "api_version=API_VERSION_TYPED_FFI", bare=True),
               [data, starts, places, x], [out], decision="xla-call-sparse")


FORMS = """%fused (p: s32[2,3], q: s32[2,3]) -> s32[2,3] {
  %p = s32[2,3]{1,0:T(8,128)} parameter(0)
  %q = s32[2,3]{0,1} parameter(1)
  ROOT %a = s32[2,3]{1,0:T(8,128)S(1)} add(%p, %q)
}

%gemm (p.1: s32[2,3], q.1: s32[3,2]) -> s32[2,2] {
  %p.1 = s32[2,3]{1,0} parameter(0)
  %q.1 = s32[3,2]{1,0} parameter(1)
  ROOT %dot = s32[2,2]{1,0} dot(%p.1, %q.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={default,default}
}

%add (x.9: s32[], y.9: s32[]) -> s32[] {
  %x.9 = s32[] parameter(0)
  %y.9 = s32[] parameter(1)
  ROOT %add.9 = s32[] add(%x.9, %y.9)
}

%parallel_negate (p.2: s32[2,3]) -> s32[2,3] {
  %p.2 = s32[2,3]{1,0} parameter(0)
  ROOT %n = s32[2,3]{1,0} negate(%p.2), backend_config={"outer_dimension_partitions":["2"]}
}

%body (s: (s32[], s32[2,3])) -> (s32[], s32[2,3]) {
  %s = (s32[], s32[2,3]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = s32[2,3]{1,0} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %y = s32[2,3]{1,0} call(%x), to_apply=%parallel_negate, frontend_attributes={xla_cpu_small_call="true"}, backend_config={"outer_dimension_partitions":["2"]}
  ROOT %t = (s32[], s32[2,3]{1,0}) tuple(%j, %y)
}

%condition (s.1: (s32[], s32[2,3])) -> pred[] {
  %s.1 = (s32[], s32[2,3]{1,0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%s.1), index=0
  %n.1 = s32[] constant(3)
  ROOT %lt = pred[] compare(%i.1, %n.1), direction=LT
}

%squares (p.9: s32[2,3]) -> s32[2,3] {
  %p.9 = s32[2,3]{1,0} parameter(0)
  ROOT %sq = s32[2,3]{1,0} multiply(%p.9, %p.9)
}, execution_thread="parallel"

%bystander (p.10: s32[2,3]) -> s32[3,2] {
  %p.10 = s32[2,3]{0,1} parameter(0)
  %sliced = s32[2,3]{0,1} slice(%p.10), slice={[0:2], [0:3]}
  ROOT %b.10 = s32[3,2]{1,0} bitcast(%sliced)
}

ENTRY %main (a: s32[2,3], b: s32[2,3]) -> (s32[2,3], s32[3,2], s32[2,2], s32[2,3], s32[2,3], s32[2,3], s32[3,2]) {
  %a.1 = s32[2,3]{1,0:T(8,128)} parameter(0)
  %b = s32[2,3]{0,1} parameter(1)
  %fusion = s32[2,3]{1,0:T(8,128)S(1)} fusion(%a.1, %b), kind=kCustom, calls=%fused, backend_config={"operation_queue_id":"0","fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["2","3"]}]}}}
  %bitcast = s32[3,2]{1,0} bitcast(%b), control-predecessors={%fusion}
  %g = s32[2,2]{1,0} fusion(%a.1, %bitcast), kind=kCustom, calls=%gemm, backend_config={"fusion_backend_config":{"kind":"__triton_gemm","triton_gemm_config":{"block_m":"16","block_n":"16","block_k":"32","split_k":"1","num_stages":"1","num_warps":"4","num_ctas":"1"}}}
  %zero = s32[] constant(0)
  %init = (s32[], s32[2,3]{1,0}) tuple(%zero, %a.1)
  %while = (s32[], s32[2,3]{1,0}) while(%init), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"3"},"known_init_step":{"init":"0","step":"1"},"dynamic_variable_tuple_indices":[]}
  %w = s32[2,3]{1,0} get-tuple-element(%while), index=1
  %cs = (s32[2,3]{1,0:S(5)}, s32[2,3]{1,0}, u32[]) copy-start(%w)
  %cd = s32[2,3]{1,0:S(5)} copy-done(%cs)
  %as = ((s32[2,3]{1,0}), s32[2,3]{1,0}, s32[]) async-start(%w), calls=%squares, async_execution_thread="parallel"
  %au = ((s32[2,3]{1,0}), s32[2,3]{1,0}, s32[]) async-update(%as)
  %ad = s32[2,3]{1,0} async-done(%au)
  %ars = s32[2,3]{1,0} all-reduce-start(%ad), channel_id=1, replica_groups={{0}}, use_global_device_ids=true, to_apply=%add, backend_config={"collective_backend_config":{"is_sync":true}}
  %ard = s32[2,3]{1,0} all-reduce-done(%ars)
  %ds = s32[3,2]{1,0} fusion(%b), kind=kCustom, calls=%bystander, backend_config={"fusion_backend_config":{"kind":"__custom_fusion","custom_fusion_config":{"name":"address_computation","kernel_index":0}}}
  ROOT %r = (s32[2,3]{1,0:T(8,128)S(1)}, s32[3,2]{1,0}, s32[2,2]{1,0}, s32[2,3]{1,0:S(5)}, s32[2,3]{1,0}, s32[2,3]{1,0}, s32[3,2]{1,0}) tuple(%fusion, %bitcast, %g, %cd, %ad, %ard, %ds)
}
"""


def forms():
    """What optimized text holds besides calls; the second argument's columns lie behind each other, so that
    its bitcast turns it."""
    a, b = Array("s32", [2, 3], [1, -2, 3, 4, 5, -6]), Array("s32", [2, 3], [7, 8, 9, -1, 2, 3])
    turned = Array("s32", [3, 2], [b[i, j] for j in range(3) for i in range(2)])
    outs = [Array("s32", [2, 3], [x + y for x, y in zip(a.values, b.values)]), turned,
            Array("s32", [2, 2],
                  [sum(a[i, k] * turned[k, j] for k in range(3)) for i in range(2) for j in range(2)]),
            Array("s32", [2, 3], [-x for x in a.values])] + [
                Array("s32", [2, 3], [x * x for x in a.values])] * 2 + [turned]
    golden("optimized_forms", FORMS, [a, b], outs, oracle="hand",
           header=', is_scheduled=true, frontend_attributes={fingerprint_before_lhs="abc"}')


def refusals():
    a, b = Array.full("f32", [2, 3], 1.0), Array.full("f32", [3, 4], 1.0)
    d = Array.full("f32", [2, 4], 3.0)

    def refuse(name, message, config, target="__cublas$gemm", code=3, args=(a, b), out=d, attributes=""):
        golden("refuse_" + name, program(list(args), [out], target, config, attributes),
               args if code == 4 else (), refuse="%d %s" % (code, message))

    refuse("not_json", "CustomCall-C4: __cublas$gemm: backend_config", '"{\\"alpha_real\\":}"')
    refuse("alpha_is_text", "alpha_real = \"two\", wanted a number", nested(gemm_config(alpha="two")))
    refuse("list_is_number", "wanted a list of integers",
           nested({"dot_dimension_numbers": {"lhs_contracting_dimensions": 1}}))
    refuse("huge_dimension", "lhs_contracting_dimensions has 9223372036854775807, the operand has rank 2",
           nested(gemm_config(lc=(9223372036854775807,))))
    refuse("number_too_large", "does not fit in 64 bits",
           nested({"dot_dimension_numbers": {"lhs_contracting_dimensions": [99999999999999999999999]}}))
    refuse("contracting_sizes", "DotGeneral-C3", nested(gemm_config(lc=(0,))))
    refuse("no_c", "beta is 1, and there is no third operand", nested(gemm_config(beta=1)))
    refuse("no_bias", "the epilogue wants a bias", nested(gemm_config(epilogue="BIAS")), "__cublas$lt$matmul")
    refuse("one_operand_too_many", "operand 2 is one too many", nested(gemm_config()), args=(a, b, d))
    refuse("unknown_epilogue", "epilogue 'SILU'", nested(gemm_config(epilogue="SILU")), "__cublas$lt$matmul",
           4)
    refuse("block_scales", "scale_mode 2", nested(gemm_config(scale_mode=2)), "__cublas$lt$matmul$f8", 4)
    refuse("wrong_result", "declared shape is f32[4,2], inferred f32[2,4]", nested(gemm_config()),
           out=Array.full("f32", [4, 2], 1.0))
    x, w, y = (Array.full("f32", s, 1.0) for s in ([1, 2, 5, 5], [2, 2, 3, 3], [1, 2, 5, 5]))

    def conv(name, message, config=None, code=3, labels=None, target="__cudnn$convForward", args=None,
             out=None):
        refuse(name, message, config or conv_config(), target, code, args or (x, w), out or y,
               NCHW.text() if labels is None else labels)

    conv("no_dim_labels", "dim_labels are missing", labels="window={size=3x3 pad=1_1x1_1}")
    conv("unknown_activation", "activation 'kBandPass'", conv_config("kBandPass"), 4,
         target="__cudnn$convBiasActivationForward", args=(x, w, Array.full("f32", [2], 1.0)))
    conv("side_without_operand", "side_input_scale is 2, and there is no fourth operand", conv_config(side=2),
         target="__cudnn$convBiasActivationForward", args=(x, w, Array.full("f32", [2], 1.0)))
    conv("bias_size", "the bias has sizes {3}", target="__cudnn$convBiasActivationForward",
         args=(x, w, Array.full("f32", [3], 1.0)))
    conv("reordered_filter", "reordered_int8_nchw_vect", conv_config(reordered_int8_nchw_vect=True), 4)
    conv("backward_huge_padding", "out of all proportion", target="__cudnn$convBackwardInput",
         labels="window={size=3x3 pad=1_9223372036854775807x1_1}, dim_labels=bf01_oi01->bf01")
    conv("backward_sizes", "the forward convolution of size 5 gives 3, here 5",
         target="__cudnn$convBackwardInput", labels="window={size=3x3}, dim_labels=bf01_oi01->bf01")
    conv("graph_text", "serialized_graph: at byte 2: wanted ':['", conv_config(serialized_graph="12conv()"),
         target="__cudnn$convForwardGraph")
    conv("graph_operation", "operation 'swish'",
         conv_config(serialized_graph="1:[f32]conv();2:[f32]swish(1);"), 4,
         target="__cudnn$convForwardGraph")
    conv("graph_uid", "7 stands nowhere before",
         conv_config(serialized_graph="1:[f32]conv();2:[f32]relu(7);"),
         target="__cudnn$convForwardGraph")
    refuse("prepacked_weights", "weights_prepacked",
           {"onednn_matmul_config": {"optimization_config": {"weights_prepacked": True}}},
           "__onednn$matmul", 4)
    refuse("norm_backward", "kind 'LAYER_BWD'", {"cudnn_norm_backend_config": {"kind": "LAYER_BWD"}},
           "__cudnn$norm", 4)
    for name, target, reason in (("fused_attention", "__cudnn$fmhaSoftmax", "fused attention"),
                                 ("triton", "__triton$kernel", "the Triton kernel in it"),
                                 ("block_scaled_matmul", "__cublas$lt$matmul$mx", "cuBLAS's own"),
                                 ("reordered_weights", "__onednn$matmul_reorder", "oneDNN's own")):
        golden("refuse_" + name, program([a, b], [d], target, ""), [a, b], refuse="4 " + reason)


if __name__ == "__main__":
    dry = written.dry_run(__doc__)
    gemms()
    convolutions()
    graphs()
    normalizations()
    onednn()
    others()
    forms()
    refusals()
    SCRIPT.finish(dry)
