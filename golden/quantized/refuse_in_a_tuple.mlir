// refuse: 3 QUANT-1: 
func.func @main(%a: tuple<!quant.uniform<i8:f32, 0.5:3>>) -> (tuple<!quant.uniform<i8:f32, 0.5:3>>) {
  return %a : tuple<!quant.uniform<i8:f32, 0.5:3>>
}
