// oracle: hand
// arg0: c64[3] {(1, 2), (-0.0, -0.0), (inf, nan)}
// arg1: f32[2] {-1.5, nan}
// out0: c64[3] {(1, -2), (-0.0, 0), (inf, nan)}
// out1: f32[2] {-1.5, nan}
func.func @main(%z: tensor<3xcomplex<f32>>, %x: tensor<2xf32>) -> (tensor<3xcomplex<f32>>, tensor<2xf32>) {
  %0 = chlo.conj %z : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  %1 = chlo.conj %x : tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<3xcomplex<f32>>, tensor<2xf32>
}
