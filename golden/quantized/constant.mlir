// oracle: hand
// rule: QUANT-12
// out0: s8[2] {3, -7}
// out1: f32[2] {0, -0x1.4p+2}
func.func @main() -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2xf32>) {
  %0 = stablehlo.constant dense<[3, -7]> : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>
  return %0, %1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2xf32>
}
