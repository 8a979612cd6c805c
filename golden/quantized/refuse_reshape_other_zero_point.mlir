// refuse: 3 QUANT-29: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:4>>) {
  %0 = stablehlo.reshape %a : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:4>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:4>>
}
