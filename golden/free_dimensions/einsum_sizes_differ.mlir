// refuse: 5 stablehlo.einsum: dimension 1 of tensor<2x3xf32> has size 3, and dimension 0 of tensor<2x1xf32> size 2
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// arg1: f32[2,1] {{1}, {0}}
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
