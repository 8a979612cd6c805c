// oracle: hand
// rule: SDY-2, SDY-4
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {108, 109, 110, 111}, {112, 113, 114, 115}}
module @region {
  sdy.mesh @m = <["r"=2]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"r"}, {}]>] out_shardings=[<@m, [{"r"}, {}]>] manual_axes={"r"} (%y: tensor<2x4xi32>) {
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
