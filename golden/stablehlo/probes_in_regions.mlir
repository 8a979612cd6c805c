// oracle: hand
// decision: checks
// out0: s64[2,2] {{0, 5}, {12, 21}}
// out1: s64[] 10
// out2: f32[] 3
// out3: s32[3] {1, 2, 3}
// out4: s64[2,2] {{0, 1}, {2, 3}}
// probe/added.0: f32[] 1
// probe/added.1: f32[] 2
// probe/called.0: s64[] 0
// probe/called.1: s64[] 1
// probe/called.2: s64[] 2
// probe/called.3: s64[] 3
// probe/inner.0: s64[] 0
// probe/inner.1: s64[] 5
// probe/inner.2: s64[] 12
// probe/inner.3: s64[] 21
// probe/less.0: pred[] false
// probe/less.1: pred[] true
// probe/less.2: pred[] true
// probe/sum.0: s64[] 1
// probe/sum.1: s64[] 3
// probe/sum.2: s64[] 6
// probe/sum.3: s64[] 10
// A map by elements in row-major order; a sum of 1 to 4 from 0; a sum whose reducer has a probe that nothing reads; a probe in a
// function that a region calls; a merge sort of {3} and {1, 2}, which asks 2 < 1, 1 < 3, 2 < 3.
module @probes_in_regions {
  func.func private @seen(%x: tensor<i64>) -> tensor<i64> {
    %y = interpreter.probe %x, probe_id = "called" : tensor<i64>
    return %y : tensor<i64>
  }
  func.func public @main() -> (tensor<2x2xi64>, tensor<i64>, tensor<f32>, tensor<3xi32>, tensor<2x2xi64>) {
    %a = stablehlo.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
    %b = stablehlo.constant dense<[[4, 5], [6, 7]]> : tensor<2x2xi64>
    %r = "stablehlo.map"(%a, %b) ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %p = stablehlo.multiply %x, %y : tensor<i64>
      %q = interpreter.probe %p, probe_id = "inner" : tensor<i64>
      stablehlo.return %q : tensor<i64>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
    %p0 = stablehlo.constant dense<0> : tensor<i64>
    %p1 = stablehlo.constant dense<5> : tensor<i64>
    %p2 = stablehlo.constant dense<12> : tensor<i64>
    %p3 = stablehlo.constant dense<21> : tensor<i64>
    check.expect_serialized_eq %p0, probe_id = "inner", iter = 0 : tensor<i64>
    check.expect_serialized_eq %p1, probe_id = "inner", iter = 1 : tensor<i64>
    check.expect_serialized_eq %p2, probe_id = "inner", iter = 2 : tensor<i64>
    check.expect_serialized_eq %p3, probe_id = "inner", iter = 3 : tensor<i64>
    %v = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
    %sum = stablehlo.reduce(%v init: %p0) across dimensions = [0] : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
     reducer(%x: tensor<i64>, %y: tensor<i64>) {
      %s = stablehlo.add %x, %y : tensor<i64>
      %t = interpreter.probe %s, probe_id = "sum" : tensor<i64>
      stablehlo.return %t : tensor<i64>
    }
    %s1 = stablehlo.constant dense<1> : tensor<i64>
    %s3 = stablehlo.constant dense<3> : tensor<i64>
    %s6 = stablehlo.constant dense<6> : tensor<i64>
    %s10 = stablehlo.constant dense<10> : tensor<i64>
    check.expect_serialized_eq %s1, probe_id = "sum", iter = 0 : tensor<i64>
    check.expect_serialized_eq %s3, probe_id = "sum", iter = 1 : tensor<i64>
    check.expect_serialized_eq %s6, probe_id = "sum", iter = 2 : tensor<i64>
    check.expect_serialized_eq %s10, probe_id = "sum", iter = 3 : tensor<i64>
    %f = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %total = stablehlo.reduce(%f init: %zero) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
     reducer(%x: tensor<f32>, %y: tensor<f32>) {
      %unread = interpreter.probe %y, probe_id = "added" : tensor<f32>
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
    %f1 = stablehlo.constant dense<1.0> : tensor<f32>
    %f2 = stablehlo.constant dense<2.0> : tensor<f32>
    check.expect_serialized_eq %f1, probe_id = "added", iter = 0 : tensor<f32>
    check.expect_serialized_eq %f2, probe_id = "added", iter = 1 : tensor<f32>
    %u = stablehlo.constant dense<[3, 1, 2]> : tensor<3xi32>
    %sorted = "stablehlo.sort"(%u) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %c = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %d = interpreter.probe %c, probe_id = "less" : tensor<i1>
      stablehlo.return %d : tensor<i1>
    }) : (tensor<3xi32>) -> tensor<3xi32>
    %m = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<i64>):
      %y = func.call @seen(%x) : (tensor<i64>) -> tensor<i64>
      stablehlo.return %y : tensor<i64>
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    %three = stablehlo.constant dense<3> : tensor<i64>
    check.expect_serialized_eq %three, probe_id = "called", iter = 3 : tensor<i64>
    return %r, %sum, %total, %sorted, %m : tensor<2x2xi64>, tensor<i64>, tensor<f32>, tensor<3xi32>, tensor<2x2xi64>
  }
}
