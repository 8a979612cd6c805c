// oracle: rational
// arg0: pred[16] {true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true}
// arg1: s8[16] {-7, -62, 61, 114, -95, -122, 112, 4, -9, -30, 112, 115, 75, -51, -10, -51}
// arg2: s8[16] {-8, 27, -76, 74, 117, -49, -82, -94, -118, 77, 20, -98, -15, 56, 13, -40}
// out0: s8[16] {2, 17, -128, 62, 127, -128, 62, -128, -128, -10, 3, -128, 43, 75, -11, -20}
func.func @main(%a: tensor<16xi1>, %b: tensor<16x!quant.uniform<i8:f32, 0.0625:-5>>, %c: tensor<16x!quant.uniform<i8:f32, 0.25:20>>) -> (tensor<16x!quant.uniform<i8:f32, 0.125:3>>) {
  %0 = stablehlo.select %a, %b, %c : (tensor<16xi1>, tensor<16x!quant.uniform<i8:f32, 0.0625:-5>>, tensor<16x!quant.uniform<i8:f32, 0.25:20>>) -> tensor<16x!quant.uniform<i8:f32, 0.125:3>>
  return %0 : tensor<16x!quant.uniform<i8:f32, 0.125:3>>
}
