// oracle: rational
// rule: QUANT-17
// arg0: f32[4] {0, nan, 0x1.2p+3, -0x1.2p+3}
// out0: s8[4] {5, 3, 9, 3}
// out1: f32[4] {0, -0x1p+0, 0x1p+1, -0x1p+0}
func.func @main(%a: tensor<4xf32>) -> (tensor<4x!quant.uniform<i8<3:9>:f32, 0.5:5>>, tensor<4xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8<3:9>:f32, 0.5:5>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8<3:9>:f32, 0.5:5>>) -> tensor<4xf32>
  return %0, %1 : tensor<4x!quant.uniform<i8<3:9>:f32, 0.5:5>>, tensor<4xf32>
}
