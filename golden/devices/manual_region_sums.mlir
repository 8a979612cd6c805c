// oracle: spec
// rule: SDY-2, SDY-14, SDY-16, SDY-19, SDY-20
// decision: manual-regions
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[2,4] {{8, 10, 24, 28}, {16, 18, 40, 44}}
module @manual_region_sums attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32>) -> tensor<2x4xi32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"r"}, {"c"}]>] out_shardings=[<@m, [{}, {"c"}]>] manual_axes={"r", "c"} (%arg1: tensor<2x2xi32>) {
      %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %p = stablehlo.partition_id : tensor<ui32>
      %c = stablehlo.remainder %p, %two : tensor<ui32>
      %i = stablehlo.convert %c : (tensor<ui32>) -> tensor<i32>
      %k = stablehlo.add %i, %one : tensor<i32>
      %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
      %2 = stablehlo.multiply %1, %kb : tensor<2x2xi32>
      sdy.return %2 : tensor<2x2xi32>
    } : (tensor<4x4xi32>) -> tensor<2x4xi32>
    return %0 : tensor<2x4xi32>
  }
}
