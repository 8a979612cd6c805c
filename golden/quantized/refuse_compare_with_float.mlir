// refuse: 3 QUANT-21: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2xf32>) -> (tensor<2xi1>) {
  %0 = stablehlo.compare LT, %a, %b : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
