// refuse: 5 arg0 is f32[2,3], the program wants tensor<?x4xf32>
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %a : tensor<?x4xf32>
}
