// refuse: 4 einsum_config "ij->j", which is not a product
func.func @main(%a: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.unary_einsum %a, config = "ij->j" : (tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
