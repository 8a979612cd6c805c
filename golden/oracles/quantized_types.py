"""golden/quantized: types, constants, boundaries, uniform_quantize and uniform_dequantize."""
from quantized_base import Array, Quantized, Table, dequantized, quantized, reals

EXPRESSED = ["f32", "f16", "bf16", "f64", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f6e2m3fn", "f4e2m1fn"]
STORAGE = ["s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32"]


def roundtrip(table, name, type, shape, numbers, oracle="rational", expected=None):
    x = reals(type.expressed.name, shape, numbers)
    q = quantized(type, shape, x.data)
    assert expected is None or q.data == expected, (name, q.data, expected)
    d = dequantized(q)
    table.gives(name, [x], [q, d], f"""
%0 = stablehlo.uniform_quantize %a : ({x.tensor()}) -> {q.tensor()}
%1 = stablehlo.uniform_dequantize %0 : ({q.tensor()}) -> {d.tensor()}
return %0, %1 : {q.tensor()}, {d.tensor()}""", oracle)


def quantize(table):
    numbers = [0.625, 0.875, -0.125, 40, -33, "nan", "inf"]
    roundtrip(table, "quantize_signed", Quantized("s8", scales=0.25, zeros=-3), [7], numbers, "spec",
              [0, 0, -4, 127, -128, 0, 127])
    roundtrip(table, "quantize_range", Quantized("u8", scales=0.25, zeros=3, low=1, high=200), [7], numbers,
              "spec", [6, 6, 2, 163, 1, 1, 200])
    roundtrip(table, "quantize_rounds_quotient", Quantized("s8", scales=0.1), [1], [0.35], "spec", [4])
    for e in EXPRESSED:
        for s in STORAGE:
            scale = 0.75 if e != "f4e2m1fn" else 1.0
            width = int(s[1:])
            zero = {2: 1, 4: 3, 8: 5, 16: 300, 32: 70001}[width]
            t = Quantized(s, e, scale, zero)
            small = [0, 0.375, -0.375, 1.125, -1.5, 3, -2.25, 7.5, 200, -200, 1e5, -1e5, 3e9, -3e9, 1e38,
                     "inf", "-inf", "nan", "-0"]
            if t.expressed.specials == "finite":
                small = [x for x in small if x not in ("inf", "-inf", "nan")]
            elif t.expressed.specials != "ieee":
                small = [x for x in small if x not in ("inf", "-inf")]
            if t.expressed.specials == "fnuz":
                small.remove("-0")
            roundtrip(table, f"roundtrip_{s}_{e}", t, [len(small)], small)
    roundtrip(table, "per_axis", Quantized("s8", scales=[0.5, 0.125, 3.0], zeros=[10, -4, 0], axis=1), [2, 3],
              [1, 2, 3, -0.5, 0.3125, 1e9])
    roundtrip(table, "per_axis_one_pair", Quantized("u8", scales=[0.1], zeros=[7], axis=0), [1, 3],
              [0.25, 0.35, 30])
    roundtrip(table, "range_excludes_zero", Quantized("s8", scales=0.5, zeros=5, low=3, high=9), [4],
              [0, "nan", 9, -9])
    roundtrip(table, "no_elements", Quantized("s8", scales=0.5), [0, 2], [])
    roundtrip(table, "scalar", Quantized("s16", scales=0.001, zeros=-9), [], [1.0005])
    roundtrip(table, "scale_overflows", Quantized("s8", "f16", scales=60000.0), [3], [60000, -65504, "inf"])


def identity(table):
    """QUANT-18: every storage comes back where it must."""
    for s, e, scale, zero in (("s8", "f32", 0.1, 3), ("u8", "f16", 0.75, 100), ("s4", "bf16", 0.3, -2),
                              ("s8", "bf16", 0.75, 0)):
        t = Quantized(s, e, scale, zero)
        q = Array(t, [1 << t.storage.width], range(t.low, t.high + 1))
        d = dequantized(q)
        back = quantized(t, q.shape, d.data)
        assert (back.data == q.data) == (e != "bf16" or s != "s8")
        table.gives(f"every_storage_{s}_{e}", [q], [d, back], f"""
%0 = stablehlo.uniform_dequantize %a : ({q.tensor()}) -> {d.tensor()}
%1 = stablehlo.uniform_quantize %0 : ({d.tensor()}) -> {q.tensor()}
return %0, %1 : {d.tensor()}, {q.tensor()}""")


def requantize(table):
    def case(name, a, b, shape, storage, oracle="rational", expected=None):
        x = Array(a, shape, storage)
        y = quantized(b, shape, x.reals())
        assert expected is None or y.data == expected, y.data
        tail = x.tensor() if a is b else f"({x.tensor()}) -> {y.tensor()}"
        table.gives(name, [x], [y], f"%0 = stablehlo.uniform_quantize %a : {tail}\nreturn %0 : {y.tensor()}",
                    oracle)
    a = Quantized("s8", scales=[0.5, 0.125], zeros=[10, -4], axis=0)
    case("requantize_per_axis", a, Quantized("s8", scales=[0.25, 0.25], zeros=[0, 7], axis=0), [2, 3],
         [12, 10, -20, -4, 0, 127], "spec", [4, 0, -60, 7, 9, 72])
    case("requantize_to_tensor", a, Quantized("s8", scales=0.25, zeros=1), [2, 2], [12, 10, -4, 100])
    case("requantize_to_axis", Quantized("s8", scales=0.25, zeros=1), a, [2, 2], [12, 10, -4, 100])
    case("requantize_other_axis", a, Quantized("s16", scales=[0.01, 0.5, 3.0], zeros=[1, 2, 3], axis=1),
         [2, 3], [12, 10, -20, -4, 0, 127])
    case("requantize_wider", Quantized("u8", scales=0.5, zeros=128), Quantized("s32", scales=0.001), [3],
         [0, 128, 255])
    t = Quantized("s8", "bf16", 0.75)
    case("requantize_same_type", t, t, [4], [-127, -95, 1, 0], "spec", [t.quantize(t.real(-127)),
                                                                        t.quantize(t.real(-95)), 1, 0])


def constants(table):
    t = Quantized("s8", scales=0.5, zeros=3)
    q = Array(t, [2], [3, -7])
    table.gives("constant", [], [q, dequantized(q)], f"""
%0 = stablehlo.constant dense<[3, -7]> : {q.tensor()}
%1 = stablehlo.uniform_dequantize %0 : ({q.tensor()}) -> tensor<2xf32>
return %0, %1 : {q.tensor()}, tensor<2xf32>""", "hand")
    table.gives("constant_generic", [], [q], f"""
%0 = "stablehlo.constant"() {{value = dense<[3, -7]> : tensor<2xi8>}} : () -> {q.tensor()}
return %0 : {q.tensor()}""", "hand")
    table.gives("constant_unquoted", [], [q], f"""
%0 = stablehlo.constant() {{value = dense<[3, -7]> : tensor<2xi8>}} : () -> {q.tensor()}
return %0 : {q.tensor()}""", "hand")
    splat = Array(t, [2, 2], [-5] * 4)
    table.gives("constant_splat", [], [splat], f"""
%0 = stablehlo.constant dense<-5> : {splat.tensor()}
return %0 : {splat.tensor()}""", "hand")
    u = Quantized("u8", scales=0.5, zeros=3)
    high = Array(u, [3], [255, 128, 1])
    table.gives("constant_signless_for_unsigned", [], [high, dequantized(high)], f"""
%0 = "stablehlo.constant"() {{value = dense<[-1, 128, 1]> : tensor<3xi8>}} : () -> {high.tensor()}
%1 = stablehlo.uniform_dequantize %0 : ({high.tensor()}) -> tensor<3xf32>
return %0, %1 : {high.tensor()}, tensor<3xf32>""", "hand")
    u4 = Quantized("u4", scales=0.5)
    nibbles = Array(u4, [3], [15, 8, 1])
    table.gives("constant_signless_for_u4", [], [nibbles, dequantized(nibbles)], f"""
%0 = "stablehlo.constant"() {{value = dense<[-1, 8, 1]> : tensor<3xi4>}} : () -> {nibbles.tensor()}
%1 = stablehlo.uniform_dequantize %0 : ({nibbles.tensor()}) -> tensor<3xf32>
return %0, %1 : {nibbles.tensor()}, tensor<3xf32>""", "hand")
    wide = Array(Quantized("s16", scales=1.0), [2], [258, -2])
    table.gives("constant_bytes", [], [wide], f"""
%0 = stablehlo.constant dense<"0x0201FEFF"> : {wide.tensor()}
return %0 : {wide.tensor()}""", "hand")
    narrow = Quantized("s8", scales=0.5, low=-10, high=10)
    outside = Array(narrow, [3], [100, -128, 4])
    doubled = quantized(narrow, [3], [narrow.real(q) for q in outside.data])
    table.gives("storage_outside_range", [outside], [outside, dequantized(outside), doubled], f"""
%0 = stablehlo.constant dense<[100, -128, 4]> : {outside.tensor()}
%1 = stablehlo.uniform_dequantize %a : ({outside.tensor()}) -> tensor<3xf32>
%2 = stablehlo.uniform_quantize %0 : {outside.tensor()}
return %0, %1, %2 : {outside.tensor()}, tensor<3xf32>, {outside.tensor()}""", "rational",
                "quantized-arithmetic")
    axis = Array(Quantized("s4", scales=[0.5, 2.0], zeros=[1, -1], axis=1), [1, 2], [7, -8])
    table.gives("constant_per_axis", [], [axis, dequantized(axis)], f"""
%0 = stablehlo.constant dense<[[7, -8]]> : {axis.tensor()}
%1 = stablehlo.uniform_dequantize %0 : ({axis.tensor()}) -> tensor<1x2xf32>
return %0, %1 : {axis.tensor()}, tensor<1x2xf32>""")


def spellings(table):
    """One type in several spellings: what is returned is of the type that was made."""
    q = Array(Quantized("s8", scales=0.5), [2], [3, -7])
    for name, spelled in (("range", "!quant.uniform<i8<-128:127>:f32, 0.5:0>"),
                          ("short", "!quant.uniform<i8:f32, 0.5>"),
                          ("exponent", "!quant.uniform<i8:f32, 5.0e-1>"),
                          ("bits", "!quant.uniform<i8:f32, 0x3FE0000000000000>"),
                          ("blanks", "!quant.uniform< i8 < -128 : 127 > : f32 , 0.5 : 0 >")):
        table.gives(f"spelled_{name}", [q], [q], f"""
%0 = stablehlo.optimization_barrier %a : {q.tensor()}
%1 = stablehlo.reverse %0, dims = [] : (tensor<2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<2x{spelled}>
return %1 : tensor<2x{spelled}>""", "hand")
    u = Array(Quantized("u8", scales=0.5), [2], [3, 200])
    table.gives("spelled_unsigned", [u], [u], """
%0 = stablehlo.reverse %a, dims = [] : (tensor<2x!quant.uniform<ui8:f32, 0.5>>) -> tensor<2x!quant.uniform<u8:f32, 0.5>>
return %0 : tensor<2x!quant.uniform<u8<0:255>:f32, 0.5>>""", "hand")
    table.gives("spelled_alias", [q], [q], """
%0 = stablehlo.reverse %a, dims = [] : tensor<2x!q>
return %0 : !t""", "hand", before="!q = !quant.uniform<i8:f32, 0.5>\n!t = tensor<2x!q>\n")


def files():
    table = Table()
    for part in (quantize, identity, requantize, constants, spellings):
        part(table)
    return table.files
