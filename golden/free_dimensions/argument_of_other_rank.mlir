// refuse: 5 arg0 is f32[2], the program wants tensor<?x?xf32>
// arg0: f32[2] {1, 2}
func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  return %a : tensor<?x?xf32>
}
