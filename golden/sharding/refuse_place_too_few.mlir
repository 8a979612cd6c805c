// refuse: 3 SDY-V9
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
