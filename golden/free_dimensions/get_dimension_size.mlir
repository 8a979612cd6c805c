// oracle: hand
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// out0: s32[] 3
// out1: s32[] 2
func.func @main(%a: tensor<?x?xf32>) -> (tensor<i32>, tensor<i32>) {
  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}
