# Every instruction is rounded correctly: half an ulp. Only the order of sums is free, in the type that is summed (XLA's
# semantics of reduce: the order is not defined).
ulps * * 0.5
contracts no
