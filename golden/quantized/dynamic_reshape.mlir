// oracle: hand
// arg0: s8[6] {-20, -13, -6, 1, 8, 15}
// arg1: s64[2] {2, 3}
// out0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2xi64>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.dynamic_reshape %a, %b : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<2xi64>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
}
