// oracle: hand
// decision: checks
// out0: s64[2,8] {{5, 6, 1, 2, 5, 6, 5, 6}, {7, 8, 3, 4, 7, 8, 7, 8}}
// out1: s64[2,8] {{5, 6, 1, 2, 5, 6, 5, 6}, {7, 8, 3, 4, 7, 8, 7, 8}}
// Processes (0,0), (0,1), (1,0), (1,1) bring %1, %1, %0, %1; in StableHLO's order of the group, (0,0), (1,0), (0,1), (1,1), that is
// %1, %0, %1, %1.
module @run_parallel {
  func.func public @all_gather(%arg0: tensor<2x2xi64>) -> tensor<2x8xi64> {
    %result = "stablehlo.all_gather"(%arg0) {
      all_gather_dim = 1 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
    } : (tensor<2x2xi64>) -> tensor<2x8xi64>
    return %result : tensor<2x8xi64>
  }
  func.func public @main() -> (tensor<2x8xi64>, tensor<2x8xi64>) {
    %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %1 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %results:4 = "interpreter.run_parallel"(%1, %1, %0, %1) {
      programs = [[@all_gather, @all_gather], [@all_gather, @all_gather]]
    } : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x8xi64>, tensor<2x8xi64>, tensor<2x8xi64>, tensor<2x8xi64>)
    check.expect_eq %results#1, %results#2 : tensor<2x8xi64>
    return %results#0, %results#3 : tensor<2x8xi64>, tensor<2x8xi64>
  }
}
