// refuse: 5 chlo.ragged_dot: dimension 0 of tensor<2x2x1xf32> has size 2, and there are 3 groups in tensor<3xi32>
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// arg1: f32[2,2,1] {{{1}, {10}}, {{100}, {1000}}}
// arg2: s32[3] {1, 1, 1}
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?x?xf32>, %g: tensor<?xi32>) -> tensor<?x?xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
