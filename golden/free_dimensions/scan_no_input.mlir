// oracle: hand
// arg0: f32[2] {2, 3}
// out0: f32[3,2] {{4, 9}, {16, 81}, {256, 6561}}
// out1: f32[2] {256, 6561}
// Without inputs the result's type gives the length.
func.func @main(%c: tensor<?xf32>) -> (tensor<3x?xf32>, tensor<?xf32>) {
  %0:2 = chlo.scan() inits (%c) dimension=0 {
  ^bb0(%carry: tensor<?xf32>):
    %1 = stablehlo.multiply %carry, %carry : tensor<?xf32>
    stablehlo.return %1, %1 : tensor<?xf32>, tensor<?xf32>
  } : (tensor<?xf32>) -> (tensor<3x?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<3x?xf32>, tensor<?xf32>
}
