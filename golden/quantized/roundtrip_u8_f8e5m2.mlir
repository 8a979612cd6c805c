// oracle: rational
// arg0: f8e5m2[19] {0, 0x1.8p-2, -0x1.8p-2, 0x1p+0, -0x1.8p+0, 0x1.8p+1, -0x1p+1, 0x1p+3, 0x1.8p+7, -0x1.8p+7, inf, -inf, inf, -inf, inf, inf, -inf, nan, -0.0}
// out0: u8[19] {5, 6, 4, 6, 3, 8, 2, 16, 255, 0, 255, 0, 255, 0, 255, 255, 0, 0, 5}
// out1: f8e5m2[19] {0, 0x1.8p-1, -0x1.8p-1, 0x1.8p-1, -0x1.8p+0, 0x1p+1, -0x1p+1, 0x1p+3, 0x1.8p+7, -0x1p+2, 0x1.8p+7, -0x1p+2, 0x1.8p+7, -0x1p+2, 0x1.8p+7, 0x1.8p+7, -0x1p+2, -0x1p+2, 0}
func.func @main(%a: tensor<19xf8E5M2>) -> (tensor<19x!quant.uniform<ui8:f8E5M2, 0.75:5>>, tensor<19xf8E5M2>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<19xf8E5M2>) -> tensor<19x!quant.uniform<ui8:f8E5M2, 0.75:5>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<19x!quant.uniform<ui8:f8E5M2, 0.75:5>>) -> tensor<19xf8E5M2>
  return %0, %1 : tensor<19x!quant.uniform<ui8:f8E5M2, 0.75:5>>, tensor<19xf8E5M2>
}
