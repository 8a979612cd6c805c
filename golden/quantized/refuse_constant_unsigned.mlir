// refuse: 3 QUANT-12: 
func.func @main() -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.constant"() {value = dense<1> : tensor<2xui8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
