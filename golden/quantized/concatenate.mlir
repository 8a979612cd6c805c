// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// arg1: s8[1,3] {{90, 91, 92}}
// out0: s8[3,3] {{-20, -13, -6}, {1, 8, 15}, {90, 91, 92}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<1x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<3x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<1x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<3x3x!quant.uniform<i8:f32, 0.5:3>>
}
