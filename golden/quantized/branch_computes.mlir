// oracle: rational
// arg0: pred[] true
// arg1: s8[2] {-20, -13}
// arg2: s8[2] {50, 55}
// out0: s8[2] {27, 39}
func.func @main(%a: tensor<i1>, %b: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %c: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.if"(%a) ({
    %s = stablehlo.add %b, %c : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    stablehlo.return %s : tensor<2x!quant.uniform<i8:f32, 0.5:3>> }, { stablehlo.return %c : tensor<2x!quant.uniform<i8:f32, 0.5:3>> }) : (tensor<i1>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
