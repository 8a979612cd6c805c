// oracle: hand
// arg0: f32[1,1,4] {{{1, 2, 3, 4}}}
// out0: f32[1,1,4] {{{1, 3, 5, 7}}}
// A window of two ones, padded by half of the size minus one in front.
func.func @main(%a: tensor<?x1x?xf32>) -> tensor<?x1x?xf32> {
  %k = stablehlo.constant dense<1.0> : tensor<1x1x2xf32>
  %n = stablehlo.get_dimension_size %a, dim = 2 : (tensor<?x1x?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %h = stablehlo.divide %n, %two : tensor<i32>
  %l = stablehlo.subtract %h, %one : tensor<i32>
  %l2 = stablehlo.reshape %l : (tensor<i32>) -> tensor<1x1xi32>
  %z = stablehlo.constant dense<0> : tensor<1x1xi32>
  %p = stablehlo.concatenate %l2, %z, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%a, %k, %p) {dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, window_strides = array<i64: 1>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<?x1x?xf32>, tensor<1x1x2xf32>, tensor<1x2xi32>) -> tensor<?x1x?xf32>
  return %0 : tensor<?x1x?xf32>
}
