// oracle: hand
// arg0: f32[2] {1, 2}
// out0: f32[2] {2, 4}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.composite "my.twice" %a {decomposition = @twice, version = 1 : i32} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
