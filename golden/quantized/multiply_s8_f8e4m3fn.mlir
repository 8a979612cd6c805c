// oracle: rational
// arg0: s8[24] {-102, 4, 107, -79, -56, 5, -97, -40, 0, 95, -114, -30, 68, -95, -59, 52, 116, 51, 115, 38, -41, -100, 79, -62}
// arg1: s8[24] {-32, 27, 13, -41, 18, 122, 15, -98, -66, -23, -12, 96, -86, 7, 36, 20, 35, 11, 43, -42, 95, 126, 39, -107}
// out0: s8[24] {0, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 127, -24, -120, -48, 64, 127, 0, 0, 8, 0}
func.func @main(%a: tensor<24x!quant.uniform<i8:f8E4M3FN, 0.3:42>>, %b: tensor<24x!quant.uniform<i8:f8E4M3FN, 0.3:42>>) -> (tensor<24x!quant.uniform<i8:f8E4M3FN, 0.3:42>>) {
  %0 = stablehlo.multiply %a, %b : tensor<24x!quant.uniform<i8:f8E4M3FN, 0.3:42>>
  return %0 : tensor<24x!quant.uniform<i8:f8E4M3FN, 0.3:42>>
}
