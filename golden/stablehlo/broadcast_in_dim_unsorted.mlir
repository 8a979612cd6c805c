// oracle: hand
// out0: s32[4,3,2] {{{1, 4}, {2, 5}, {3, 6}}, {{1, 4}, {2, 5}, {3, 6}}, {{1, 4}, {2, 5}, {3, 6}}, {{1, 4}, {2, 5}, {3, 6}}}
func.func @main() -> tensor<4x3x2xi32> {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = "stablehlo.broadcast_in_dim"(%x) { broadcast_dimensions = array<i64: 2, 1> } : (tensor<2x3xi32>) -> tensor<4x3x2xi32>
  return %r : tensor<4x3x2xi32>
}
