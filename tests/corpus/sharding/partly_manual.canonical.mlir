module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32>) -> (tensor<2xi32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"r", ?}, {?}]>] out_shardings=[<@mesh, [{?}]>] manual_axes={"r"} (%arg1: tensor<2x4xi32>) {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.reduce(%arg1 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x4xi32>, tensor<i32>) -> tensor<2xi32>
      %2 = sdy.sharding_constraint %1 <@mesh, [{?}]> : tensor<2xi32>
      %3 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"c"} () {
        %c_1 = stablehlo.constant dense<2> : tensor<ui32>
        %c_2 = stablehlo.constant dense<2> : tensor<ui32>
        %11 = stablehlo.partition_id : tensor<ui32>
        %12 = stablehlo.divide %11, %c_1 : tensor<ui32>
        %13 = stablehlo.remainder %12, %c_2 : tensor<ui32>
        %14 = stablehlo.convert %13 : (tensor<ui32>) -> tensor<i32>
        sdy.return %14 : tensor<i32>
      } : () -> tensor<i32>
      %c_0 = stablehlo.constant dense<100> : tensor<i32>
      %4 = stablehlo.multiply %c_0, %3 : tensor<i32>
      %5 = sdy.sharding_constraint %4 <@mesh, []> : tensor<i32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %7 = sdy.sharding_constraint %6 <@mesh, [{?}]> : tensor<2xi32>
      %8 = stablehlo.add %2, %7 : tensor<2xi32>
      %9 = sdy.sharding_constraint %8 <@mesh, [{?}]> : tensor<2xi32>
      %10 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
        %11 = stablehlo.add %arg2, %arg3 : tensor<i32>
        %12 = sdy.sharding_constraint %11 <@mesh, []> : tensor<i32>
        stablehlo.return %12 : tensor<i32>
      }) : (tensor<2xi32>) -> tensor<2xi32>
      sdy.return %10 : tensor<2xi32>
    } : (tensor<4x4xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
