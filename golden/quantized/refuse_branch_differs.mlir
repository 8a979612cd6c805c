// refuse: 3 QUANT-10: 
func.func @main(%a: tensor<i1>, %b: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.25:3>>) {
  %0 = "stablehlo.if"(%a) ({ stablehlo.return %b : tensor<2x!quant.uniform<i8:f32, 0.5:3>> }, { stablehlo.return %b : tensor<2x!quant.uniform<i8:f32, 0.5:3>> }) : (tensor<i1>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.25:3>>
}
