// refuse: 3 QUANT-6: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:128>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:128>>) {
  return %a : tensor<2x!quant.uniform<i8:f32, 0.5:128>>
}
