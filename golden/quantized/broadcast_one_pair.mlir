// oracle: hand
// rule: QUANT-30
// arg0: s8[1] {9}
// out0: s8[3] {9, 9, 9}
func.func @main(%a: tensor<1x!quant.uniform<i8:f32:0, {0.5:1}>>) -> (tensor<3x!quant.uniform<i8:f32:0, {0.5:1, 0.5:1, 0.5:1}>>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1x!quant.uniform<i8:f32:0, {0.5:1}>>) -> tensor<3x!quant.uniform<i8:f32:0, {0.5:1, 0.5:1, 0.5:1}>>
  return %0 : tensor<3x!quant.uniform<i8:f32:0, {0.5:1, 0.5:1, 0.5:1}>>
}
