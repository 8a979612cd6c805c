// oracle: mpmath
// arg0: f64[3] {0.5, -0.125, 0x1.fffffffffffffp-1}
// out0: f64[3] {0x1.e861fbb24c00ap-2, -0x1.c79ed33d00abp-4, 0x1.7744f8f74e94ap+2}
func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = chlo.erf_inv %x : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}
