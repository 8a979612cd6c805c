// oracle: hand
// rule: SDY-16
// decision: manual-regions
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{10, 12, 14, 16}, {18, 20, 22, 24}, {26, 28, 30, 32}, {34, 36, 38, 40}}
// The first region leaves "c" unnamed though its values differ along it: devices with c = 0 go on with columns 0 and 1, the others
// with columns 2 and 3, and the second region puts them side by side again.
module @manual_region_copies_differ attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"r"}, {"c"}]>] out_shardings=[<@m, [{"r"}, {}]>] manual_axes={"r", "c"} (%arg1: tensor<2x2xi32>) {
      %twice = stablehlo.add %arg1, %arg1 : tensor<2x2xi32>
      sdy.return %twice : tensor<2x2xi32>
    } : (tensor<4x4xi32>) -> tensor<4x2xi32>
    %ten = stablehlo.constant dense<10> : tensor<4x2xi32>
    %1 = stablehlo.add %0, %ten : tensor<4x2xi32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@m, [{"r"}, {}]>] out_shardings=[<@m, [{"r"}, {"c"}]>] manual_axes={"r", "c"} (%arg1: tensor<2x2xi32>) {
      sdy.return %arg1 : tensor<2x2xi32>
    } : (tensor<4x2xi32>) -> tensor<4x4xi32>
    return %2 : tensor<4x4xi32>
  }
}
