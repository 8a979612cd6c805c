// refuse: 4 chlo.scan: the sizes of its result tensor<?x2xf32> do not follow from its operands
// arg0: f32[2] {2, 3}
func.func @main(%c: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0:2 = chlo.scan() inits (%c) dimension=0 {
  ^bb0(%carry: tensor<?xf32>):
    stablehlo.return %carry, %carry : tensor<?xf32>, tensor<?xf32>
  } : (tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?xf32>
}
