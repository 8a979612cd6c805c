// oracle: hand
// rule: QUANT-30
// arg0: s8[2] {-20, -13}
// out0: s8[3,2] {{-20, -13}, {-20, -13}, {-20, -13}}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 2.0:-1}>>) -> (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-1}>>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 2.0:-1}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-1}>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-1}>>
}
