// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// out0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.optimization_barrier %a : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
}
