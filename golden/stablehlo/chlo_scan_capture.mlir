// refuse: 4 a region that uses a value from outside
func.func @main(%x: tensor<3x2xf32>, %c: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>) {
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%in: tensor<2xf32>, %carry: tensor<2xf32>):
    %1 = stablehlo.multiply %in, %c : tensor<2xf32>
    stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
  } : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<2xf32>
}
