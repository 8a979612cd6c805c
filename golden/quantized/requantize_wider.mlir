// oracle: rational
// arg0: u8[3] {0, 128, 255}
// out0: s32[3] {-64000, 0, 63500}
func.func @main(%a: tensor<3x!quant.uniform<ui8:f32, 0.5:128>>) -> (tensor<3x!quant.uniform<i32:f32, 0.001:0>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<3x!quant.uniform<ui8:f32, 0.5:128>>) -> tensor<3x!quant.uniform<i32:f32, 0.001:0>>
  return %0 : tensor<3x!quant.uniform<i32:f32, 0.001:0>>
}
