// oracle: rational
// arg0: s8[6] {-100, -67, -34, -1, 32, 65}
// arg1: s32[3] {1, 4, 1}
// arg2: s8[3] {50, 70, 90}
// out0: s8[6] {-100, 79, -34, -1, 105, 65}
func.func @main(%a: tensor<6x!quant.uniform<i8:f32, 0.25:-3>>, %b: tensor<3xi32>, %c: tensor<3x!quant.uniform<i8:f32, 0.25:-3>>) -> (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>) {
  %0 = "stablehlo.scatter"(%a, %b, %c) ({
    ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.25:-3>>, %y: tensor<!quant.uniform<i8:f32, 0.25:-3>>):
      %s = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 0.25:-3>>
      stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.25:-3>>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x!quant.uniform<i8:f32, 0.25:-3>>, tensor<3xi32>, tensor<3x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
  return %0 : tensor<6x!quant.uniform<i8:f32, 0.25:-3>>
}
