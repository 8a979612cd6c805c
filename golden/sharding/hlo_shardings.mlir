// oracle: hand
// rule: SDY-1
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
func.func @main(%x: tensor<4x4xi32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> (tensor<4x4xi32> {mhlo.sharding = "{devices=[4,1]<=[2,2]T(1,0)}"}) {
  %0 = stablehlo.negate %x {mhlo.sharding = "{manual}"} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
