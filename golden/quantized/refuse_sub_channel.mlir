// refuse: 4 QUANT-9: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:{0:1}, {0.5, 0.5}>>) -> (tensor<2x!quant.uniform<i8:f32:{0:1}, {0.5, 0.5}>>) {
  return %a : tensor<2x!quant.uniform<i8:f32:{0:1}, {0.5, 0.5}>>
}
