// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// arg1: f32[3,2] {{1, 0}, {0, 1}, {2, 2}}
// out0: f32[2,2] {{7, 16}, {8, 17}}
// out1: f32[2] {14, 77}
// out2: f32[3,2] {{1, 4}, {2, 5}, {3, 6}}
// out3: f32[3,2,2] {{{1, 4}, {0, 0}}, {{0, 0}, {2, 5}}, {{6, 12}, {6, 12}}}
// A product that is transposed, one with a batch dimension, a transposition, and products that nothing is summed of.
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "stablehlo.einsum"(%a, %a) {einsum_config = "bi,bi->b"} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?xf32>
  %2 = stablehlo.unary_einsum %a, config = "ij->ji" : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = stablehlo.einsum %a, %b, config = "ij,jk->jki" : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?x?xf32>
  return %0, %1, %2, %3 : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>
}
