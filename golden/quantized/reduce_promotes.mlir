// oracle: rational
// rule: QUANT-31
// arg0: s8[3,6] {{-128, -113, -98, -83, -68, -53}, {-38, -23, -8, 7, 22, 37}, {52, 67, 82, 97, 112, 127}}
// arg1: s8[] 1
// out0: s32[3] {-4168, 152, 4472}
func.func @main(%a: tensor<3x6x!quant.uniform<i8:f32, 0.25:-3>>, %b: tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<3x!quant.uniform<i32:f32, 0.03125:0>>) {
  %0 = "stablehlo.reduce"(%a, %b) ({
    ^bb0(%x: tensor<!quant.uniform<i32:f32, 0.03125:0>>, %y: tensor<!quant.uniform<i32:f32, 0.03125:0>>):
      %s = stablehlo.add %x, %y : tensor<!quant.uniform<i32:f32, 0.03125:0>>
      stablehlo.return %s : tensor<!quant.uniform<i32:f32, 0.03125:0>>
  }) {dimensions = array<i64: 1>} : (tensor<3x6x!quant.uniform<i8:f32, 0.25:-3>>, tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<3x!quant.uniform<i32:f32, 0.03125:0>>
  return %0 : tensor<3x!quant.uniform<i32:f32, 0.03125:0>>
}
