// oracle: rational
// rule: QUANT-31
// arg0: s8[6] {-100, -67, -34, -1, 32, 65}
// out0: s32[6] {-776, -512, -248, 16, 280, 544}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i32:f32, 0.03125:0>>) {
  %0 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<!quant.uniform<i32:f32, 0.03125:0>>, %y: tensor<!quant.uniform<i32:f32, 0.03125:0>>):
      %s = stablehlo.add %x, %y : tensor<!quant.uniform<i32:f32, 0.03125:0>>
      stablehlo.return %s : tensor<!quant.uniform<i32:f32, 0.03125:0>>
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6x!quant.uniform<i32:f32, 0.03125:0>>
  return %0 : tensor<6x!quant.uniform<i32:f32, 0.03125:0>>
}
