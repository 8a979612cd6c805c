// oracle: rational
// arg0: f8e5m2[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1p+0, -0x1.8p+0, 0x1.8p+1, -0x1p+1, 0x1p+3, 0x1.8p+7, -0x1.8p+7, inf, -inf, inf, -inf, inf, inf, -inf, nan, -0.0}
// out0: s16[19] {320, 320, 320, 320, 320, 320, 320, 320, 512, 64, 32767, -32768, 32767, -32768, 32767, 32767, -32768, 0, 320}
// out1: f8e5m2[19] {0x1p+4, 0x1p+4, 0x1p+4, 0x1p+4, 0x1p+4, 0x1p+4, 0x1p+4, 0x1p+4, 0x1.4p+7, -0x1.4p+7, 0x1.8p+14, -0x1.8p+14, 0x1.8p+14, -0x1.8p+14, 0x1.8p+14, 0x1.8p+14, -0x1.8p+14, -0x1p+8, 0x1p+4}
func.func @main(%a: tensor<19xf8E5M2>) -> (tensor<19x!quant.uniform<i16:f8E5M2, 0.75:300>>, tensor<19xf8E5M2>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf8E5M2>) -> tensor<19x!quant.uniform<i16:f8E5M2, 0.75:300>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<i16:f8E5M2, 0.75:300>>) -> tensor<19xf8E5M2>
  return %0, %1 : tensor<19x!quant.uniform<i16:f8E5M2, 0.75:300>>, tensor<19xf8E5M2>
}
