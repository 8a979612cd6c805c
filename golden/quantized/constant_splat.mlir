// oracle: hand
// rule: QUANT-12
// out0: s8[2,2] {{-5, -5}, {-5, -5}}
func.func @main() -> (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.constant dense<-5> : tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
}
