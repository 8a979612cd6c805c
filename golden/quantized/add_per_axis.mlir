// oracle: rational
// rule: QUANT-21, QUANT-23
// arg0: s8[3,2] {{-60, -96}, {2, -68}, {125, 102}}
// arg1: s8[3,2] {{-100, -82}, {-85, 56}, {-42, 29}}
// out0: s8[3,2] {{-100, -43}, {-92, 8}, {100, 27}}
func.func @main(%a: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 0.125:-1}>>, %b: tensor<3x2x!quant.uniform<i8:f32, 0.25:9>>) -> (tensor<3x2x!quant.uniform<i8<-100:100>:f32:1, {0.25:0, 0.75:3}>>) {
  %0 = stablehlo.add %a, %b : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 0.125:-1}>>, tensor<3x2x!quant.uniform<i8:f32, 0.25:9>>) -> tensor<3x2x!quant.uniform<i8<-100:100>:f32:1, {0.25:0, 0.75:3}>>
  return %0 : tensor<3x2x!quant.uniform<i8<-100:100>:f32:1, {0.25:0, 0.75:3}>>
}
