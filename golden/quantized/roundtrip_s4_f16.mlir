// oracle: rational
// arg0: f16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, inf, -inf, inf, -inf, inf, inf, -inf, nan, -0.0}
// out0: s4[19] {3, 4, 2, 4, 1, 7, 0, 7, 7, -8, 7, -8, 7, -8, 7, 7, -8, 0, 3}
// out1: f16[19] {0, 0x1.8p-1, -0x1.8p-1, 0x1.8p-1, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.8p+1, 0x1.8p+1, -0x1.08p+3, 0x1.8p+1, -0x1.08p+3, 0x1.8p+1, -0x1.08p+3, 0x1.8p+1, 0x1.8p+1, -0x1.08p+3, -0x1.2p+1, 0}
func.func @main(%a: tensor<19xf16>) -> (tensor<19x!quant.uniform<i4:f16, 0.75:3>>, tensor<19xf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf16>) -> tensor<19x!quant.uniform<i4:f16, 0.75:3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<i4:f16, 0.75:3>>) -> tensor<19xf16>
  return %0, %1 : tensor<19x!quant.uniform<i4:f16, 0.75:3>>, tensor<19xf16>
}
