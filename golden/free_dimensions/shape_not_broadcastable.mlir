// refuse: 5 shapes [2,4] and [3] do not broadcast
// arg0: f32[2,4] {{1, 2, 3, 4}, {1, 2, 3, 4}}
// arg1: f32[3] {10, 20, 30}
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %x = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>
  %y = shape.shape_of %b : tensor<?xf32> -> tensor<1xindex>
  %s = shape.broadcast %x, %y : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %1 = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
