// oracle: rational
// arg0: s8[6] {65, 32, -1, -34, -67, -100}
// out0: s8[6] {-100, -67, -34, -1, 32, 65}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) {
  %0 = "stablehlo.sort"(%a) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.25:-3>>, %y: tensor<!quant.uniform<i8:f32, 0.25:-3>>):
      %s = stablehlo.compare LT, %x, %y : (tensor<!quant.uniform<i8:f32, 0.25:-3>>, tensor<!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
}
