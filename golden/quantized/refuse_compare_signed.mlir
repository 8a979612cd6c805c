// refuse: 3 Compare-C2
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2xi1>) {
  %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
