// oracle: hand
// arg0: f32[2] {1, -2}
// out0: f32[2] {-1, 2}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true} : (tensor<2xf32>) -> ()
  %0 = stablehlo.custom_call @ShardBarrierFrom(%x) {has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.negate %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
