// oracle: mpmath
// arg0: c64[2] {(0.5, -2), (-3, 0.25)}
// out0: c64[2] {(0x1.c4a56cp-3, -0x1.77392p+0), (-0x1.7b90e2p+0, 0x1.c4518cp+0)}
// out1: c64[2] {(0x1.598b08p+0, 0x1.77392p+0), (0x1.86d84cp+1, -0x1.c4518cp+0)}
// out2: c64[2] {(0x1.6bea7ep+0, -0x1.00308p-1), (-0x1.403bbcp+0, 0x1.976434p-6)}
// out3: c64[2] {(0x1.5c9efcp+0, -0x1.4b04cep+0), (-0x1.d2478cp+0, 0x1.433ec4p-4)}
// out4: c64[2] {(0x1.77392p+0, -0x1.598b08p+0), (0x1.c4518cp+0, 0x1.86d84cp+1)}
// out5: c64[2] {(0x1.8aeb1ap-4, -0x1.2066p+0), (-0x1.5feb9cp-2, 0x1.8a322ep+0)}
func.func @main(%x: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  %0 = chlo.asin %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %1 = chlo.acos %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %2 = chlo.atan %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %3 = chlo.asinh %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %4 = chlo.acosh %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %5 = chlo.atanh %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
}
