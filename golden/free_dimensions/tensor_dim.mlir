// oracle: hand
// arg0: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// arg1: f32[1,3] {{10, 20, 30}}
// out0: f32[2,3] {{11, 22, 33}, {14, 25, 36}}
module attributes {torch.debug_module_name = "Bias"} {
  func.func @forward(%a: tensor<?x?xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d0 = tensor.dim %a, %c0 : tensor<?x?xf32>
    %d1 = tensor.dim %a, %c1 : tensor<?x?xf32>
    %s = tensor.from_elements %d0, %d1 : tensor<2xindex>
    %1 = "stablehlo.dynamic_broadcast_in_dim"(%b, %s) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %2 = stablehlo.add %a, %1 : tensor<?x?xf32>
    return %2 : tensor<?x?xf32>
  }
}
