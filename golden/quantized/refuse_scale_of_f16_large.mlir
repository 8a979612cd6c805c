// refuse: 3 QUANT-5: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f16, 65536.0>>) -> (tensor<2x!quant.uniform<i8:f16, 65536.0>>) {
  return %a : tensor<2x!quant.uniform<i8:f16, 65536.0>>
}
