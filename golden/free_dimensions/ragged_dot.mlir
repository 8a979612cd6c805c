// oracle: hand
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// arg1: f32[2,2,1] {{{1}, {10}}, {{100}, {1000}}}
// arg2: s32[2] {1, 2}
// arg3: f32[3,2] {{1, 0}, {0, 1}, {1, 1}}
// out0: f32[3,1] {{21}, {4300}, {6500}}
// out1: f32[2,2,2] {{{1, 0}, {2, 0}}, {{5, 8}, {6, 10}}}
// Rows in groups, each with a matrix of its own; and products of groups of rows.
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?x?xf32>, %g: tensor<?xi32>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?x?xf32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  %1 = "chlo.ragged_dot"(%a, %c, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?x?xf32>
}
