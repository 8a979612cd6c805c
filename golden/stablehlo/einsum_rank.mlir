// refuse: 3 einsum_config "ijk,kl->ijl" does not fit the ranks of f32[2,3], f32[3,2] and f32[2,2]
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.einsum %a, %b, config = "ijk,kl->ijl" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
