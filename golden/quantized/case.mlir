// oracle: hand
// arg0: s32[] 1
// arg1: s8[2] {-20, -13}
// arg2: s8[2] {50, 55}
// out0: s8[2] {50, 55}
func.func @main(%a: tensor<i32>, %b: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %c: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.case"(%a) ({ stablehlo.return %b : tensor<2x!quant.uniform<i8:f32, 0.5:3>> }, { stablehlo.return %c : tensor<2x!quant.uniform<i8:f32, 0.5:3>> }) : (tensor<i32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
