// refuse: 4 operation 'tensor.extract' of the dialect 'tensor'
// arg0: s64[1] {1}
// arg1: f32[2] {1, 2}
func.func @main(%a: tensor<1xi64>, %b: tensor<?xf32>) -> tensor<1xi64> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %a[%c0] : tensor<1xi64>
  %1 = tensor.from_elements %0 : tensor<1xi64>
  return %1 : tensor<1xi64>
}
