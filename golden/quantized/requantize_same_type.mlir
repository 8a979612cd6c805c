// oracle: spec
// rule: QUANT-18
// arg0: s8[4] {-127, -95, 1, 0}
// out0: s8[4] {-126, -94, 1, 0}
func.func @main(%a: tensor<4x!quant.uniform<i8:bf16, 0.75:0>>) -> (tensor<4x!quant.uniform<i8:bf16, 0.75:0>>) {
  %0 = stablehlo.uniform_quantize %a : tensor<4x!quant.uniform<i8:bf16, 0.75:0>>
  return %0 : tensor<4x!quant.uniform<i8:bf16, 0.75:0>>
}
