// oracle: the definition, in Python
// decision: stablehlo-group-order
// r0p0/arg0: s32[2] {1, 5}
// r0p1/arg0: s32[2] {3, 6}
// r1p0/arg0: s32[2] {9, 7}
// r1p1/arg0: s32[2] {27, 8}
// out0: s32[2] {-61, -8}
module @all_reduce_group_order attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2xi32>) -> tensor<2xi32> {
    %r = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %a : tensor<i32>
      %d = stablehlo.subtract %c, %b : tensor<i32>
      stablehlo.return %d : tensor<i32>
    }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    return %r : tensor<2xi32>
  }
}
