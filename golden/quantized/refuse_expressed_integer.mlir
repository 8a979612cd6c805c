// refuse: 3 QUANT-4: 
func.func @main(%a: tensor<2x!quant.uniform<i8:i32, 0.5>>) -> (tensor<2x!quant.uniform<i8:i32, 0.5>>) {
  return %a : tensor<2x!quant.uniform<i8:i32, 0.5>>
}
