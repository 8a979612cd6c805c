// oracle: rational
// arg0: s8[2] {-20, -13}
// arg1: s32[] 1
// out0: s8[1] {127}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<i32>) -> (tensor<?x!quant.uniform<i8:f32, 0.5:3>, #stablehlo.bounds<2>>) {
  %0 = stablehlo.set_dimension_size %a, %b, dim = 0 : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<i32>) -> tensor<?x!quant.uniform<i8:f32, 0.5:3>, #stablehlo.bounds<2>>
  %1 = stablehlo.multiply %0, %0 : tensor<?x!quant.uniform<i8:f32, 0.5:3>, #stablehlo.bounds<2>>
  return %1 : tensor<?x!quant.uniform<i8:f32, 0.5:3>, #stablehlo.bounds<2>>
}
