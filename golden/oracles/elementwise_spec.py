"""The worked examples of docs/spec/operations-elementwise.md, and programs that its constraints refuse."""


def case(name, op, operands, result, attributes="", decision=None):
    """operands and result: "type[dims] values"; the program is the one instruction."""
    header = ["oracle: spec"] + ([f"decision: {decision}"] if decision else [])
    shapes = [operand.split(" ")[0] for operand in operands]
    header += [f"arg{i}: {operand}" for i, operand in enumerate(operands)] + [f"out0: {result}"]
    body = [f"p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes)]
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    body.append(f"ROOT r = {result.split(' ')[0]} {op}({names}){attributes}")
    return f"{op}_spec{'_' + name if name else ''}", header, body


S32_MIN = -2147483648
SPEC_CASES = [
    case("s8", "abs", ["s8[2] {-128, -5}"], "s8[2] {-128, 5}"),
    case("complex", "abs", ["c64[2] {(3, 4), (3e38, 3e38)}"], "f32[2] {5, inf}"),
    case("complex_infinity", "abs", ["c64[3] {(inf, nan), (nan, -inf), (nan, 1)}"], "f32[3] {inf, inf, nan}"),
    case("zeros", "abs", ["f32[3] {-0.0, -inf, -nan}"], "f32[3] {0, inf, nan}"),
    case("unsigned", "negate", ["u8[2] {1, 0}"], "u8[2] {255, 0}"),
    case("minimum", "negate", ["s16[2] {-32768, 7}"], "s16[2] {-32768, -7}"),
    case("zeros", "negate", ["f32[4] {0, -0.0, inf, nan}"], "f32[4] {-0.0, 0, -inf, nan}"),
    case("", "sign", ["f32[5] {-3, -0.0, 0, nan, 7}"], "f32[5] {-1, -0.0, 0, nan, 1}"),
    case("complex", "sign", ["c64[3] {(3, 4), (0, -0.0), (nan, 1)}"],
         "c64[3] {(0x1.333334p-1, 0x1.99999ap-1), (0, 0), (nan, nan)}"),
    case("complex_infinity", "sign", ["c64[2] {(inf, 1), (1, -inf)}"], "c64[2] {(nan, 0), (0, nan)}"),
    case("", "popcnt", ["s8[4] {0, 1, -1, 64}"], "s8[4] {0, 1, 8, 1}"),
    case("s2", "popcnt", ["s2[2] {-1, 1}"], "s2[2] {-2, 1}"),
    case("scalar", "popcnt", ["u64[] 18446744073709551615"], "u64[] 64"),
    case("", "count-leading-zeros", ["s8[4] {0, 1, -1, 64}"], "s8[4] {8, 7, 0, 1}"),
    case("s4", "count-leading-zeros", ["s4[2] {0, 1}"], "s4[2] {4, 3}"),
    case("scalar", "count-leading-zeros", ["u64[] 1"], "u64[] 63"),
    case("zeros", "ceil", ["f32[5] {-0.5, -0.0, 0, inf, nan}"], "f32[5] {-0.0, -0.0, 0, inf, nan}"),
    case("scalar", "ceil", ["bf16[] 1.5"], "bf16[] 2"),
    case("zeros", "floor", ["f32[5] {0.5, -0.0, -0.5, -inf, nan}"], "f32[5] {0, -0.0, -1, -inf, nan}"),
    case("scalar", "floor", ["f64[] -1.5"], "f64[] -2"),
    case("", "round-nearest-afz", ["f32[6] {0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997}"],
         "f32[6] {1, 2, 3, -1, -2, 0}"),
    case("", "round-nearest-even", ["f32[6] {0.5, 1.5, 2.5, -0.5, -1.5, -2.5}"],
         "f32[6] {0, 2, 2, -0.0, -2, -2}"),
    case("zeros", "round-nearest-afz", ["f16[3] {-0.25, 0.25, -0.0}"], "f16[3] {-0.0, 0, -0.0}"),
    case("zeros", "round-nearest-even", ["f16[3] {-0.25, 0.25, -0.0}"], "f16[3] {-0.0, 0, -0.0}"),
    case("", "is-finite", ["f32[5] {inf, -inf, nan, 0, 3e38}"], "pred[5] {false, false, false, true, true}"),
    case("e8m0", "is-finite", ["f8e8m0fnu[2] {nan, 1}"], "pred[2] {false, true}"),
    case("scalar", "is-finite", ["f4e2m1fn[] 6"], "pred[] true"),
    case("scalar", "not", ["pred[] true"], "pred[] false"),
    case("scalar_s4", "not", ["s4[] 7"], "s4[] -8"),
    case("wraps", "add", ["s8[1] {100}", "s8[1] {100}"], "s8[1] {-56}"),
    case("sub_byte", "add", ["s4[2] {7, -8}", "s4[2] {7, -8}"], "s4[2] {-2, 0}"),
    case("pred", "add", ["pred[4] {false, false, true, true}", "pred[4] {false, true, false, true}"],
         "pred[4] {false, true, true, true}"),
    case("zeros", "add", ["f32[4] {inf, 1.5, -0.0, -0.0}", "f32[4] {-inf, -1.5, -0.0, 0}"],
         "f32[4] {nan, 0, -0.0, 0}"),
    case("invalid", "multiply", ["f32[2] {0, inf}", "f32[2] {inf, -2}"], "f32[2] {nan, -inf}"),
    case("complex_no_recovery", "multiply", ["c64[2] {(inf, 1), (1, 2)}", "c64[2] {(1, inf), (3, 4)}"],
         "c64[2] {(nan, inf), (-5, 10)}"),
    case("scalar", "subtract", ["f32[] 1"] * 2, "f32[] 0"),
    case("", "mulhi", ["s32[2] {1073741824, -1}", "s32[2] {8, 3}"], "s32[2] {2, -1}"),
    case("unsigned", "mulhi", ["u8[1] {200}", "u8[1] {200}"], "u8[1] {156}"),
    case("scalar", "mulhi", ["u64[] 18446744073709551615"] * 2, "u64[] 18446744073709551614"),
    case("", "divide", [f"s32[5] {{5, {S32_MIN}, 7, -7, {S32_MIN}}}", "s32[5] {0, -1, 2, 2, 0}"],
         f"s32[5] {{-1, {S32_MIN}, 3, -3, -1}}", decision="integer-division-by-zero"),
    case("unsigned", "divide", ["u8[1] {5}", "u8[1] {0}"], "u8[1] {255}",
         decision="integer-division-by-zero"),
    case("floats", "divide", ["f32[4] {1, -1, 0, inf}", "f32[4] {0, 0, 0, inf}"],
         "f32[4] {inf, -inf, nan, nan}"),
    case("complex", "divide", ["c64[2] {(1, 2), (1, 0)}", "c64[2] {(3, -4), (0, 0)}"],
         "c64[2] {(-0x1.99999ap-3, 0x1.99999ap-2), (inf, nan)}"),
    case("", "remainder", [f"s32[4] {{5, {S32_MIN}, 7, -7}}", "s32[4] {0, -1, 2, 2}"],
         "s32[4] {5, 0, 1, -1}"),
    case("floats", "remainder", ["f32[6] {5.5, -5.5, 5.5, inf, 5, -0.0}", "f32[6] {2, 2, -2, 2, inf, 3}"],
         "f32[6] {1.5, -1.5, 1.5, nan, 5, -0.0}"),
    case("zeros", "maximum", ["f32[4] {-0.0, 0, nan, 1}", "f32[4] {0, -0.0, 1, nan}"],
         "f32[4] {0, 0, nan, nan}", decision="maximum-zeros"),
    case("zeros", "minimum", ["f32[4] {-0.0, 0, nan, 1}", "f32[4] {0, -0.0, 1, nan}"],
         "f32[4] {-0.0, -0.0, nan, nan}", decision="maximum-zeros"),
    case("scalar", "and", ["u8[] 12", "u8[] 10"], "u8[] 8"),
    case("scalar", "or", ["u8[] 12", "u8[] 10"], "u8[] 14"),
    case("scalar", "xor", ["s8[] 12", "s8[] -10"], "s8[] -6"),
    case("", "shift-left", ["s32[4] {1, 1, 1, -1}", "s32[4] {31, 32, -1, 1}"],
         f"s32[4] {{{S32_MIN}, 0, 0, -2}}"),
    case("", "shift-right-arithmetic", ["s32[4] {-8, -8, 8, -8}", "s32[4] {1, 32, 40, -1}"],
         "s32[4] {-4, -1, 0, -1}"),
    case("unsigned", "shift-right-arithmetic", ["u8[1] {0x80}".replace("0x80", "128"), "u8[1] {1}"],
         "u8[1] {192}"),
    case("", "shift-right-logical", ["s32[4] {-8, -8, 8, -8}", "s32[4] {1, 32, 40, -1}"],
         "s32[4] {2147483644, 0, 0, 0}"),
    case("scalar", "shift-left", ["u2[] 3", "u2[] 1"], "u2[] 2"),
    case("scalar", "shift-right-logical", ["s4[] -8", "s4[] 3"], "s4[] 1"),
    case("total_order", "compare",
         ["f32[6] {-nan, -0.0, nan, 1, inf, -inf}", "f32[6] {-inf, 0, inf, nan, nan, -nan}"],
         "pred[6] {true, true, false, true, true, false}", ", direction=LT, type=TOTALORDER"),
    case("float", "compare", ["f32[3] {nan, -0.0, inf}", "f32[3] {nan, 0, inf}"],
         "pred[3] {false, true, true}", ", direction=EQ, type=FLOAT"),
    case("pred", "compare", ["pred[4] {false, false, true, true}", "pred[4] {false, true, false, true}"],
         "pred[4] {false, true, false, false}", ", direction=LT"),
    case("signed", "compare", ["s8[2] {-1, 1}", "s8[2] {1, -1}"], "pred[2] {false, true}",
         ", direction=GE, type=SIGNED"),
    case("unsigned", "compare", ["u8[2] {255, 1}", "u8[2] {1, 255}"], "pred[2] {false, true}",
         ", direction=LE, type=UNSIGNED"),
    case("", "clamp", ["s32[] 0", "s32[3] {-1, 5, 9}", "s32[] 6"], "s32[3] {0, 5, 6}"),
    case("min_over_max", "clamp", ["s32[] 6", "s32[3] {-1, 5, 9}", "s32[] 0"], "s32[3] {0, 0, 0}"),
    case("nan", "clamp", ["f32[3] {nan, 0, 0}", "f32[3] {1, nan, 1}", "f32[3] {2, 2, nan}"],
         "f32[3] {nan, nan, nan}"),
    case("", "select",
         ["pred[4] {true, false, false, true}", "s32[4] {1, 2, 3, 4}", "s32[4] {100, 200, 300, 400}"],
         "s32[4] {1, 200, 300, 4}"),
    case("f32_to_u16", "bitcast-convert", ["f32[2] {1, -2}"], "u16[2,2] {{0, 16256}, {0, 49152}}"),
    case("u8_to_u32", "bitcast-convert", ["u8[2,4] {{1, 2, 3, 4}, {0, 0, 0, 128}}"],
         "u32[2] {67305985, 2147483648}"),
    case("s8_to_s4", "bitcast-convert", ["s8[2] {33, -16}"], "s4[2,2] {{1, 2}, {0, -1}}"),
    case("f32_to_s8", "convert", ["f32[7] {1.9, -1.9, 300, -300, nan, inf, -inf}"],
         "s8[7] {1, -1, 127, -128, 0, 127, -128}"),
    case("f32_to_u8", "convert", ["f32[7] {1.9, -1.9, 300, -300, nan, inf, -inf}"],
         "u8[7] {1, 0, 255, 0, 0, 255, 0}"),
    case("f32_to_pred", "convert", ["f32[5] {0, -0.0, 0.5, nan, inf}"],
         "pred[5] {false, false, true, true, true}"),
    case("s32_to_s8", "convert", ["s32[3] {300, -129, 127}"], "s8[3] {44, 127, 127}"),
    case("s32_to_f16", "convert", ["s32[3] {2049, 70000, 65519}"], "f16[3] {2048, inf, 65504}"),
    case("f32_to_f8e4m3fn", "convert", ["f32[1] {1e10}"], "f8e4m3fn[1] {nan}"),
    case("f32_to_f4e2m1fn", "convert", ["f32[2] {1e10, -1e10}"], "f4e2m1fn[2] {6, -6}"),
    case("pred_to_s1", "convert", ["pred[2] {true, false}"], "s1[2] {-1, 0}"),
    case("complex_to_real", "convert", ["c64[2] {(1.5, 2), (-3, nan)}"], "f32[2] {1.5, -3}"),
    case("real_to_complex", "convert", ["f64[2] {1.5, -0.0}"], "c64[2] {(1.5, 0), (-0.0, 0)}"),
    case("2_25", "stochastic-convert", ["f32[4] {2.25, 2.25, -2.25, -2.25}",
                                        "u32[4] {1073741823, 1073741824, 1073741823, 1073741824}"],
         "s8[4] {3, 2, -3, -2}"),
    case("limits", "stochastic-convert", ["f32[5] {nan, inf, -inf, 126.5, -127.5}", "u32[5] {0, 0, 0, 0, 0}"],
         "s8[5] {0, 127, -128, 127, -128}"),
    case("e5m10", "reduce-precision", ["f32[6] {65519, 65520, 1.0009765, 6e-5, 1e-8, nan}"],
         "f32[6] {65504, inf, 0x1.004p+0, 0, 0, nan}", ", exponent_bits=5, mantissa_bits=10"),
    case("m0", "reduce-precision", ["f32[4] {3, 1.5, 2.9, inf}"], "f32[4] {2, 2, 2, inf}",
         ", exponent_bits=8, mantissa_bits=0"),
    case("e1", "reduce-precision", ["f32[5] {1.5, 2, 0.5, -3, -0.0}"], "f32[5] {0, inf, 0, -inf, -0.0}",
         ", exponent_bits=1, mantissa_bits=23"),
    case("nan", "reduce-precision", ["f32[2] {nan, -nan}"], "f32[2] {nan, nan}",
         ", exponent_bits=8, mantissa_bits=0", decision="reduce-precision-nan"),
]


def resized(op, sizes, result, header, attributes="", result_type="f32[<=4]"):
    """One operand or two, cut to run-time sizes (None: static)."""
    body = []
    names = []
    for k, size in enumerate(sizes):
        body.append(f"p{k} = f32[4] parameter({k})")
        names.append(f"p{k}")
        if size is not None:
            body += [f"n{k} = s32[] constant({size})",
                     f"d{k} = f32[<=4] set-dimension-size(p{k}, n{k}), dimensions={{0}}"]
            names[-1] = f"d{k}"
    args = [f"arg{k}: f32[4] {{{10 * k + 1}, {10 * k + 2}, {10 * k + 3}, {10 * k + 4}}}"
            for k in range(len(sizes))]
    body.append(f"ROOT r = {result_type} {op}({', '.join(names)}){attributes}")
    return [header] + args + ([f"out0: {result}"] if result else []), body


def dynamic(name, op, sizes, result, attributes="", result_type="f32[<=4]", decision=None):
    header, body = resized(op, sizes, result, "oracle: hand", attributes, result_type)
    return name, header[:1] + ([f"decision: {decision}"] if decision else []) + header[1:], body


SPEC_CASES += [
    dynamic("add_dynamic", "add", [3, 3], "f32[3] {12, 14, 16}"),
    dynamic("add_dynamic_with_static", "add", [2, None], "f32[2] {12, 14}",
            decision="elementwise-static-with-dynamic"),
    dynamic("add_dynamic_empty", "add", [0, 0], "f32[0] {}"),
    dynamic("negate_dynamic", "negate", [3], "f32[3] {-1, -2, -3}"),
    dynamic("ceil_dynamic", "ceil", [1], "f32[1] {1}"),
    dynamic("convert_dynamic", "convert", [2], "s8[2] {1, 2}", result_type="s8[<=4]"),
    dynamic("compare_dynamic", "compare", [3, 3], "pred[3] {true, true, true}", ", direction=LT",
            "pred[<=4]"),
    dynamic("bitcast-convert_dynamic", "bitcast-convert", [2], "u32[2] {1065353216, 1073741824}",
            result_type="u32[<=4]"),
    # The dead half is cleared, not cos-like f(0): 0 / 0 would show.
    dynamic("divide_dynamic", "divide", [2, 2], "f32[2] {0x1.745d18p-4, 0x1.555556p-3}"),
    ("clamp_dynamic", ["oracle: hand", "arg0: f32[4] {1, 2, 3, 4}", "out0: f32[3] {2, 2, 3}"],
     ["p = f32[4] parameter(0)", "n = s32[] constant(3)",
      "d = f32[<=4] set-dimension-size(p, n), dimensions={0}",
      "lo = f32[] constant(2)", "hi = f32[] constant(9)", "ROOT r = f32[<=4] clamp(lo, d, hi)"]),
    ("select_dynamic_scalar_pred", ["oracle: hand", "arg0: f32[4] {1, 2, 3, 4}", "arg1: pred[] false",
                                    "out0: f32[2] {1, 2}"],
     ["p = f32[4] parameter(0)", "c = pred[] parameter(1)", "three = s32[] constant(3)",
      "two = s32[] constant(2)", "a = f32[<=4] set-dimension-size(p, three), dimensions={0}",
      "b = f32[<=4] set-dimension-size(p, two), dimensions={0}", "ROOT r = f32[<=4] select(c, a, b)"]),
]


def refusal(name, code, message, *body):
    return name, code, message, list(body)


X = "x = f32[4] parameter(0)"
UNARY_TYPES = {  # an element type that the op does not take
    "abs": "u8", "negate": "pred", "sign": "u32", "not": "f32", "popcnt": "f32",
    "count-leading-zeros": "pred",
    "ceil": "s32", "floor": "c64", "round-nearest-afz": "s8", "round-nearest-even": "pred",
    "is-finite": "c64", "real": "s32", "imag": "pred",
}
UNARY_GOOD = {op: "s32" if op in ("not", "popcnt", "count-leading-zeros") else "f32" for op in UNARY_TYPES}
BINARY_TYPES = {
    "subtract": "pred", "mulhi": "f32", "divide": "pred", "remainder": "c64", "maximum": None,
    "minimum": None, "and": "f32", "or": "c64", "xor": "bf16", "shift-left": "pred",
    "shift-right-arithmetic": "f32", "shift-right-logical": "f16", "complex": "s32", "add": None,
    "multiply": None,
}
INTEGER_OPS = ("mulhi", "and", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical")

REFUSALS = []
for op, bad in UNARY_TYPES.items():
    good = UNARY_GOOD[op]
    result = "pred" if op == "is-finite" else good
    REFUSALS += [
        refusal(f"{op}_refuse_c1", 3, "UNARY-C1", f"x = {good}[4] parameter(0)", f"t = ({good}[4]) tuple(x)",
                f"ROOT r = {result}[4] {op}(t)"),
        refusal(f"{op}_refuse_c2", 3, "UNARY-C2", f"x = {bad}[4] parameter(0)", f"ROOT r = {bad}[4] {op}(x)"),
        refusal(f"{op}_refuse_c3", 3, "UNARY-C3", f"x = {good}[4] parameter(0)",
                f"ROOT r = {result}[5] {op}(x)"),
        refusal(f"{op}_refuse_accuracy", 3, "result_accuracy", f"x = {good}[4] parameter(0)",
                f"ROOT r = {result}[4] {op}(x), result_accuracy={{mode=highest}}"),
    ]
for op, bad in BINARY_TYPES.items():
    good = "s32" if op in INTEGER_OPS else "f32"
    result = "c64" if op == "complex" else good
    other = "u32" if good == "s32" else "f64"
    REFUSALS += [
        refusal(f"{op}_refuse_c1", 3, "BINARY-C1", f"x = {good}[4] parameter(0)", "k = token[] after-all()",
                f"ROOT r = {result}[4] {op}(x, k)"),
        refusal(f"{op}_refuse_c2", 3, "BINARY-C2", f"x = {good}[4] parameter(0)",
                f"y = {other}[4] parameter(1)", f"ROOT r = {result}[4] {op}(x, y)"),
        refusal(f"{op}_refuse_c3", 3, "BINARY-C3", f"x = {good}[4] parameter(0)",
                f"y = {good}[1] parameter(1)", f"ROOT r = {result}[4] {op}(x, y)"),
        refusal(f"{op}_refuse_c5", 3, "BINARY-C5", f"x = {good}[4] parameter(0)",
                f"ROOT r = {result}[2,2] {op}(x, x)"),
    ]
    if bad:
        REFUSALS.append(refusal(f"{op}_refuse_c4", 3, "BINARY-C4", f"x = {bad}[4] parameter(0)",
                                f"ROOT r = {bad if op != 'complex' else 'c64'}[4] {op}(x, x)"))

REFUSALS += [
    refusal("complex_refuse_f16", 4, "Complex", "x = f16[4] parameter(0)", "ROOT r = c64[4] complex(x, x)"),
    refusal("compare_refuse_c1", 3, "BINARY-C3", X, "y = f32[3] parameter(1)",
            "ROOT r = pred[4] compare(x, y), direction=EQ"),
    refusal("compare_refuse_c2_float", 3, "Compare-C2", X,
            "ROOT r = pred[4] compare(x, x), direction=EQ, type=SIGNED"),
    refusal("compare_refuse_c2_unsigned", 3, "Compare-C2", "x = s8[4] parameter(0)",
            "ROOT r = pred[4] compare(x, x), direction=EQ, type=UNSIGNED"),
    refusal("compare_refuse_c2_complex", 3, "Compare-C2", "x = c64[4] parameter(0)",
            "ROOT r = pred[4] compare(x, x), direction=EQ, type=TOTALORDER"),
    refusal("compare_refuse_c3", 3, "Compare-C3", "x = c128[4] parameter(0)",
            "ROOT r = pred[4] compare(x, x), direction=LT"),
    refusal("compare_refuse_result", 3, "BINARY-C5", X, "ROOT r = f32[4] compare(x, x), direction=LT"),
    refusal("compare_refuse_direction", 3, "EQ, NE, GE, GT, LE, LT", X,
            "ROOT r = pred[4] compare(x, x), direction=lt"),
    refusal("select_refuse_c1", 3, "Select-C1", X, "ROOT r = f32[4] select(x, x, x)"),
    refusal("select_refuse_c2", 3, "Select-C2", X, "p = pred[4] parameter(1)", "y = f32[3] parameter(2)",
            "ROOT r = f32[4] select(p, x, y)"),
    refusal("select_refuse_c2_tuple", 3, "Select-C2", X, "p = pred[] parameter(1)", "t = (f32[4]) tuple(x)",
            "ROOT r = (f32[4]) select(p, t, t)"),
    refusal("select_refuse_c3", 3, "Select-C3", X, "p = pred[1] parameter(1)",
            "ROOT r = f32[4] select(p, x, x)"),
    refusal("clamp_refuse_c1", 3, "Clamp-C1", X, "m = f64[] parameter(1)", "ROOT r = f32[4] clamp(m, x, m)"),
    refusal("clamp_refuse_c2", 3, "Clamp-C2", X, "m = f32[1] parameter(1)", "ROOT r = f32[4] clamp(m, x, x)"),
    refusal("clamp_refuse_c3", 3, "Clamp-C3", "x = c64[4] parameter(0)", "ROOT r = c64[4] clamp(x, x, x)"),
    refusal("convert_refuse_c1", 3, "ConvertElementType-C1", X, "t = (f32[4]) tuple(x)",
            "ROOT r = f32[4] convert(t)"),
    refusal("convert_refuse_c1_result", 3, "ConvertElementType-C1", X, "ROOT r = (f32[4]) convert(x)"),
    refusal("convert_refuse_c2", 3, "ConvertElementType-C2", X, "ROOT r = f16[2,2] convert(x)"),
    refusal("compare_refuse_c2_total_order_s32", 3,
            "Compare-C2: type TOTALORDER does not fit element type s32",
            "x = s32[4] parameter(0)", "ROOT r = pred[4] compare(x, x), direction=LT, type=TOTALORDER"),
    refusal("compare_refuse_c2_total_order_u8", 3, "Compare-C2: type TOTALORDER does not fit element type u8",
            "x = u8[4] parameter(0)", "ROOT r = pred[4] compare(x, x), direction=LT, type=TOTALORDER"),
    refusal("compare_refuse_c2_total_order_pred", 3,
            "Compare-C2: type TOTALORDER does not fit element type pred",
            "x = pred[4] parameter(0)", "ROOT r = pred[4] compare(x, x), direction=LT, type=TOTALORDER"),
    refusal("compare_refuse_c2_total_order_c64", 3,
            "Compare-C2: type TOTALORDER does not fit element type c64",
            "x = c64[4] parameter(0)", "ROOT r = pred[4] compare(x, x), direction=LT, type=TOTALORDER"),
    refusal("bitcast-convert_refuse_c1", 3, "BitcastConvertType-C1", X, "t = (f32[4]) tuple(x)",
            "ROOT r = f32[4] bitcast-convert(t)"),
    refusal("bitcast-convert_refuse_c2", 3, "BitcastConvertType-C2", "x = f64[4] parameter(0)",
            "ROOT r = c64[4] bitcast-convert(x)"),
    refusal("bitcast-convert_refuse_c3", 3, "BitcastConvertType-C3", "x = u8[6] parameter(0)",
            "ROOT r = f6e3m2fn[6] bitcast-convert(x)"),
    refusal("bitcast-convert_refuse_c4", 3, "BitcastConvertType-C4", X,
            "ROOT r = u16[4,3] bitcast-convert(x)"),
    refusal("bitcast-convert_refuse_c5", 3, "BitcastConvertType-C5", "x = u8[2,3] parameter(0)",
            "ROOT r = u32[2] bitcast-convert(x)"),
    refusal("bitcast-convert_refuse_c5_scalar", 3, "BitcastConvertType-C5", "x = u8[] parameter(0)",
            "ROOT r = u32[] bitcast-convert(x)"),
    refusal("bitcast-convert_refuse_c6", 3, "BitcastConvertType-C6", X,
            "ROOT r = u32[2,2] bitcast-convert(x)"),
    refusal("stochastic-convert_refuse_c1", 3, "StochasticConvertType-C1", "x = s32[4] parameter(0)",
            "u = u32[4] parameter(1)", "ROOT r = s8[4] stochastic-convert(x, u)"),
    refusal("stochastic-convert_refuse_c2_width", 3, "StochasticConvertType-C2", X, "u = u16[4] parameter(1)",
            "ROOT r = s8[4] stochastic-convert(x, u)"),
    refusal("stochastic-convert_refuse_c2_sign", 3, "StochasticConvertType-C2", X, "u = s32[4] parameter(1)",
            "ROOT r = s8[4] stochastic-convert(x, u)"),
    refusal("stochastic-convert_refuse_c2_dims", 3, "StochasticConvertType-C2", X, "u = u32[3] parameter(1)",
            "ROOT r = s8[4] stochastic-convert(x, u)"),
    refusal("stochastic-convert_refuse_c3", 4, "StochasticConvertType-C3", X, "u = u32[4] parameter(1)",
            "ROOT r = f16[4] stochastic-convert(x, u)"),
    refusal("reduce-precision_refuse_c1", 3, "ReducePrecision-C1", "x = s32[4] parameter(0)",
            "ROOT r = s32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=3"),
    refusal("reduce-precision_refuse_c2", 3, "ReducePrecision-C2", X,
            "ROOT r = f32[4] reduce-precision(x), exponent_bits=0, mantissa_bits=3"),
    refusal("reduce-precision_refuse_c3", 3, "ReducePrecision-C3", X,
            "ROOT r = f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=-1"),
    refusal("reduce-precision_refuse_missing", 3, "mantissa_bits", X,
            "ROOT r = f32[4] reduce-precision(x), exponent_bits=5"),
]

header, body = resized("add", [2, 3], None, "oracle: spec")
DYN4 = ("add_refuse_dyn4", [header[0], "refuse: 5 DYN-4"] + header[1:], body)
SPEC_CASES.append(DYN4)
SPEC_CASES.append(("bitcast-convert_refuse_pred",
                   ["oracle: hand", "decision: bitcast-to-pred", "refuse: 5 wanted 0 or 1",
                    "arg0: u8[2] {1, 2}"],
                   ["x = u8[2] parameter(0)", "ROOT r = pred[2] bitcast-convert(x)"]))
