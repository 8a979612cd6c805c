// oracle: rational
// arg0: bf16[2,6] {{-0x1p-1, -0x1.9ap-2, -0x1.34p-2, -0x1.9ap-3, -0x1.9ap-4, 0}, {0x1.9ap-4, 0x1.9ap-3, 0x1.34p-2, 0x1.9ap-2, 0x1p-1, 0x1.34p-1}}
// arg1: u4[6,2] {{7, 9}, {3, 12}, {15, 4}, {2, 2}, {0, 12}, {9, 1}}
// out0: bf16[2,2] {{-0x1.72p+1, -0x1.d2p+1}, {0x1.cep+1, 0x1.cap+1}}
func.func @main(%a: tensor<2x6xbf16>, %b: tensor<6x2x!quant.uniform<ui4:bf16, 0.3:0>>) -> (tensor<2x2xbf16>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x6xbf16>, tensor<6x2x!quant.uniform<ui4:bf16, 0.3:0>>) -> tensor<2x2xbf16>
  return %0 : tensor<2x2xbf16>
}
