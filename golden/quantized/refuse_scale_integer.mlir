// refuse: 3 QUANT-5: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 1>>) -> (tensor<2x!quant.uniform<i8:f32, 1>>) {
  return %a : tensor<2x!quant.uniform<i8:f32, 1>>
}
