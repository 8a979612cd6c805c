// oracle: hand
// rule: SDY-20, SDY-21
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[2,4] {{8, 10, 12, 14}, {16, 18, 20, 22}}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<2x4xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"r"}, {"c"}]>] out_shardings=[<@m, [{}, {}]>] manual_axes={"r", "c"} (%y: tensor<2x2xi32>) {
      %1 = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
      %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x2xi32>) -> tensor<2x4xi32>
      sdy.return %2 : tensor<2x4xi32>
    } : (tensor<4x4xi32>) -> tensor<2x4xi32>
    return %0 : tensor<2x4xi32>
  }
}
