"""Goldens of matrix products by cuBLAS, a part of xla_calls.py."""
from fractions import Fraction
from linalg_base import Array, Random, rn
from xla_calls_base import gemm, gemm_config, golden, nested, program


def gemms():
    def case(name, types, config, seed=1, sizes=((3, 4), (4, 5)), target="__cublas$lt$matmul", with_c=False,
             bias=None, wrapped=True, bare=False, decision=None, aux=False):
        r = Random(seed)
        ta, tb, d = types
        a, b = r.array(ta, sizes[0], 1), r.array(tb, sizes[1], 1)
        args = [a, b]
        c_array = bias_array = None
        shape = gemm(Array.full(ta, sizes[0], a.values[0]), Array.full(tb, sizes[1], b.values[0]),
                     config | {"beta": 0}, d)[0].sizes
        if with_c:
            c_array = r.array(d, shape, 1)
            args.append(c_array)
        if bias is not None:
            bias_array = r.array(bias, [shape[-1]], 1)
            args.append(bias_array)
        out, before, _ = gemm(a, b, config, d, c_array, bias_array)
        outs = [out] + ([before] if aux else [])
        golden(name, program(args, outs, target, nested(config) if wrapped else config, bare=bare), args,
               outs, decision=decision)

    case("gemm_f32", ("f32",) * 3, gemm_config(), 1, target="__cublas$gemm")
    case("gemm_flat_config_f64", ("f64",) * 3, gemm_config(), 2, target="__cublas$gemm", wrapped=False,
         bare=True)
    case("gemm_bf16_rounds_once", ("bf16",) * 3, gemm_config(), 3, sizes=((3, 9), (9, 4)),
         target="__cublas$gemm", decision="xla-call-rounding")
    case("gemm_f16_to_f32", ("f16", "f16", "f32"), gemm_config(), 4, target="__cublas$gemm")
    case("gemm_alpha_beta_f32", ("f32",) * 3, gemm_config(alpha=3, beta=0.3), 5, with_c=True,
         target="__cublas$gemm", decision="xla-call-rounding")
    case("gemm_beta_one_bf16", ("bf16",) * 3, gemm_config(beta=1), 6, with_c=True, target="__cublas$gemm")
    case("gemm_batch_f32", ("f32",) * 3, gemm_config((2,), (1,), (0,), (0,)), 7, ((2, 3, 4), (2, 4, 2)),
         "__cublas$gemm")
    case("gemm_transposed_f32", ("f32",) * 3, gemm_config((0,), (1,)), 8, ((4, 3), (2, 4)), "__cublas$gemm")
    case("gemm_complex_alpha_c64", ("c64",) * 3, gemm_config(alpha=2, alpha_imag=-1, beta=0.5), 9,
         with_c=True, target="__cublas$gemm")
    case("gemm_c128", ("c128",) * 3, gemm_config(), 10, target="__cublas$gemm")
    case("gemm_s8_to_s32", ("s8", "s8", "s32"), gemm_config(alpha=2, beta=1), 11, with_c=True,
         target="__cublas$gemm")
    case("gemm_broadcast_lhs_f32", ("f32",) * 3, gemm_config((1,), (1,), (), (0,), lhs_stride="0"), 12,
         ((3, 4), (2, 4, 2)), "__cublas$gemm")
    case("gemm_broadcast_rhs_f32", ("f32",) * 3, gemm_config((2,), (0,), (0,), (), rhs_stride="0"), 13,
         ((2, 3, 4), (4, 2)), "__cublas$gemm")
    case("matmul_bias_f32", ("f32",) * 3, gemm_config(epilogue="BIAS"), 14, bias="f32",
         decision="xla-call-bias")
    case("matmul_relu_f16", ("f16",) * 3, gemm_config(epilogue="RELU"), 15)
    case("matmul_bias_relu_bf16", ("bf16",) * 3, gemm_config(epilogue="BIAS_RELU", alpha=0.5), 16,
         bias="bf16")
    case("matmul_gelu_f32", ("f32",) * 3, gemm_config(epilogue="GELU"), 17)
    case("matmul_gelu_aux_f32", ("f32",) * 3, gemm_config(epilogue="GELU_AUX"), 18, aux=True)
    case("matmul_bias_gelu_bf16", ("bf16",) * 3, gemm_config(epilogue="BIAS_GELU"), 19, bias="bf16")
    case("matmul_bias_gelu_aux_f16", ("f16",) * 3, gemm_config(epilogue="BIAS_GELU_AUX"), 20, bias="f16",
         aux=True)
    case("matmul_c_and_bias_f32", ("f32",) * 3, gemm_config(beta=1, epilogue="BIAS_RELU"), 21, with_c=True,
         bias="f32")
    case("matmul_epilogue_number_f32", ("f32",) * 3, gemm_config(epilogue="RELU"), 22)
    r = Random(30)
    # The result's first dimension is the minor one: the bias has one element for each of its rows.
    a, b, bias = r.array("f32", [3, 4], 1), r.array("f32", [4, 5], 1), r.array("f32", [3], 1)
    config = gemm_config(epilogue="BIAS")
    out = gemm(a, b, config, "f32", bias=bias, bias_dims=[0])[0]
    text = program([a, b, bias], [out], "__cublas$lt$matmul", nested(config), layouts=["{0,1}"])
    golden("matmul_bias_of_rows_f32", text, [a, b, bias], [out], decision="xla-call-bias")
    # Proto3's defaults are not printed by other writers: no alpha is 1.
    config = {"gemm_backend_config": {"dot_dimension_numbers": gemm_config()["dot_dimension_numbers"]}}
    out = gemm(a, b, gemm_config(), "f32")[0]
    golden("gemm_absent_fields_f32", program([a, b], [out], "__cublas$gemm", config), [a, b], [out],
           decision="xla-call-defaults")
    workspace = Array.full("s8", [4], 0)
    lines = program([a, b], [out], "__cublas$gemm", nested(gemm_config()), workspace="s8[4]").replace(
        "  ROOT r0 = f32[3,5] get-tuple-element(call), index=0",
        "  ROOT r = (f32[3,5], s8[4]) copy(call)").replace(
            "  ROOT r = (f32[3,5], s8[4]) copy(call)",
            "  d = f32[3,5] get-tuple-element(call), index=0\n  w = s8[4] get-tuple-element(call), index=1\n"
            "  ROOT r = (f32[3,5], s8[4]) tuple(d, w)")
    golden("gemm_workspace_is_zero", lines, [a, b], [out, workspace], decision="xla-call-workspace")

    def f8(name, types, config, seed, c=None, bias=None, d_scale=None, amax=False, old=False):
        r = Random(seed)
        ta, tb, d = types
        a, b = r.array(ta, [4, 6], 2), r.array(tb, [6, 3], 2)
        scales = [0.7, 1.3]
        scales = [rn("f32", Fraction(s)) for s in scales]
        args = [a, b]
        c_array = r.array(c, [4, 3], 1) if c else None
        args += [c_array] if c else []
        args += [Array("f32", [], [s]) for s in scales]
        bias_array = r.array(bias, [3], 1) if bias else None
        if old:
            args += [Array("f32", [], [1.0])]
        if old and d_scale is not None:
            args += [Array("f32", [], [d_scale])]
        args += [bias_array] if bias else []
        if not old and d_scale is not None:
            args += [Array("f32", [], [d_scale])]
        out, _, most = gemm(a, b, config, d, c_array, bias_array, scales=scales, d_scale=d_scale)
        outs = [out] + ([most] if amax else [])
        golden(name, program(args, outs, "__cublas$lt$matmul$f8", nested(config)), args, outs,
               decision="xla-call-saturation" if d.startswith("f8") else None)

    f8("f8_to_f32", ("f8e4m3fn", "f8e4m3fn", "f32"), gemm_config(scale_mode=1), 40)
    f8("f8_mixed_to_bf16", ("f8e4m3fn", "f8e5m2", "bf16"), gemm_config(), 41)
    f8("f8_c_and_relu", ("f8e4m3fn", "f8e4m3fn", "bf16"), gemm_config(beta=1, epilogue="RELU"), 42, c="bf16")
    f8("f8_to_f8_scaled", ("f8e4m3fn", "f8e4m3fn", "f8e4m3fn"), gemm_config(), 43, d_scale=3.0)
    f8("f8_to_f8_saturates", ("f8e4m3fn", "f8e4m3fn", "f8e4m3fn"), gemm_config(), 44, d_scale=512.0)
    f8("f8_amax", ("f8e4m3fn", "f8e4m3fn", "f8e4m3fn"), gemm_config(damax_output=True), 45, d_scale=2.0,
       amax=True)
    f8("f8_bias_and_d_scale", ("f8e4m3fn", "f8e4m3fn", "f8e4m3fn"), gemm_config(epilogue="BIAS"), 46,
       bias="f16", d_scale=0.5)
    f8("f8_four_scales_and_bias", ("f8e4m3fn", "f8e5m2", "f8e5m2"), gemm_config(epilogue="BIAS_RELU"), 47,
       bias="bf16", d_scale=4.0, old=True)
    f8("f8_bias_gelu", ("f8e4m3fn", "f8e4m3fn", "f16"), gemm_config(epilogue="BIAS_GELU"), 48, bias="f16")


# --- cuDNN ---
