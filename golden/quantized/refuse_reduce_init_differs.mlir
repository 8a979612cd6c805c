// refuse: 3 QUANT-31: 
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<!quant.uniform<i8:f32, 0.25:3>>) -> (tensor<!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5:3>>, %y: tensor<!quant.uniform<i8:f32, 0.5:3>>):
      %s = stablehlo.maximum %x, %y : tensor<!quant.uniform<i8:f32, 0.5:3>>
      stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.5:3>> }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<!quant.uniform<i8:f32, 0.25:3>>) -> tensor<!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<!quant.uniform<i8:f32, 0.5:3>>
}
