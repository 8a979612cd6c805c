// oracle: hand
// rule: SDY-13
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
module @region attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @a = <["a"=1]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@a, [{"a"}, {}]>] out_shardings=[<@a, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<4x4xi32>) {
      %z = stablehlo.negate %y : tensor<4x4xi32>
      sdy.return %z : tensor<4x4xi32>
    } : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>
  }
}
