// oracle: spec
// rule: QUANT-19, QUANT-21
// arg0: f32[1,3] {{0x1.8p+0, -0x1p+1, 0x1p-2}}
// arg1: s8[3,2] {{2, 1}, {-3, 0}, {4, -1}}
// out0: f32[1,2] {{0x1.4p+1, 0x1.4p+1}}
func.func @main(%a: tensor<1x3xf32>, %b: tensor<3x2x!quant.uniform<i8:f32:1, {0.25:0, 2.0:0}>>) -> (tensor<1x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x3xf32>, tensor<3x2x!quant.uniform<i8:f32:1, {0.25:0, 2.0:0}>>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
