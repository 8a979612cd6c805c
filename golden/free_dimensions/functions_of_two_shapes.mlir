// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// out0: f32[2,3] {{2, 4, 6}, {8, 10, 12}}
// out1: f32[3,2] {{2, 8}, {4, 10}, {6, 12}}
func.func @main(%a: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = call @twice(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = call @twice(%t) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func private @twice(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
