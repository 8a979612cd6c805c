// refuse: 3 QUANT-30: 
func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>) -> (tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3, 0.5:3}>>) {
  %0 = stablehlo.reshape %a : (tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>) -> tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3, 0.5:3}>>
  return %0 : tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3, 0.5:3}>>
}
