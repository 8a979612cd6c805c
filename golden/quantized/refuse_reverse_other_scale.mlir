// refuse: 3 QUANT-29: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.25:3>>) {
  %0 = stablehlo.reverse %a, dims = [0] : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.25:3>>
}
