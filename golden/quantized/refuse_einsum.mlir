// refuse: 4 stablehlo.einsum
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>, %b: tensor<3x2x!quant.uniform<i8:f32, 0.25:0>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>> {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x2x!quant.uniform<i8:f32, 0.25:0>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>
}
