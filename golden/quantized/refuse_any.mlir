// refuse: 4 QUANT-9: 
func.func @main(%a: tensor<2x!quant.any<i8:f32>>) -> (tensor<2x!quant.any<i8:f32>>) {
  return %a : tensor<2x!quant.any<i8:f32>>
}
