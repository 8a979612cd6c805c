// refuse: 3 chlo.scan: operandSegmentSizes do not add up to 2 operands
func.func @main(%x: tensor<3x2xf32>, %c: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>) {
  %0:2 = "chlo.scan"(%x, %c) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 2>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%in: tensor<2xf32>, %carry: tensor<2xf32>):
    %1 = stablehlo.multiply %in, %carry : tensor<2xf32>
    stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<2xf32>
}
