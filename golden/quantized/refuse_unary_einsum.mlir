// refuse: 4 stablehlo.unary_einsum
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = stablehlo.unary_einsum %a, config = "ij->ji" : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>
}
