// oracle: hand
// arg0: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}
// arg1: s32[3] {7, 8, 9}
// arg2: f32[2] {2, 3}
// out0: f32[3,2] {{30, 144}, {30, 72}, {10, 18}}
// out1: s32[3] {7, 8, 9}
// out2: f32[2] {30, 144}
func.func @main(%x: tensor<3x2xf32>, %z: tensor<3xi32>, %c: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3xi32>, tensor<2xf32>) {
  %0:3 = chlo.scan(%x, %z) inits (%c) dimension=0 attributes {is_associative = true, is_reverse = true} {
  ^bb0(%in: tensor<2xf32>, %i: tensor<i32>, %carry: tensor<2xf32>):
    %1 = stablehlo.multiply %in, %carry : tensor<2xf32>
    stablehlo.return %1, %i, %1 : tensor<2xf32>, tensor<i32>, tensor<2xf32>
  } : (tensor<3x2xf32>, tensor<3xi32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3xi32>, tensor<2xf32>)
  return %0#0, %0#1, %0#2 : tensor<3x2xf32>, tensor<3xi32>, tensor<2xf32>
}
