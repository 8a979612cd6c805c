// oracle: hand
// rule: SDY-1
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<4x4xi32>) -> ()
  %0 = stablehlo.negate %x : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
