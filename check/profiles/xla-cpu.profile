# XLA:CPU of jaxlib 0.10.2 on x86-64 with AVX-512, as tests/differential/measure_profile.py measured it on 200,000 arguments of each
# function and type: the largest distance from the exact result, and an ulp for arguments that were not tried. Functions that are
# not named are made of others.
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
ulps erf f32 6.5                     # 5.5
ulps erf f64 2.5                     # 1.5
ulps exponential f32 2.5             # 1.5
ulps exponential f64 3.5             # 2.5
ulps exponential-minus-one f32 6.5   # 5.5
ulps exponential-minus-one f64 5.5   # 4.5
ulps log f32 2.5                     # 1.5
ulps log f64 2.5                     # 1.5
ulps log-plus-one f32 3.5            # 2.5
ulps log-plus-one f64 160            # 127.5 at -0.414: its polynomial has the precision of f32
ulps logistic * 3.5                  # 2.5
ulps rsqrt f32 3.5                   # 2.5
ulps rsqrt f64 2.5                   # 1.5
ulps tanh f32 5.5                    # 4.5
ulps tanh f64 7.5                    # 6.5
ulps atan2 * 2.5                     # 1.5
ulps power * 2.5                     # 1.5
# In f16 and bf16 functions are those of f32, rounded: at most 2.5 ulps in f16 and 1.5 in bf16 were measured.
ulps exponential-minus-one f16 3.5
# LLVM may fuse a product with the sum it goes into (AllowFPOpFusion, in XLA's cpu_compiler.cc).
contracts yes
# bf16 and f16 are computed with in f32, and pairs of conversions back and forth are dropped (xla_allow_excess_precision).
keeps_precision bf16 f16
accumulate bf16 f32
accumulate f16 f32
# Threads run with FTZ and DAZ set.
flushes_subnormals f32 f64 bf16
