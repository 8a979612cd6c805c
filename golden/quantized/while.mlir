// oracle: rational
// arg0: s8[2] {-20, -13}
// arg1: s8[2] {50, 55}
// out0: s8[2] {121, 127}
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>
   cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
   } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %b : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    stablehlo.return %n, %w : tensor<i32>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>
   }
  return %r#1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}
