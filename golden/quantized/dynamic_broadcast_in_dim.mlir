// oracle: hand
// arg0: s8[2] {-20, -13}
// arg1: s64[2] {2, 2}
// out0: s8[2,2] {{-20, -20}, {-13, -13}}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2xi64>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [0] : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2xi64>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
}
