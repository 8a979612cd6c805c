// oracle: hand
// rule: QUANT-12
// out0: s16[2] {258, -2}
func.func @main() -> (tensor<2x!quant.uniform<i16:f32, 1.0:0>>) {
  %0 = stablehlo.constant dense<"0x0201FEFF"> : tensor<2x!quant.uniform<i16:f32, 1.0:0>>
  return %0 : tensor<2x!quant.uniform<i16:f32, 1.0:0>>
}
