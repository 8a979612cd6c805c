// refuse: 3 QUANT-7: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, 0.5>>) -> (tensor<2x!quant.uniform<i8:f32:0, 0.5>>) {
  return %a : tensor<2x!quant.uniform<i8:f32:0, 0.5>>
}
