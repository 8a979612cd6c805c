// oracle: rational
// arg0: f16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, inf, -inf, inf, -inf, inf, inf, -inf, nan, -0.0}
// out0: s32[19] {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 0, 2147483647, 0, 2147483647, 2147483647, 0, 0, 2147483647}
// out1: f16[19] {inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, -inf, inf, -inf, inf, inf, -inf, -inf, inf}
func.func @main(%a: tensor<19xf16>) -> (tensor<19x!quant.uniform<i32:f16, 0.75:70001>>, tensor<19xf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf16>) -> tensor<19x!quant.uniform<i32:f16, 0.75:70001>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<i32:f16, 0.75:70001>>) -> tensor<19xf16>
  return %0, %1 : tensor<19x!quant.uniform<i32:f16, 0.75:70001>>, tensor<19xf16>
}
