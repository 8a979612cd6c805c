// oracle: hand
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// arg1: s32[2] {2, 0}
// out0: f32[2,2] {{5, 6}, {1, 2}}
func.func @main(%a: tensor<3x?xf32>, %i: tensor<?xi32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 1 : (tensor<3x?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %s = stablehlo.concatenate %one, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<3x?xf32>, tensor<?xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
