// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// arg1: f32[3,2] {{1, 0}, {0, 1}, {2, 2}}
// out0: f32[2,2] {{7, 8}, {16, 17}}
// out1: f32[2,2] {{7, 16}, {8, 17}}
// out2: f32[3,2] {{1, 4}, {2, 5}, {3, 6}}
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.einsum %a, %b, config = "xY,Yz->zx" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.unary_einsum %a, config = "ij->ji" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>
}
