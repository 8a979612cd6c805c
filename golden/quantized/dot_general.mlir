// oracle: spec
// rule: QUANT-19
// arg0: s8[2,3] {{3, 1, -1}, {5, 0, 2}}
// arg1: s8[3,2] {{2, 1}, {-3, 0}, {4, -1}}
// out0: s8[2,2] {{-3, 6}, {2, 4}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>, %b: tensor<3x2x!quant.uniform<i8:f32:1, {0.25:0, 2.0:0}>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x2x!quant.uniform<i8:f32:1, {0.25:0, 2.0:0}>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>
}
