// oracle: rational
// arg0: f32[2,6] {{-0x1p-1, -0x1.99999ap-2, -0x1.333334p-2, -0x1.99999ap-3, -0x1.99999ap-4, 0}, {0x1.99999ap-4, 0x1.99999ap-3, 0x1.333334p-2, 0x1.99999ap-2, 0x1p-1, 0x1.333334p-1}}
// arg1: u8[6,2] {{120, 155}, {52, 202}, {245, 79}, {46, 34}, {10, 205}, {148, 30}}
// out0: f32[2,2] {{0x1.29999cp+2, -0x1.1947aep+3}, {-0x1.a570a4p+3, -0x1.6fae18p+3}}
func.func @main(%a: tensor<2x6xf32>, %b: tensor<6x2x!quant.uniform<ui8:f32, 0.3:120>>) -> (tensor<2x2xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<2x6xf32>, tensor<6x2x!quant.uniform<ui8:f32, 0.3:120>>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
