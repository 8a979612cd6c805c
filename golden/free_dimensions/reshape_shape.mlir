// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// out0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// out1: s32[2] {3, 2}
// One size is -1: the operations of MHLO that TensorFlow's reshape becomes.
func.func @main(%a: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<2xi32>) {
  %s = stablehlo.constant dense<[-1, 2]> : tensor<2xi32>
  %x = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>
  %n = shape.num_elements %x : tensor<2xindex> -> index
  %w = mhlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness
  %r:2 = shape.assuming %w -> (tensor<?x?xf32>, tensor<2xi32>) {
    %0 = "mhlo.compute_reshape_shape"(%n, %s) : (index, tensor<2xi32>) -> tensor<2xi32>
    %1 = stablehlo.dynamic_reshape %a, %0 : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    shape.assuming_yield %1, %0 : tensor<?x?xf32>, tensor<2xi32>
  }
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<2xi32>
}
