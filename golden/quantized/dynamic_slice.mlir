// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// arg1: s32[] 1
// arg2: s32[] 1
// out0: s8[1,2] {{8, 15}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<i32>, %c: tensor<i32>) -> (tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.dynamic_slice %a, %b, %c, sizes = [1, 2] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<i32>, tensor<i32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
}
