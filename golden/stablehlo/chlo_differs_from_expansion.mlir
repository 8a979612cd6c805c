// oracle: mpmath
// decision: chlo-expanded
// arg0: c128[2] {(-0.5, -0.0), (-0.5, 0)}
// arg1: c128[2] {(3, -0.0), (3, 0)}
// arg2: f32[2] {1, 1}
// arg3: f32[2] {-0x1.2434d8p+4, 1}
// out0: c128[2] {(0, -0x1.0c152382d7366p+1), (0, 0x1.0c152382d7366p+1)}
// out1: c128[2] {(0x1.921fb54442d18p+0, -0x1.c34366179d427p+0), (0x1.921fb54442d18p+0, 0x1.c34366179d427p+0)}
// out2: f32[2] {0x1.23512cp+4, 0x1.a51a66p+0}
// The cuts of acosh and asin, whose sides the signs of zeros choose, and polygamma left of its poles.
func.func @main(%x: tensor<2xcomplex<f64>>, %y: tensor<2xcomplex<f64>>, %n: tensor<2xf32>, %z: tensor<2xf32>) -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2xf32>) {
  %0 = chlo.acosh %x : tensor<2xcomplex<f64>> -> tensor<2xcomplex<f64>>
  %1 = chlo.asin %y : tensor<2xcomplex<f64>> -> tensor<2xcomplex<f64>>
  %2 = chlo.polygamma %n, %z : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2xf32>
}
