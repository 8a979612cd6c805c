// oracle: rational
// arg0: s4[24] {-3, 5, 7, 2, -3, -3, 4, 6, 1, 4, 0, -6, 2, 5, 6, -1, 4, 6, -6, 5, -1, 5, 7, 1}
// arg1: s4[24] {0, -5, -3, -5, 1, -7, 0, 5, 7, -3, 3, 3, 1, -3, 5, -4, -1, -6, -4, -1, -7, 7, -1, -5}
// out0: s4[24] {5, -4, -5, 2, 4, 7, 1, 6, 0, -1, 1, 0, 2, -2, 6, 7, 0, -8, 7, -1, 7, 6, -2, 4}
func.func @main(%a: tensor<24x!quant.uniform<i4:bf16, 0.3:2>>, %b: tensor<24x!quant.uniform<i4:bf16, 0.3:2>>) -> (tensor<24x!quant.uniform<i4:bf16, 0.3:2>>) {
  %0 = stablehlo.multiply %a, %b : tensor<24x!quant.uniform<i4:bf16, 0.3:2>>
  return %0 : tensor<24x!quant.uniform<i4:bf16, 0.3:2>>
}
