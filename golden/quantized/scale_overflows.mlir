// oracle: rational
// arg0: f16[3] {0x1.d4cp+15, -0x1.ffcp+15, inf}
// out0: s8[3] {1, -1, 127}
// out1: f16[3] {0x1.d4cp+15, -0x1.d4cp+15, inf}
func.func @main(%a: tensor<3xf16>) -> (tensor<3x!quant.uniform<i8:f16, 60000.0:0>>, tensor<3xf16>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<3xf16>) -> tensor<3x!quant.uniform<i8:f16, 60000.0:0>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!quant.uniform<i8:f16, 60000.0:0>>) -> tensor<3xf16>
  return %0, %1 : tensor<3x!quant.uniform<i8:f16, 60000.0:0>>, tensor<3xf16>
}
