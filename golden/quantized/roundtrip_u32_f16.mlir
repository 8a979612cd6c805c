// oracle: rational
// arg0: f16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, inf, -inf, inf, -inf, inf, inf, -inf, nan, -0.0}
// out0: u32[19] {4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 0, 4294967295, 0, 4294967295, 4294967295, 0, 0, 4294967295}
// out1: f16[19] {inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, -inf, inf, -inf, inf, inf, -inf, -inf, inf}
func.func @main(%a: tensor<19xf16>) -> (tensor<19x!quant.uniform<ui32:f16, 0.75:70001>>, tensor<19xf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf16>) -> tensor<19x!quant.uniform<ui32:f16, 0.75:70001>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<ui32:f16, 0.75:70001>>) -> tensor<19xf16>
  return %0, %1 : tensor<19x!quant.uniform<ui32:f16, 0.75:70001>>, tensor<19xf16>
}
