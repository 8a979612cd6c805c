// oracle: hand
// arg0: s8[2] {-20, -13}
// arg1: s8[] 77
// out0: s8[5] {77, -20, 77, -13, 77}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<5x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.pad %a, %b, low = [1], high = [1], interior = [1] : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<5x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<5x!quant.uniform<i8:f32, 0.5:3>>
}
