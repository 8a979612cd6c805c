// refuse: 3 QUANT-21: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<1xi8>, %c: tensor<i32>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<1xi8>, tensor<i32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
