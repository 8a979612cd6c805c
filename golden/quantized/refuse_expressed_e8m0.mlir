// refuse: 4 QUANT-4: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f8E8M0FNU, 0.5>>) -> (tensor<2x!quant.uniform<i8:f8E8M0FNU, 0.5>>) {
  return %a : tensor<2x!quant.uniform<i8:f8E8M0FNU, 0.5>>
}
