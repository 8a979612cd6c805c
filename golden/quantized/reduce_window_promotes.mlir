// oracle: rational
// arg0: s8[6] {-100, -67, -34, -1, 32, 65}
// arg1: s8[] 1
// out0: s8[3] {-14, -6, 19}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>, %b: tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<3x!quant.uniform<i8:f32, 2.0:5>>) {
  %0 = "stablehlo.reduce_window"(%a, %b) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 2.0:5>>, %y: tensor<!quant.uniform<i8:f32, 2.0:5>>):
      %s = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 2.0:5>>
      stablehlo.return %s : tensor<!quant.uniform<i8:f32, 2.0:5>>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>,
    padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>, tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<3x!quant.uniform<i8:f32, 2.0:5>>
  return %0 : tensor<3x!quant.uniform<i8:f32, 2.0:5>>
}
