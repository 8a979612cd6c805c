module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["r"=2, "c"=2]>
  func.func public @main(%arg0: tensor<4x4xi32>, %arg1: tensor<4x4xi32>) -> (tensor<2x4xi32>, tensor<4x4xi32>) {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"r"}, {"c"}]>, <@mesh, [{"r"}, {}]>] out_shardings=[<@mesh, [{}, {"c"}]>, <@mesh, [{"r"}, {}]>] manual_axes={"r", "c"} (%arg2: tensor<2x2xi32>, %arg3: tensor<2x4xi32>) {
      %1 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
        %8 = stablehlo.add %arg4, %arg5 : tensor<i32>
        stablehlo.return %8 : tensor<i32>
      }) : (tensor<2x2xi32>) -> tensor<2x2xi32>
      %c = stablehlo.constant dense<2> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.divide %2, %c : tensor<ui32>
      %4 = stablehlo.remainder %3, %c_0 : tensor<ui32>
      %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
      %7 = stablehlo.multiply %arg3, %6 : tensor<2x4xi32>
      sdy.return %1, %7 : tensor<2x2xi32>, tensor<2x4xi32>
    } : (tensor<4x4xi32>, tensor<4x4xi32>) -> (tensor<2x4xi32>, tensor<4x4xi32>)
    return %0#0, %0#1 : tensor<2x4xi32>, tensor<4x4xi32>
  }
}
