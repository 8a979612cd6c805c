// oracle: hand
// arg0: s8[2,3] {{-20, -13, -6}, {1, 8, 15}}
// arg1: s32[2] {1, 0}
// out0: s8[2,3] {{1, 8, 15}, {-20, -13, -6}}
func.func @main(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2xi32>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) {
  %0 = "stablehlo.gather"(%a, %b) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>, indices_are_sorted = false} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<2xi32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
}
