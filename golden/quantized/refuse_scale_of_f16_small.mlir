// refuse: 3 QUANT-5: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f16, 1.0e-8>>) -> (tensor<2x!quant.uniform<i8:f16, 1.0e-8>>) {
  return %a : tensor<2x!quant.uniform<i8:f16, 1.0e-8>>
}
