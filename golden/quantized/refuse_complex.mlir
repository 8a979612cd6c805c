// refuse: 3 QUANT-1: 
func.func @main(%a: tensor<2xcomplex<!quant.uniform<i8:f32, 0.5>>>) -> (tensor<2xcomplex<!quant.uniform<i8:f32, 0.5>>>) {
  return %a : tensor<2xcomplex<!quant.uniform<i8:f32, 0.5>>>
}
