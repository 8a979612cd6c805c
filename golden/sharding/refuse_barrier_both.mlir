// refuse: 3 SDY-V16
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = "sdy.propagation_barrier"(%x) <{allowed_direction = 3 : i32}> : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
