// refuse: 3 QUANT-1: 
func.func @main(%a: !quant.uniform<i8:f32, 0.5:3>) -> (!quant.uniform<i8:f32, 0.5:3>) {
  return %a : !quant.uniform<i8:f32, 0.5:3>
}
