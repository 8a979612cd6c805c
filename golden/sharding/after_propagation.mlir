// oracle: hand
// rule: SDY-1
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = sdy.all_slice [{"x"}, {}] %x out_sharding=<@m, [{"x"}, {}]> : tensor<4x4xi32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@m, [{}, {"x"}]> : tensor<4x4xi32>
  %2 = sdy.all_gather [{}, {"x"}] %1 out_sharding=<@m, [{}, {}]> : tensor<4x4xi32>
  %3 = sdy.reshard %2 <@m, [{"y"}, {}]> : tensor<4x4xi32>
  %4 = sdy.collective_permute %3 out_sharding=<@m, [{"y"}, {}]> : tensor<4x4xi32>
  %5 = stablehlo.negate %4 : tensor<4x4xi32>
  return %5 : tensor<4x4xi32>
}
