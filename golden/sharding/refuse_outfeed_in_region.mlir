// refuse: 4 SDY-6: outfeed inside of a manual region
// rule: SDY-6
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
module @region attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["r"=2, "c"=2]>
  func.func public @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"r"}, {}]>] out_shardings=[<@m, [{"r"}, {}]>] manual_axes={"r", "c"} (%y: tensor<2x4xi32>) {
      %t = stablehlo.create_token : !stablehlo.token
      %o = "stablehlo.outfeed"(%y, %t) <{outfeed_config = ""}> : (tensor<2x4xi32>, !stablehlo.token) -> !stablehlo.token
      sdy.return %y : tensor<2x4xi32>
    } : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %0 : tensor<4x4xi32>
  }
}
