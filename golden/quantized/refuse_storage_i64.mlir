// refuse: 4 QUANT-2: 
func.func @main(%a: tensor<2x!quant.uniform<i64:f32, 0.5>>) -> (tensor<2x!quant.uniform<i64:f32, 0.5>>) {
  return %a : tensor<2x!quant.uniform<i64:f32, 0.5>>
}
