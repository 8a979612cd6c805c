// oracle: hand
// arg0: f32[2,1] {{1}, {2}}
// arg1: f32[3] {10, 20, 30}
// out0: f32[2,3] {{11, 21, 31}, {12, 22, 32}}
// out1: s64[1] {6}
// An addition that broadcasts, as CHLO's lowering writes it.
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<1xi64>) {
  %w = shape.const_witness true
  %x = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>
  %y = shape.shape_of %b : tensor<?xf32> -> tensor<1xindex>
  %v = shape.cstr_broadcastable %x, %y : tensor<2xindex>, tensor<1xindex>
  %r:2 = shape.assuming %v -> (tensor<?x?xf32>, tensor<2xindex>) {
    %s = shape.broadcast %x, %y : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %1 = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %2 = stablehlo.add %0, %1 : tensor<?x?xf32>
    shape.assuming_yield %2, %s : tensor<?x?xf32>, tensor<2xindex>
  }
  %n = shape.num_elements %r#1 : tensor<2xindex> -> index
  %m = tensor.from_elements %n : tensor<1xindex>
  %k = arith.index_cast %m : tensor<1xindex> to tensor<1xi64>
  return %r#0, %k : tensor<?x?xf32>, tensor<1xi64>
}
