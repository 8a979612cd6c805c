// oracle: hand
// rule: SDY-12
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
// out1: s32[2,2] {{-10, -11}, {-14, -15}}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func private @negated(%y: tensor<2x2xi32>) -> tensor<2x2xi32> {
    %0 = stablehlo.negate %y : tensor<2x2xi32>
    return %0 : tensor<2x2xi32>
  }
  func.func public @main(%x: tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<2x2xi32>) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"r"}, {"c"}]>] out_shardings=[<@m, [{"r"}, {"c"}]>] manual_axes={"r", "c"} (%y: tensor<2x2xi32>) {
      %1 = func.call @negated(%y) : (tensor<2x2xi32>) -> tensor<2x2xi32>
      sdy.return %1 : tensor<2x2xi32>
    } : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %corner = stablehlo.slice %x [2:4, 2:4] : (tensor<4x4xi32>) -> tensor<2x2xi32>
    %2 = func.call @negated(%corner) : (tensor<2x2xi32>) -> tensor<2x2xi32>
    return %0, %2 : tensor<4x4xi32>, tensor<2x2xi32>
  }
}
