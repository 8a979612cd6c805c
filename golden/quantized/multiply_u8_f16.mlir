// oracle: rational
// arg0: u8[24] {244, 57, 142, 168, 133, 187, 174, 200, 1, 86, 113, 106, 57, 111, 38, 123, 210, 236, 109, 249, 39, 149, 194, 6}
// arg1: u8[24] {169, 23, 142, 5, 146, 230, 214, 146, 101, 232, 237, 47, 18, 253, 240, 41, 229, 58, 5, 53, 19, 170, 121, 139}
// out0: u8[24] {255, 255, 255, 0, 255, 255, 255, 255, 0, 129, 255, 0, 255, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0}
func.func @main(%a: tensor<24x!quant.uniform<ui8:f16, 0.3:85>>, %b: tensor<24x!quant.uniform<ui8:f16, 0.3:85>>) -> (tensor<24x!quant.uniform<ui8:f16, 0.3:85>>) {
  %0 = stablehlo.multiply %a, %b : tensor<24x!quant.uniform<ui8:f16, 0.3:85>>
  return %0 : tensor<24x!quant.uniform<ui8:f16, 0.3:85>>
}
