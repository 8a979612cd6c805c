// oracle: mpmath
// decision: chlo-expansion
// arg0: f32[3] {0.5, -3.25, 240}
// out0: f32[3] {0x1.40598cp-3, -0x1.894794p-3, 0x1.a5411cp-6}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = chlo.bessel_i1e %x : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
