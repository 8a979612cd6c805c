// oracle: hand
// arg0: s8[2] {-20, -13}
// out0: s8[2,2] {{-20, -20}, {-13, -13}}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
}
