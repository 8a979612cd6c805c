// refuse: 3 stablehlo.real_dynamic_slice: found 2 start_indices, 2 limit_indices and 1 stride
func.func @main(%x: tensor<6x3xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %l = stablehlo.constant dense<[5, 3]> : tensor<2xi32>
  %t = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<6x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<1xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
