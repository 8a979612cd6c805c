// refuse: 3 QUANT-5: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0x7FF0000000000000>>) -> (tensor<2x!quant.uniform<i8:f32, 0x7FF0000000000000>>) {
  return %a : tensor<2x!quant.uniform<i8:f32, 0x7FF0000000000000>>
}
