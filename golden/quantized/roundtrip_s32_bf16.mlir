// oracle: rational
// arg0: bf16[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1.2p+0, -0x1.8p+0, 0x1.8p+1, -0x1.2p+1, 0x1.ep+2, 0x1.9p+7, -0x1.9p+7, 0x1.86p+16, -0x1.86p+16, 0x1.66p+31, -0x1.66p+31, 0x1.2cp+126, inf, -inf, nan, -0.0}
// out0: s32[19] {70144, 70144, 70144, 70144, 70144, 70144, 70144, 70144, 70656, 69632, 202752, -62976, 2147483647, -2147483648, 2147483647, 2147483647, -2147483648, 0, 70144}
// out1: bf16[19] {0x1.acp+6, 0x1.acp+6, 0x1.acp+6, 0x1.acp+6, 0x1.acp+6, 0x1.acp+6, 0x1.acp+6, 0x1.acp+6, 0x1.ecp+8, -0x1.14p+8, 0x1.86p+16, -0x1.86p+16, 0x1.8p+30, -0x1.8p+30, 0x1.8p+30, 0x1.8p+30, -0x1.8p+30, -0x1.9cp+15, 0x1.acp+6}
func.func @main(%a: tensor<19xbf16>) -> (tensor<19x!quant.uniform<i32:bf16, 0.75:70001>>, tensor<19xbf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xbf16>) -> tensor<19x!quant.uniform<i32:bf16, 0.75:70001>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<i32:bf16, 0.75:70001>>) -> tensor<19xbf16>
  return %0, %1 : tensor<19x!quant.uniform<i32:bf16, 0.75:70001>>, tensor<19xbf16>
}
