// oracle: hand
// rule: SDY-10, SDY-11, SDY-19
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {208, 209, 210, 211}, {212, 213, 214, 215}}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"r", "c"}, {?}]>] out_shardings=[<@m, [{"r", "c"}, {?}]>] manual_axes={"r"} (%y: tensor<2x4xi32>) {
      %p = stablehlo.partition_id : tensor<ui32>
      %i = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
      %hundred = stablehlo.constant dense<100> : tensor<i32>
      %k = stablehlo.multiply %i, %hundred : tensor<i32>
      %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
      %z = stablehlo.add %y, %kb : tensor<2x4xi32>
      sdy.return %z : tensor<2x4xi32>
    } : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>
  }
}
