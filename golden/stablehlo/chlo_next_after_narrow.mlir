// oracle: hand
// arg0: f8e4m3fn[9] {1, 1, 0, -0.0, 448, 0x1p-9, -0x1p-9, nan, 2}
// arg1: f8e4m3fn[9] {2, 0, 1, -1, 448, 0, 0, 1, 1}
// arg2: f8e4m3fnuz[5] {0x1p-10, -0x1p-10, 0, -240, 240}
// arg3: f8e4m3fnuz[5] {0, 0, -1, 0, 240}
// arg4: f8e8m0fnu[4] {1, 1, 0x1p-127, 0x1p127}
// arg5: f8e8m0fnu[4] {4, 0x1p-3, 1, 1}
// arg6: f4e2m1fn[5] {0.5, -0.5, 0, 6, 1.5}
// arg7: f4e2m1fn[5] {0, 0, -6, 0.5, 6}
// arg8: f8e5m2[3] {57344, inf, -57344}
// arg9: f8e5m2[3] {inf, 0, -inf}
// out0: f8e4m3fn[9] {1.125, 0x1.ep-1, 0x1p-9, -0x1p-9, 448, 0, -0.0, nan, 0x1.ep+0}
// out1: f8e4m3fnuz[5] {0, 0, -0x1p-10, -224, 240}
// out2: f8e8m0fnu[4] {2, 0.5, 0x1p-126, 0x1p126}
// out3: f4e2m1fn[5] {0, -0.0, -0.5, 4, 2}
// out4: f8e5m2[3] {inf, 57344, -inf}
func.func @main(%a: tensor<9xf8E4M3FN>, %b: tensor<9xf8E4M3FN>, %c: tensor<5xf8E4M3FNUZ>, %d: tensor<5xf8E4M3FNUZ>, %e: tensor<4xf8E8M0FNU>, %f: tensor<4xf8E8M0FNU>, %g: tensor<5xf4E2M1FN>, %h: tensor<5xf4E2M1FN>, %i: tensor<3xf8E5M2>, %j: tensor<3xf8E5M2>) -> (tensor<9xf8E4M3FN>, tensor<5xf8E4M3FNUZ>, tensor<4xf8E8M0FNU>, tensor<5xf4E2M1FN>, tensor<3xf8E5M2>) {
  %0 = chlo.next_after %a, %b : tensor<9xf8E4M3FN>, tensor<9xf8E4M3FN> -> tensor<9xf8E4M3FN>
  %1 = chlo.next_after %c, %d : tensor<5xf8E4M3FNUZ>, tensor<5xf8E4M3FNUZ> -> tensor<5xf8E4M3FNUZ>
  %2 = chlo.next_after %e, %f : tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU> -> tensor<4xf8E8M0FNU>
  %3 = chlo.next_after %g, %h : tensor<5xf4E2M1FN>, tensor<5xf4E2M1FN> -> tensor<5xf4E2M1FN>
  %4 = chlo.next_after %i, %j : tensor<3xf8E5M2>, tensor<3xf8E5M2> -> tensor<3xf8E5M2>
  return %0, %1, %2, %3, %4 : tensor<9xf8E4M3FN>, tensor<5xf8E4M3FNUZ>, tensor<4xf8E8M0FNU>, tensor<5xf4E2M1FN>, tensor<3xf8E5M2>
}
