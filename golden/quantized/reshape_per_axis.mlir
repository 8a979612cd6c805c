// oracle: hand
// rule: QUANT-30
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// out0: s8[1,2,3] {{{-20, -13, -6}, {1, 8, 15}}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:1, 2.0:-1}>>) -> (tensor<1x2x3x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-1}>>) {
  %0 = stablehlo.reshape %a : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5:1, 2.0:-1}>>) -> tensor<1x2x3x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-1}>>
  return %0 : tensor<1x2x3x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-1}>>
}
