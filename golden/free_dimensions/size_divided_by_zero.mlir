// refuse: 5 arith.divsi: a size is divided by zero
// arg0: f32[2] {1, 2}
func.func @main(%a: tensor<?xf32>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %m = arith.divsi %n, %c0 : index
  %s = tensor.from_elements %m : tensor<1xindex>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xindex>) -> tensor<?xi64>
  return %r : tensor<?xi64>
}
