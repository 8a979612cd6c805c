// refuse: 4 has no bound
func.func @main(%a: tensor<?x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<?x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<?x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.multiply %a, %b : (tensor<?x!quant.uniform<i8:f32, 0.5:3>>, tensor<?x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<?x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<?x!quant.uniform<i8:f32, 0.5:3>>
}
