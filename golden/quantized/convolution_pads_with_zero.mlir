// oracle: spec
// rule: QUANT-19
// arg0: s8[1,4,1] {{{2}, {6}, {-2}, {4}}}
// arg1: s8[3,1,1] {{{3}}, {{-1}}, {{-5}}}
// out0: s8[1,4,1] {{{-1}, {7}, {5}, {-1}}}
func.func @main(%a: tensor<1x4x1x!quant.uniform<i8:f32, 0.5:2>>, %b: tensor<3x1x1x!quant.uniform<i8:f32, 0.25:-1>>) -> (tensor<1x4x1x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x1x!quant.uniform<i8:f32, 0.5:2>>, tensor<3x1x1x!quant.uniform<i8:f32, 0.25:-1>>) -> tensor<1x4x1x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<1x4x1x!quant.uniform<i8:f32, 0.5:3>>
}
