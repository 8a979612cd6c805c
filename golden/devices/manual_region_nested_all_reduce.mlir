// oracle: spec
// rule: SDY-10, SDY-11, SDY-18, SDY-19, SDY-20
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[2] {144, 176}
module @manual_region_nested attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32>) -> tensor<2xi32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"r", ?}, {?}]>] out_shardings=[<@m, [{?}]>] manual_axes={"r"} (%arg1: tensor<2x4xi32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.reduce(%arg1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4xi32>, tensor<i32>) -> tensor<2xi32>
      %2 = sdy.manual_computation() in_shardings=[] out_shardings=[<@m, []>] manual_axes={"c"} () {
        %two = stablehlo.constant dense<2> : tensor<ui32>
        %p = stablehlo.partition_id : tensor<ui32>
        %q = stablehlo.divide %p, %two : tensor<ui32>
        %r = stablehlo.remainder %q, %two : tensor<ui32>
        %i = stablehlo.convert %r : (tensor<ui32>) -> tensor<i32>
        sdy.return %i : tensor<i32>
      } : () -> tensor<i32>
      %hundred = stablehlo.constant dense<100> : tensor<i32>
      %k = stablehlo.multiply %2, %hundred : tensor<i32>
      %3 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %4 = stablehlo.add %1, %3 : tensor<2xi32>
      %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<2xi32>) -> tensor<2xi32>
      sdy.return %5 : tensor<2xi32>
    } : (tensor<4x4xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
