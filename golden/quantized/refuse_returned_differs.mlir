// refuse: 3 QUANT-10: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.25:3>>) {
  return %a : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
