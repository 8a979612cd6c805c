// oracle: hand
// arg0: c64[2] {(1, -3), (-4, 0)}
// arg1: c64[2] {(1, 5), (-4, -1)}
// out0: c64[2] {(1, 5), (-4, 0)}
func.func @main(%x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.maximum %x, %y : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
