// oracle: hand
// rule: SDY-1, SDY-5
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  sdy.mesh @two = <["a"=2]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.sharding_constraint %x <@two, [{"a"}, {}]> : tensor<4x4xi32>
    %1 = stablehlo.negate %0 : tensor<4x4xi32>
    return %1 : tensor<4x4xi32>
  }
}
