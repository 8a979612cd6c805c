// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// out0: s8[2,3] {{15, 8, 1}, {-6, -13, -20}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.reverse %a, dims = [0, 1] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
}
