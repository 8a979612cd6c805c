// refuse: 4 einsum_config "ij,k->ik", which is not a product
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// arg1: f32[1] {1}
// j is summed in one operand alone: whether before or behind the product decides about roundings.
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.einsum %a, %b, config = "ij,k->ik" : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
