// oracle: hand
// arg0: s8[2,2] {{9, 7}, {7, 7}}
// out0: s8[2,2] {{6, -2}, {4, 1}}
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.25:-2>>) {
  %0 = stablehlo.cholesky %a, lower = true : (tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25:-2>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.25:-2>>
}
