// oracle: hand
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// arg1: f32[2] {2, 3}
// out0: f32[3,2] {{2, 6}, {6, 24}, {30, 144}}
// out1: f32[2] {30, 144}
// out2: f32[3,2] {{1, 3}, {3, 7}, {5, 11}}
// out3: f32[3] {3, 7, 11}
// Running products of rows, and running sums of columns, whose body has a declared size.
func.func @main(%x: tensor<?x?xf32>, %c: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<3xf32>) {
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%in: tensor<?xf32>, %carry: tensor<?xf32>):
    %1 = stablehlo.multiply %in, %carry : tensor<?xf32>
    stablehlo.return %1, %1 : tensor<?xf32>, tensor<?xf32>
  } : (tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  %z = stablehlo.constant dense<[0.0, 0.0, 0.0]> : tensor<3xf32>
  %2:2 = "chlo.scan"(%x, %z) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%in: tensor<?xf32>, %carry: tensor<3xf32>):
    %3 = stablehlo.add %in, %carry : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %3, %3 : tensor<3xf32>, tensor<3xf32>
  }) : (tensor<?x?xf32>, tensor<3xf32>) -> (tensor<?x?xf32>, tensor<3xf32>)
  return %0#0, %0#1, %2#0, %2#1 : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<3xf32>
}
