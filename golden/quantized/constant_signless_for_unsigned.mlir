// oracle: hand
// rule: QUANT-12
// out0: u8[3] {255, 128, 1}
// out1: f32[3] {0x1.f8p+6, 0x1.f4p+5, -0x1p+0}
func.func @main() -> (tensor<3x!quant.uniform<ui8:f32, 0.5:3>>, tensor<3xf32>) {
  %0 = "stablehlo.constant"() {value = dense<[-1, 128, 1]> : tensor<3xi8>} : () -> tensor<3x!quant.uniform<ui8:f32, 0.5:3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!quant.uniform<ui8:f32, 0.5:3>>) -> tensor<3xf32>
  return %0, %1 : tensor<3x!quant.uniform<ui8:f32, 0.5:3>>, tensor<3xf32>
}
