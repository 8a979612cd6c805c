// oracle: hand
// arg0: f32[2,1] {{1}, {2}}
// arg1: f32[3] {10, 20, 30}
// out0: f32[2,3] {{11, 21, 31}, {12, 22, 32}}
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = chlo.broadcast_add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
