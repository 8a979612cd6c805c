// oracle: hand
// rule: SDY-1
// arg0: s32[5] {1, 2, 3, 4, 5}
// out0: s32[5] {-1, -2, -3, -4, -5}
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<5xi32>) -> tensor<5xi32> {
  %0 = sdy.sharding_constraint %x <@m, [{"x"}]> : tensor<5xi32>
  %1 = stablehlo.negate %0 : tensor<5xi32>
  return %1 : tensor<5xi32>
}
