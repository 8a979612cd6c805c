// oracle: hand
// arg0: s8[6] {-100, -67, -34, -1, 32, 65}
// out0: s8[6] {-100, -67, -34, -1, 32, 65}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) {
  %0 = "stablehlo.reduce_scatter"(%a) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.25:-3>>, %y: tensor<!quant.uniform<i8:f32, 0.25:-3>>):
      %s = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 0.25:-3>>
      stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.25:-3>>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
}
