// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// out0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
}
