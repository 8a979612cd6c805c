// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// out0: s32[] 3
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<i32>) {
  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<i32>
  return %0 : tensor<i32>
}
