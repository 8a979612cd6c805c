# XLA:CPU: the largest distance from the exact result that any of three versions had, which is behind each line, and what docs/bounds.md
# allows then. jaxlib 0.11.2 differs from 0.10.2 in log-plus-one of f64 alone (2.5 ulps), 0.12.0.1 from that in exponential-minus-one
# (1.5 of f32, f64 and f16): one profile is for all. Functions that are not named are made of others; those that jaxlib has since 0.11
# (acos, acosh, asin, asinh, atanh, cosh, sinh) were at most 2.5 ulps off.
made_by tests/differential/measure_profile.py
backend XLA:CPU of jaxlib 0.10.2, 0.11.2 and 0.12.0.1
device AMD EPYC, fma avx2 avx512f
date 2026-11-26
arguments 100000 of all exponents and 100000 near 1 of each function, seed 1
inherit strict
ulps * * 4
ulps add * 0.5
ulps subtract * 0.5
ulps multiply * 0.5
ulps remainder * 0.5
ulps convert * 0.5
ulps sqrt f32 0.5
ulps sqrt f64 0.5
# Measured 0.5; a division by a constant becomes a product with its rounded reciprocal (xla/hlo/transforms/simplifiers,
# algebraic_simplifier.cc), an ulp more.
ulps divide * 1.5
ulps cbrt f32 2.5                    # 1.5
ulps cbrt f64 4.5                    # 3.5
ulps cosine * 2.5                    # 1.5
ulps sine * 2.5                      # 1.5
ulps tan * 2.5                       # 1.5
ulps erf f32 7                       # 5.5
ulps erf f64 2.5                     # 1.5
ulps exponential f32 2.5             # 1.5
ulps exponential f64 3.5             # 2.5
ulps exponential-minus-one f32 7     # 5.5
ulps exponential-minus-one f64 6     # 4.5
ulps log f32 2.5                     # 1.5
ulps log f64 2.5                     # 1.5
ulps log-plus-one f32 3.5            # 2.5
ulps log-plus-one f64 159.5          # 127.5 at -0.414: its polynomial has the precision of f32
ulps logistic * 3.5                  # 2.5
ulps rsqrt f32 3.5                   # 2.5
ulps rsqrt f64 2.5                   # 1.5
ulps tanh f32 6                      # 4.5
ulps tanh f64 8.5                    # 6.5
ulps atan2 * 2.5                     # 1.5
ulps power * 2.5                     # 1.5
# In f16 and bf16 functions are those of f32, rounded: at most 2.5 ulps in f16 and 1.5 in bf16 were measured.
ulps exponential-minus-one f16 3.5
# LLVM may fuse a product with the sum it goes into (AllowFPOpFusion, in XLA's cpu_compiler.cc).
contracts yes
# bf16 and f16 are computed with in f32, and pairs of conversions back and forth are dropped (xla_allow_excess_precision).
keeps_precision bf16 f16
# Sums of reduces are rounded one by one where the reducer is of the narrow type.
accumulate_dots bf16 f32
accumulate_dots f16 f32
# Threads run with FTZ and DAZ set.
flushes_subnormals f32 f64 bf16
# No fusion of XLA:CPU computes a dot or convolution anew: optimized modules of the real programs have as many as before.
stores_dots yes
# Loops of two iterations and more stay loops, and fusions do not cross their bodies (optimized HLO of jaxlib
# 0.10.2). Loops of one iteration are inlined.
stores_loop_state yes
