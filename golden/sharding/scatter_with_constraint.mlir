// oracle: hand
// rule: SDY-1
// arg0: f32[2] {0, 3}
// arg1: s32[4,1] {{0}, {0}, {0}, {0}}
// arg2: f32[4] {1e8, 1, -1e8, 1}
// out0: f32[2] {2, 3}
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<2xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = sdy.sharding_constraint %a <@m, []> : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
