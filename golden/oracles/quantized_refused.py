"""golden/quantized: what breaks a rule, by its label."""
from quantized_base import Table

Q = "!quant.uniform<i8:f32, 0.5:3>"
T = f"tensor<2x{Q}>"
AXIS = "!quant.uniform<i8:f32:0, {0.5:3, 0.25}>"
PT = f"tensor<2x{AXIS}>"

# label, name, element type
TYPES = [
    (3, "QUANT-2", "storage_si8", "!quant.uniform<si8:f32, 0.5>"),
    (3, "QUANT-2", "storage_i1", "!quant.uniform<i1:f32, 0.5>"),
    (3, "QUANT-2", "storage_i7", "!quant.uniform<i7:f32, 0.5>"),
    (3, "QUANT-2", "storage_float", "!quant.uniform<f32:f32, 0.5>"),
    (4, "QUANT-2", "storage_i64", "!quant.uniform<i64:f32, 0.5>"),
    (3, "QUANT-3", "range_empty", "!quant.uniform<i8<5:5>:f32, 0.5:5>"),
    (3, "QUANT-3", "range_low", "!quant.uniform<i8<-129:127>:f32, 0.5>"),
    (3, "QUANT-3", "range_high", "!quant.uniform<u8<0:256>:f32, 0.5>"),
    (3, "QUANT-3", "range_of_unsigned", "!quant.uniform<u8<-1:5>:f32, 0.5>"),
    (3, "QUANT-4", "expressed_integer", "!quant.uniform<i8:i32, 0.5>"),
    (4, "QUANT-4", "expressed_e8m0", "!quant.uniform<i8:f8E8M0FNU, 0.5>"),
    (3, "QUANT-5", "scale_integer", "!quant.uniform<i8:f32, 1>"),
    (3, "QUANT-5", "scale_zero", "!quant.uniform<i8:f32, 0.0>"),
    (3, "QUANT-5", "scale_negative", "!quant.uniform<i8:f32, -0.5>"),
    (3, "QUANT-5", "scale_infinite", "!quant.uniform<i8:f32, 0x7FF0000000000000>"),
    (3, "QUANT-5", "scale_nan", "!quant.uniform<i8:f32, 0x7FF8000000000000>"),
    (3, "QUANT-5", "scale_of_f16_large", "!quant.uniform<i8:f16, 65536.0>"),
    (3, "QUANT-5", "scale_of_f16_small", "!quant.uniform<i8:f16, 1.0e-8>"),
    (3, "QUANT-6", "zero_point_outside", "!quant.uniform<i8:f32, 0.5:128>"),
    (3, "QUANT-6", "zero_point_outside_range", "!quant.uniform<i8<-5:5>:f32, 0.5:6>"),
    (3, "QUANT-7", "axis_without_braces", "!quant.uniform<i8:f32:0, 0.5>"),
    (3, "QUANT-7", "braces_without_axis", "!quant.uniform<i8:f32, {0.5, 0.5}>"),
    (3, "QUANT-8", "axis_negative", "!quant.uniform<i8:f32:-1, {0.5, 0.5}>"),
    (3, "QUANT-8", "axis_beyond", "!quant.uniform<i8:f32:1, {0.5, 0.5}>"),
    (3, "QUANT-8", "axis_of_other_size", "!quant.uniform<i8:f32:0, {0.5, 0.5, 0.5}>"),
    (4, "QUANT-9", "sub_channel", "!quant.uniform<i8:f32:{0:1}, {0.5, 0.5}>"),
    (4, "QUANT-9", "any", "!quant.any<i8:f32>"),
    (4, "QUANT-9", "calibrated", "!quant.calibrated<f32<-1.0:1.0>>"),
    (3, "QUANT-1", "complex", "complex<!quant.uniform<i8:f32, 0.5>>"),
]


def scalars(type):
    return f"""^bb0(%x: tensor<{type}>, %y: tensor<{type}>):
    %s = stablehlo.maximum %x, %y : tensor<{type}>
    stablehlo.return %s : tensor<{type}>"""


def matrix(element, rows=2, columns=2):
    return f"tensor<{rows}x{columns}x{element}>"


def u(scale=0.5, zero=3, storage="i8", expressed="f32", axis=None, count=2):
    if axis is None:
        return f"!quant.uniform<{storage}:{expressed}, {scale}:{zero}>"
    return f"!quant.uniform<{storage}:{expressed}:{axis}, {{{', '.join([f'{scale}:{zero}'] * count)}}}>"


def op(name, operands, result, text=None, code=3):
    """One operation on %a, %b, ... with these types."""
    names = ", ".join("%" + "abcdef"[i] for i in range(len(operands)))
    body = f"%0 = {text or 'stablehlo.' + name + ' ' + names} : ({', '.join(operands)}) -> {result}\nreturn %0 : {result}"
    return code, operands, result, body


def v(element, n=2):
    return f"tensor<{n}x{element}>"


CONV = """stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
  {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"""
DOT = "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
REDUCE = '"stablehlo.reduce"(%a, %b) ({{ {} }}) {{dimensions = array<i64: 0>}}'
CONVERTED = [("convert", "tensor<2xf32>"), ("not", T), ("popcnt", T), ("count_leading_zeros", T), ("real", T)]


def operations():
    yield "QUANT-20", "quantize_other_expressed", *op("uniform_quantize", [v("f16")], T)
    yield "QUANT-20", "quantize_to_float", *op("uniform_quantize", [v("f32")], v("f32"))[:2], v("f32"), f"""
%q = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> {T}
%0 = stablehlo.uniform_quantize %q : ({T}) -> tensor<2xf32>
return %0 : tensor<2xf32>"""
    yield "QUANT-20", "quantize_other_shape", *op("uniform_quantize", [v("f32", 3)], T)
    yield "QUANT-20", "requantize_other_expressed", *op("uniform_quantize", [T], v(u(expressed="f16")))
    yield "QUANT-20", "dequantize_other_expressed", *op("uniform_dequantize", [T], v("f16"))
    yield "QUANT-20", "dequantize_to_quantized", *op("uniform_dequantize", [T], T)
    yield "QUANT-20", "dequantize_other_shape", *op("uniform_dequantize", [T], v("f32", 3))
    for name, result in CONVERTED:
        yield "QUANT-21", f"unary_{name}", *op(name, [T], result)
    for name in ("and", "shift_left", "complex"):
        yield "QUANT-21", f"binary_{name}", *op(name, [T, T], T)
    yield "QUANT-21", "per_axis_multiply", *op("multiply", [PT, PT], PT)
    yield "QUANT-21", "per_axis_slice", *op("slice", [PT], PT, "stablehlo.slice %a [0:2]")
    yield "QUANT-21", "mixed_multiply", *op("multiply", [T, v("f32")], T)
    yield "QUANT-21", "float_result", *op("abs", [T], v("f32"))
    yield "QUANT-21", "integer_concatenated", *op("", [T, v("i8")], v(Q, 4),
                                                  "stablehlo.concatenate %a, %b, dim = 0")
    yield "QUANT-21", "compare_gives_quantized", *op("", [T, T], T, "stablehlo.compare LT, %a, %b")
    yield "QUANT-21", "compare_with_float", *op("", [T, v("f32")], v("i1"), "stablehlo.compare LT, %a, %b")
    yield "Compare-C2", "compare_signed", *op("", [T, T], v("i1"), "stablehlo.compare LT, %a, %b, SIGNED")
    yield "QUANT-21", "map_gives_float", *op("", [T], v("f32"), f"""\"stablehlo.map\"(%a) ({{
  ^bb0(%x: tensor<{Q}>):
    %y = stablehlo.uniform_dequantize %x : (tensor<{Q}>) -> tensor<f32>
    stablehlo.return %y : tensor<f32> }}) {{dimensions = array<i64: 0>}}""")
    yield "QUANT-21", "select_float", *op("select", [v("i1"), T, v("f32")], T)
    yield "QUANT-21", "index_quantized", *op("", [T, f"tensor<{Q}>"], T,
                                             "stablehlo.dynamic_slice %a, %b, sizes = [2]")
    yield "QUANT-21", "update_plain", *op("", [T, v("i8", 1), "tensor<i32>"], T,
                                          "stablehlo.dynamic_update_slice %a, %b, %c")
    yield "QUANT-21", "per_axis_lhs", *op("", [matrix(u(axis=0, zero=0)), matrix(u())], matrix(u()),
                                          "stablehlo.dot %a, %b")
    for name, storage, expressed in (("storage", "u8", "f32"), ("expressed", "i8", "f16"),
                                     ("range", "i8<-127:127>", "f32")):
        other = v(u(storage=storage, expressed=expressed))
        yield "QUANT-22", f"multiply_other_{name}", *op("multiply", [T, T], other)
        yield "QUANT-22", f"compare_other_{name}", *op("", [T, other], v("i1"),
                                                       "stablehlo.compare LT, %a, %b")
        if name != "range":
            yield "QUANT-23", f"add_other_{name}", *op("add", [T, other], T)
    yield "QUANT-22", "select_other", *op("select", [v("i1"), T, T], v(u(storage="i16")))
    yield "QUANT-22", "clamp_other", *op("clamp", [T, T, T], v(u(storage="i16")))
    yield "QUANT-23", "add_float", *op("add", [T, v("f32")], T)
    yield "QUANT-23", "add_axis_lost", *op("add", [PT, T], T)
    yield "QUANT-23", "add_axis_made", *op("add", [T, T], PT)
    yield "QUANT-23", "add_other_axis", *op("add", [matrix(u(axis=0)), matrix(u(axis=1))], matrix(u(axis=0)))
    m = matrix(u(zero=0))
    yield "QUANT-24", "dot_float_rhs", *op("", [m, matrix("f32")], m, DOT)
    yield "QUANT-24", "dot_hybrid_to_quantized", *op("", [matrix("f32"), m], m, DOT)
    yield "QUANT-24", "dot_to_float", *op("", [m, m], matrix("f32"), DOT)
    yield "QUANT-25", "dot_other_storage", *op("", [matrix(u(storage="u8")), m], m, DOT)
    yield "QUANT-25", "dot_other_expressed", *op("", [matrix(u(expressed="f16")), m], m, DOT)
    yield "QUANT-25", "dot_axis_of_result", *op("", [m, m], matrix(u(axis=1)), DOT)
    yield "QUANT-26", "dot_hybrid_f16", *op("", [matrix("f16"), m], matrix("f16"), DOT)
    yield "QUANT-27", "dot_zero_point", *op("", [m, matrix(u())], m, DOT)
    yield "QUANT-28", "dot_axis_contracted", *op("", [m, matrix(u(axis=0, zero=0))], m, DOT)
    x, k = "tensor<1x4x1x" + u() + ">", "tensor<2x1x2x{}>"
    y = "tensor<1x3x2x{}>"
    yield "QUANT-24", "conv_float_rhs", *op("", [x, k.format("f32")], y.format(u()), CONV)
    yield "QUANT-28", "conv_axis_of_rhs", *op("", [x, k.format(u(axis=0))], y.format(u()), CONV)
    yield "QUANT-28", "conv_axis_of_result", *op("", [x, k.format(u(axis=2))], y.format(u(axis=1, count=3)),
                                                 CONV)
    yield "QUANT-25", "conv_axis_without_rhs", *op("", [x, k.format(u())], y.format(u(axis=2)), CONV)
    yield "QUANT-26", "conv_hybrid_result", *op("", ["tensor<1x4x1xf32>", k.format(u())], y.format("f16"),
                                                CONV)
    yield "QUANT-29", "reverse_other_scale", *op("", [T], v(u(0.25)), "stablehlo.reverse %a, dims = [0]")
    yield "QUANT-29", "pad_other_scale", *op("", [T, f"tensor<{u(0.25)}>"], T,
                                             "stablehlo.pad %a, %b, low = [0], high = [0]")
    yield "QUANT-29", "reshape_other_zero_point", *op("reshape", [T], v(u(zero=4)))
    yield "QUANT-29", "transpose_loses_axis", *op("", [PT], T, "stablehlo.transpose %a, dims = [0]")
    yield "QUANT-29", "broadcast_other_scale", *op("", [T], v(u(0.25)),
                                                   "stablehlo.broadcast_in_dim %a, dims = [0]")
    yield "QUANT-29", "broadcast_other_storage", *op("", [PT], v(u(axis=0, storage="u8")),
                                                     "stablehlo.broadcast_in_dim %a, dims = [0]")
    yield "QUANT-29", "barrier_other_scale", *op("", [T], v(u(0.25)), "stablehlo.optimization_barrier %a")
    yield "QUANT-30", "transpose_axis", *op("", [matrix(u(axis=0))], matrix(u(axis=0)),
                                            "stablehlo.transpose %a, dims = [1, 0]")
    yield "QUANT-30", "reshape_axis", *op("reshape", [matrix(u(axis=0), 2, 4)],
                                          "tensor<4x2x" + u(axis=1) + ">")
    yield "QUANT-30", "broadcast_axis", *op("", [PT], matrix(u(axis=0)),
                                            "stablehlo.broadcast_in_dim %a, dims = [1]")
    yield "QUANT-30", "broadcast_one_pair", *op("", ["tensor<1x" + u(axis=0, count=1) + ">"],
                                                v(u(0.25, axis=0)),
                                                "stablehlo.broadcast_in_dim %a, dims = [0]")
    s = f"tensor<{Q}>"
    wide = u(storage="i32")
    yield "QUANT-31", "reduce_init_differs", *op("", [T, f"tensor<{u(0.25)}>"], s, REDUCE.format(scalars(Q)))
    yield "QUANT-31", "reduce_narrows", *op("", [v(wide), f"tensor<{wide}>"], s, REDUCE.format(scalars(Q)))
    yield "QUANT-31", "reduce_result_differs", *op("", [T, s], f"tensor<{wide}>", REDUCE.format(scalars(Q)))
    yield "QUANT-31", "reduce_other_expressed", *op("", [T, s], f"tensor<{u(expressed='f16')}>",
                                                    REDUCE.format(scalars(u(expressed="f16"))))
    yield "QUANT-31", "reduce_of_floats", *op("", [v("f32"), "tensor<f32>"], s, REDUCE.format(scalars(Q)))
    yield "QUANT-31", "sort_region_differs", *op("", [T], T, f"""\"stablehlo.sort\"(%a) ({{
  ^bb0(%x: tensor<{wide}>, %y: tensor<{wide}>):
    %s = stablehlo.compare LT, %x, %y : (tensor<{wide}>, tensor<{wide}>) -> tensor<i1>
    stablehlo.return %s : tensor<i1> }}) {{dimension = 0 : i64}}""")
    yield "QUANT-31", "map_region_differs", *op("", [T], T, f"""\"stablehlo.map\"(%a) ({{
  ^bb0(%x: tensor<{wide}>): stablehlo.return %x : tensor<{wide}> }}) {{dimensions = array<i64: 0>}}""")
    yield "QUANT-12", "constant_float", *op("", [], T,
                                            '"stablehlo.constant"() {value = dense<1.0> : tensor<2xf32>}')
    yield "QUANT-12", "constant_wider", *op("", [], T,
                                            '"stablehlo.constant"() {value = dense<1> : tensor<2xi16>}')
    yield "QUANT-12", "constant_unsigned", *op("", [], T,
                                               '"stablehlo.constant"() {value = dense<1> : tensor<2xui8>}')
    yield "does not fit in", "constant_too_large", 3, [
        ], T, f"%0 = stablehlo.constant dense<256> : {T}\nreturn %0 : {T}"
    yield "want an integer", "constant_of_real", 3, [
        ], T, f"%0 = stablehlo.constant dense<1.0> : {T}\nreturn %0 : {T}"
    other = v(u(0.25))
    yield "QUANT-10", "returned_differs", 3, [T], other, f"return %a : {T}"
    yield "QUANT-10", "branch_differs", *op("", ["tensor<i1>", T], other, f"""\"stablehlo.if\"(%a) ({{ stablehlo.return %b : {T} }},
  {{ stablehlo.return %b : {T} }})""".replace("%a, %b", "%a"))[:3], f"""
%0 = "stablehlo.if"(%a) ({{ stablehlo.return %b : {T} }}, {{ stablehlo.return %b : {T} }}) : (tensor<i1>) -> {other}
return %0 : {other}"""
    yield "QUANT-10", "while_differs", 3, [T], T, f"""
%0 = stablehlo.while(%x = %a) : {T} cond {{
  %p = stablehlo.constant dense<false> : tensor<i1>
  stablehlo.return %p : tensor<i1>
}} do {{
  %y = stablehlo.uniform_quantize %x : ({T}) -> {other}
  stablehlo.return %y : {other}
}}
return %0 : {T}"""
    yield "QUANT-10", "tuple_differs", *op("", [T, T], f"tuple<{T}, {other}>", "stablehlo.tuple %a, %b")[:3], f"""
%0 = "stablehlo.tuple"(%a, %b) : ({T}, {T}) -> tuple<{T}, {other}>
return %0 : tuple<{T}, {other}>"""
    yield "QUANT-1", "value_alone", 3, [Q], Q, f"return %a : {Q}"
    yield "QUANT-1", "in_a_tuple", 3, [f"tuple<{Q}>"], f"tuple<{Q}>", f"return %a : tuple<{Q}>"
    yield "BitcastConvertType-C5: ", "bitcast_shape", *op("bitcast_convert", [T], v(u(storage="i16")))
    yield "QUANT-8", "bitcast_axis", *op("bitcast_convert", [v(Q, 4)], v(u(axis=0), 4))
    yield "with quantized types", "einsum", *op(
        "", [m, m], m, '"stablehlo.einsum"(%a, %b) {einsum_config = "ij,jk->ik"}', code=4)
    yield "with quantized types", "custom_call", *op("", [T], T, "stablehlo.custom_call @foo(%a)", code=4)
    yield "with quantized types", "chlo", *op("", [T], T, "chlo.erf %a", code=4)


def files():
    table = Table()
    for code, label, name, element in TYPES:
        tensor = f"tensor<2x{element}>"
        text = f"{label}: " if label.startswith("QUANT") else label
        table.refuses(f"refuse_{name}", code, text, [tensor], [tensor], f"return %a : {tensor}")
    for label, name, code, operands, result, body in operations():
        text = f"{label}: " if label.startswith("QUANT") else label
        table.refuses(f"refuse_{name}", code, text, operands, [result], body)
    return table.files
