// oracle: rational
// rule: QUANT-31
// arg0: s8[6] {-100, -67, -34, -1, 32, 65}
// arg1: s8[2] {40, 70}
// arg2: s8[] -7
// out0: s8[6] {-7, -7, 36, -7, -7, 66}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>, %b: tensor<2x!quant.uniform<i8:f32, 0.25:-3>>, %c: tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) {
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.25:-3>>, %y: tensor<!quant.uniform<i8:f32, 0.25:-3>>):
      %s = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i8:f32, 0.25:-3>>, tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
  }, {
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.25:-3>>, %y: tensor<!quant.uniform<i8:f32, 0.25:-3>>):
      %s = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 0.25:-3>>
      stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.25:-3>>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 3>}
    : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>, tensor<2x!quant.uniform<i8:f32, 0.25:-3>>, tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
}
