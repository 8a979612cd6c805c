// refuse: 3 QUANT-30: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25}>>) -> (tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>
}
