// oracle: rational
// arg0: s8[3,6] {{-128, -113, -98, -83, -68, -53}, {-38, -23, -8, 7, 22, 37}, {52, 67, 82, 97, 112, 127}}
// arg1: s8[] 1
// out0: s8[3] {1, 37, 127}
func.func @main(%a: tensor<3x6x!quant.uniform<i8:f32, 0.25:-3>>, %b: tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<3x!quant.uniform<i8:f32, 0.25:-3>>) {
  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.maximum across dimensions = [1] : (tensor<3x6x!quant.uniform<i8:f32, 0.25:-3>>, tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<3x!quant.uniform<i8:f32, 0.25:-3>>
  return %0 : tensor<3x!quant.uniform<i8:f32, 0.25:-3>>
}
