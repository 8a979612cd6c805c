// refuse: 3 want an integer
func.func @main() -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.constant dense<1.0> : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
