// oracle: hand
// arg0: s8[2] {-20, -13}
// out0: s8[2,2] {{-20, -13}, {-20, -13}}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.broadcast %a, sizes = [2] : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
}
