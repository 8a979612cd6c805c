// oracle: hand
// arg0: s8[2,2] {{5, 1}, {3, 9}}
// arg1: s8[2,1] {{10}, {-12}}
// out0: s8[2,1] {{4}, {-6}}
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>, %b: tensor<2x1x!quant.uniform<i8:f32, 0.25:-2>>) -> (tensor<2x1x!quant.uniform<i8:f32, 0.25:-2>>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x1x!quant.uniform<i8:f32, 0.25:-2>>) -> tensor<2x1x!quant.uniform<i8:f32, 0.25:-2>>
  return %0 : tensor<2x1x!quant.uniform<i8:f32, 0.25:-2>>
}
