// refuse: 3 SDY-V2
sdy.mesh @m = <["x"=2], device_ids=[0, 2]>
func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  return %x : tensor<4x4xi32>
}
