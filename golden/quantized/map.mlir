// oracle: rational
// arg0: s8[6] {-100, -67, -34, -1, 32, 65}
// out0: s8[6] {-128, -128, -65, 1, 67, 127}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) {
  %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.25:-3>>):
      %s = stablehlo.add %x, %x : tensor<!quant.uniform<i8:f32, 0.25:-3>>
      stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.25:-3>>
  }) {dimensions = array<i64: 0>} : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
}
