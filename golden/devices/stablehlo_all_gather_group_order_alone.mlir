// oracle: the definition, in Python
// decision: stablehlo-group-order
// One replica in a group: its partitions in order, in HLO as in StableHLO.
// r0p0/arg0: s32[2,3] {{1, 2, 3}, {4, 5, 6}}
// r0p1/arg0: s32[2,3] {{11, 22, 33}, {44, 55, 66}}
// r1p0/arg0: s32[2,3] {{21, 42, 63}, {84, 105, 126}}
// r1p1/arg0: s32[2,3] {{31, 62, 93}, {124, 155, 186}}
// r0p0/out0: s32[4,3] {{1, 2, 3}, {4, 5, 6}, {11, 22, 33}, {44, 55, 66}}
// r0p1/out0: s32[4,3] {{1, 2, 3}, {4, 5, 6}, {11, 22, 33}, {44, 55, 66}}
// r1p0/out0: s32[4,3] {{21, 42, 63}, {84, 105, 126}, {31, 62, 93}, {124, 155, 186}}
// r1p1/out0: s32[4,3] {{21, 42, 63}, {84, 105, 126}, {31, 62, 93}, {124, 155, 186}}
module @all_gather_group_order_alone attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2x3xi32>) -> tensor<4x3xi32> {
    %r = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<2x3xi32>) -> tensor<4x3xi32>
    return %r : tensor<4x3xi32>
  }
}
