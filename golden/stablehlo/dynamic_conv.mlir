// oracle: hand
// arg0: f32[1,5,1] {{{1}, {2}, {4}, {8}, {16}}}
// arg1: f32[2,1,1] {{{1}}, {{10}}}
// out0: f32[1,5,1] {{{10}, {21}, {42}, {84}, {168}}}
func.func @main(%x: tensor<1x5x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x5x1xf32> {
  %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x5x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x5x1xf32>
  return %0 : tensor<1x5x1xf32>
}
