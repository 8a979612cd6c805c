// refuse: 5 chlo.scan: carry 0 is tensor<2xf32> and comes back as tensor<4xf32>
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// arg1: f32[2] {2, 3}
func.func @main(%x: tensor<?x?xf32>, %c: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%in: tensor<?xf32>, %carry: tensor<?xf32>):
    %1 = stablehlo.concatenate %in, %carry, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %1, %1 : tensor<?xf32>, tensor<?xf32>
  } : (tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?xf32>
}
