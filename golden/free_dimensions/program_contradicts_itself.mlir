// refuse: 3 stablehlo.add: dimension 1 is 3 in tensor<?x3xf32> and 4 in tensor<?x4xf32>
// arg0: f32[1,3] {{1, 2, 3}}
// arg1: f32[1,4] {{1, 2, 3, 4}}
// Whatever '?' is.
func.func @main(%a: tensor<?x3xf32>, %b: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %c = "stablehlo.add"(%a, %b) : (tensor<?x3xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
