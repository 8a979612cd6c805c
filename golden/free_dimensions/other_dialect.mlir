// refuse: 4 operation 'linalg.fill': the dialect 'linalg' is not part of StableHLO
// arg0: f32[2] {1, 2}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.fill %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
