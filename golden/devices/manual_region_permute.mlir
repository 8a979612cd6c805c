// oracle: spec
// rule: SDY-14, SDY-20
// arg0: s32[8] {0, 1, 2, 3, 4, 5, 6, 7}
// out0: s32[8] {0, 0, 10, 11, 22, 23, 34, 35}
module @manual_region_permute attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @ring = <["i"=4]>
  func.func public @main(%arg0: tensor<8xi32>) -> tensor<8xi32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@ring, [{"i"}]>] out_shardings=[<@ring, [{"i"}]>] manual_axes={"i"} (%arg1: tensor<2xi32>) {
      %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %p = stablehlo.partition_id : tensor<ui32>
      %i = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
      %k = stablehlo.multiply %i, %ten : tensor<i32>
      %kb = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %2 = stablehlo.add %1, %kb : tensor<2xi32>
      sdy.return %2 : tensor<2xi32>
    } : (tensor<8xi32>) -> tensor<8xi32>
    return %0 : tensor<8xi32>
  }
}
