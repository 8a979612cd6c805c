// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// arg1: s8[1,2] {{90, 91}}
// arg2: s32[] 1
// arg3: s32[] 1
// out0: s8[2,3] {{-20, -13, -6}, {1, 90, 91}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>, %c: tensor<i32>, %d: tensor<i32>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %c, %d : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<i32>, tensor<i32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
}
