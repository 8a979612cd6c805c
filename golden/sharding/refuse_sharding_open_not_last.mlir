// refuse: 3 SDY-V8
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = sdy.sharding_constraint %x <@m, [{?, "x"}, {}]> : tensor<4x4xi32>
  %1 = stablehlo.negate %0 : tensor<4x4xi32>
  return %1 : tensor<4x4xi32>
}
