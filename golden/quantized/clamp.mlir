// oracle: rational
// arg0: s8[] 19
// arg1: s8[16] {-7, -62, 61, 114, -95, -122, 112, 4, -9, -30, 112, 115, 75, -51, -10, -51}
// arg2: s8[] 11
// out0: s8[16] {20, 19, 24, 24, 19, 19, 24, 22, 19, 19, 24, 24, 24, 19, 19, 19}
func.func @main(%a: tensor<!quant.uniform<i8:f32, 0.25:20>>, %b: tensor<16x!quant.uniform<i8:f32, 0.0625:-5>>, %c: tensor<!quant.uniform<i8:f32, 0.125:3>>) -> (tensor<16x!quant.uniform<i8:f32, 0.25:20>>) {
  %0 = stablehlo.clamp %a, %b, %c : (tensor<!quant.uniform<i8:f32, 0.25:20>>, tensor<16x!quant.uniform<i8:f32, 0.0625:-5>>, tensor<!quant.uniform<i8:f32, 0.125:3>>) -> tensor<16x!quant.uniform<i8:f32, 0.25:20>>
  return %0 : tensor<16x!quant.uniform<i8:f32, 0.25:20>>
}
