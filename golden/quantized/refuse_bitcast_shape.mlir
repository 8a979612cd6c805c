// refuse: 3 BitcastConvertType-C5: 
// rule: QUANT-32
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i16:f32, 0.5:3>>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i16:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i16:f32, 0.5:3>>
}
