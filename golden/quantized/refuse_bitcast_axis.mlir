// refuse: 3 QUANT-8: 
// rule: QUANT-32
func.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<4x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>
  return %0 : tensor<4x!quant.uniform<i8:f32:0, {0.5:3, 0.5:3}>>
}
