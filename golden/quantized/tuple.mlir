// oracle: hand
// arg0: s8[2] {-20, -13}
// arg1: s8[2] {50, 55}
// out0: s8[2] {50, 55}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
