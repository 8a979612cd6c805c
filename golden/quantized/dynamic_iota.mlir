// oracle: hand
// arg0: s64[1] {4}
// out0: s8[4] {3, 5, 7, 9}
func.func @main(%a: tensor<1xi64>) -> (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.dynamic_iota %a, dim = 0 : (tensor<1xi64>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}
