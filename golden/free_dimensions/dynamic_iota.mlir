// oracle: hand
// arg0: f32[3] {1, 2, 3}
// out0: s32[3,2] {{0, 0}, {1, 1}, {2, 2}}
// out1: s32[2,3] {{0, 1, 2}, {0, 1, 2}}
func.func @main(%a: tensor<?xf32>) -> (tensor<?x2xi32>, tensor<2x?xi32>) {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %s = stablehlo.concatenate %n1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?x2xi32>
  %t = stablehlo.concatenate %two, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = stablehlo.dynamic_iota %t, dim = 1 : (tensor<2xi32>) -> tensor<2x?xi32>
  return %0, %1 : tensor<?x2xi32>, tensor<2x?xi32>
}
