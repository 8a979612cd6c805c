// oracle: hand
// arg0: f32[3] {1, 2, 3}
// out0: f32[2,3] {{1, 2, 3}, {1, 2, 3}}
// out1: f32[3,2] {{7, 7}, {7, 7}, {7, 7}}
func.func @main(%a: tensor<?xf32>) -> (tensor<2x?xf32>, tensor<?x2xf32>) {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %s = stablehlo.concatenate %two, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x?xf32>
  %t = stablehlo.concatenate %n1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %k = stablehlo.constant dense<7.0> : tensor<1x1xf32>
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%k, %t) {broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %0, %1 : tensor<2x?xf32>, tensor<?x2xf32>
}
