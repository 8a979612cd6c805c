// refuse: 4 with quantized types
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>, %b: tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,jk->ik"} : (tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:0>>
}
