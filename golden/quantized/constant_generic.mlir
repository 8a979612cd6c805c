// oracle: hand
// rule: QUANT-12
// out0: s8[2] {3, -7}
func.func @main() -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.constant"() {value = dense<[3, -7]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
