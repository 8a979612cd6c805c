// refuse: 3 QUANT-2: 
func.func @main(%a: tensor<2x!quant.uniform<i7:f32, 0.5>>) -> (tensor<2x!quant.uniform<i7:f32, 0.5>>) {
  return %a : tensor<2x!quant.uniform<i7:f32, 0.5>>
}
