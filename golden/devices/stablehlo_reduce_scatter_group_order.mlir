// oracle: the definition, in Python
// decision: stablehlo-group-order
// r0p0/arg0: s32[8] {1, 2, 3, 4, 5, 6, 7, 8}
// r0p1/arg0: s32[8] {10, 20, 30, 40, 50, 60, 70, 80}
// r1p0/arg0: s32[8] {100, 200, 300, 400, 500, 600, 700, 800}
// r1p1/arg0: s32[8] {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000}
// r0p0/out0: s32[2] {1111, 2222}
// r0p1/out0: s32[2] {5555, 6666}
// r1p0/out0: s32[2] {3333, 4444}
// r1p1/out0: s32[2] {7777, 8888}
module @reduce_scatter_group_order attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<8xi32>) -> tensor<2xi32> {
    %r = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64} : (tensor<8xi32>) -> tensor<2xi32>
    return %r : tensor<2xi32>
  }
}
