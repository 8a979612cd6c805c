// oracle: hand
// rule: QUANT-5
// arg0: s8[2] {3, -7}
// out0: s8[2] {3, -7}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:0>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:0>>) {
  %0 = stablehlo.optimization_barrier %a : tensor<2x!quant.uniform<i8:f32, 0.5:0>>
  %1 = stablehlo.reverse %0, dims = [] : (tensor<2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<2x!quant.uniform<i8:f32, 0x3FE0000000000000>>
  return %1 : tensor<2x!quant.uniform<i8:f32, 0x3FE0000000000000>>
}
