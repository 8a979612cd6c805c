// oracle: hand
// rule: SDY-1
// arg0: s32[4,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
// out0: s32[4,4] {{0, -1, -2, -3}, {-4, -5, -6, -7}, {-8, -9, -10, -11}, {-12, -13, -14, -15}}
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = sdy.sharding_constraint %x <@m, [{"x", "y"}, {}]> : tensor<4x4xi32>
  %1 = stablehlo.negate %0 : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
}
