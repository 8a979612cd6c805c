// refuse: 5 shape.cstr_reshapable: [2,4] is not a shape of 6 elements: it has 8
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %x = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>
  %n = shape.num_elements %x : tensor<2xindex> -> index
  %w = stablehlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness
  %r = shape.assuming %w -> (tensor<?x?xf32>) {
    shape.assuming_yield %a : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
