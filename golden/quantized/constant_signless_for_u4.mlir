// oracle: hand
// rule: QUANT-13
// out0: u4[3] {15, 8, 1}
// out1: f32[3] {0x1.ep+2, 0x1p+2, 0x1p-1}
func.func @main() -> (tensor<3x!quant.uniform<ui4:f32, 0.5:0>>, tensor<3xf32>) {
  %0 = "stablehlo.constant"() {value = dense<[-1, 8, 1]> : tensor<3xi4>} : () -> tensor<3x!quant.uniform<ui4:f32, 0.5:0>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!quant.uniform<ui4:f32, 0.5:0>>) -> tensor<3xf32>
  return %0, %1 : tensor<3x!quant.uniform<ui4:f32, 0.5:0>>, tensor<3xf32>
}
