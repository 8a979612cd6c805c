// oracle: hand
// rule: SDY-15, SDY-17
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{2, 3, 4, 5}, {6, 7, 8, 9}, {10, 11, 12, 13}, {14, 15, 16, 17}}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"r"}, {}], unreduced={"c"}>] out_shardings=[<@m, [{"r"}, {}], unreduced={"c"}>] manual_axes={"r", "c"} (%y: tensor<2x4xi32>) {
      %one = stablehlo.constant dense<1> : tensor<2x4xi32>
      %z = stablehlo.add %y, %one : tensor<2x4xi32>
      sdy.return %z : tensor<2x4xi32>
    } : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>
  }
}
