// oracle: hand
// decision: checks
// out0: u32[] 0
// out1: s32[2] {1, 2}
// out2: pred[] true
// out3: s32[] 7
// Three replicas of different functions: of no operand and one result, of two and two, of one and one.
module @run_parallel_programs {
  func.func @number() -> tensor<ui32> {
    %0 = stablehlo.replica_id : tensor<ui32>
    return %0 : tensor<ui32>
  }
  func.func @two(%a: tensor<2xi32>, %b: tensor<i1>) -> (tensor<2xi32>, tensor<i1>) {
    return %a, %b : tensor<2xi32>, tensor<i1>
  }
  func.func @plus(%a: tensor<i32>) -> tensor<i32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %s = stablehlo.add %a, %i : tensor<i32>
    return %s : tensor<i32>
  }
  func.func public @main() -> (tensor<ui32>, tensor<2xi32>, tensor<i1>, tensor<i32>) {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.constant dense<true> : tensor<i1>
    %c = stablehlo.constant dense<5> : tensor<i32>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c) {
      programs = [[@number], [@two], [@plus]]
    } : (tensor<2xi32>, tensor<i1>, tensor<i32>) -> (tensor<ui32>, tensor<2xi32>, tensor<i1>, tensor<i32>)
    return %r#0, %r#1, %r#2, %r#3 : tensor<ui32>, tensor<2xi32>, tensor<i1>, tensor<i32>
  }
}
