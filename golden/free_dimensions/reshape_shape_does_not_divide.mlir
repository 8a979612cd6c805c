// refuse: 5 [-1,4] is not a shape of 6 elements: its other sizes have 4
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[-1, 4]> : tensor<2xi32>
  %x = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>
  %n = shape.num_elements %x : tensor<2xindex> -> index
  %0 = shape.compute_reshape_shape %n, %s : index, tensor<2xi32> -> tensor<2xi32>
  %1 = stablehlo.dynamic_reshape %a, %0 : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
