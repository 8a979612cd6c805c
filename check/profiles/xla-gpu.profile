# XLA's GPU backend, without TF32.
made_by tests/differential/measure_profile.py of Assay, revision 6258bfde
backend XLA:GPU of JAX 0.11.2, CUDA 13
device NVIDIA H200
driver 580.159.04
date 2026-11-26
arguments 100000 of all exponents and 100000 near 1 of each function
# With the default precision f32 dots and convolutions run on tensor cores.
variant xla-gpu-tf32
inherit strict
# Operations that are made of others, or rewritten.
ulps * * 4
ulps convert * 0.5
# What is allowed, and what was measured: docs/bounds.md has the rule.
ulps acos f32 2.5                       # 1.5 at -0.043456558138132095
ulps acosh f32 3.5                      # 2.5 at 1.1179836988449097
ulps asin f32 2.5                       # 1.5 at -0.2616327702999115
ulps asinh f32 3.5                      # 2.5 at 0.463026225566864
ulps atanh f32 4.5                      # 3.5 at -0.06006721034646034
ulps cbrt f32 2.5                       # 1.5 at -16.02420425415039
ulps cosine f32 2.5                     # 1.5 at 3.0804529367115366e+17
ulps cosh f32 3.5                       # 2.5 at 6.216465950012207
ulps erf f32 7                          # 5.5 at -3.657939910888672
ulps exponential f32 3.5                # 2.5 at -60.40205764770508
ulps exponential-minus-one f32 2.5      # 1.5 at -0.2616327702999115
ulps log f32 2.5                        # 1.5 at 2.4017862113375064e-27
ulps log-plus-one f32 2.5               # 1.5 at 1.5420789751482935e+25
ulps logistic f32 4.5                   # 3.5 at -0.00043265969725325704
ulps rsqrt f32 2.5                      # 1.5 at 4.029094478065208e+34
ulps sine f32 2.5                       # 1.5 at -16.02420425415039
ulps sinh f32 4.5                       # 3.5 at -1.4297937154769897
ulps sqrt f32 2.5                       # 1.5 at 4.029094478065208e+34
ulps tan f32 4.5                        # 3.5 at -19073236.0
ulps tanh f32 6                         # 4.5 at 6.588752746582031
ulps add f32 0.5
ulps atan2 f32 3.5                      # 2.5 at -2.082434024481758e-13, 8.308745401766626e-13
ulps divide f32 3.5                     # 2.5 at -0.0008533946238458157, -4.6524253644837993e+24
ulps multiply f32 0.5
ulps power f32 2.5                      # 1.5 at 2.860454266449953e+21, 0.08170776814222336
ulps remainder f32 0.5
ulps subtract f32 0.5
ulps acos f64 2.5                       # 1.5 at 0.29121183732318
ulps acosh f64 3.5                      # 2.5 at 1.4665889321741206
ulps asin f64 3.5                       # 2.5 at -0.5794567061428664
ulps asinh f64 3.5                      # 2.5 at 0.899350673173111
ulps atanh f64 3.5                      # 2.5 at -0.38669365859527766
ulps cbrt f64 1.5
ulps cosine f64 2.5                     # 1.5 at 1.3652868406753664e+202
ulps cosh f64 2.5                       # 1.5 at -3.3144211491170865
ulps erf f64 2.5                        # 1.5 at -1.9681240191387324e-209
ulps exponential f64 2.5                # 1.5 at 100.24944213653049
ulps exponential-minus-one f64 2.5      # 1.5 at 0.11850735379798064
ulps log f64 2.5                        # 1.5 at 2.0975633717252337e-42
ulps log-plus-one f64 2.5               # 1.5 at 3.1233355910038596
ulps logistic f64 3.5                   # 2.5 at -0.0383765128505781
ulps rsqrt f64 2.5                      # 1.5 at 4.5907093453225474e+201
ulps sine f64 2.5                       # 1.5 at 4.353204004728293e+284
ulps sinh f64 2.5                       # 1.5 at 3.1233355910038596
ulps sqrt f64 0.5
ulps tan f64 3.5                        # 2.5 at 7.074967019545113e+237
ulps tanh f64 2.5                       # 1.5 at -0.4768877242797327
ulps add f64 0.5
ulps atan2 f64 3.5                      # 2.5 at -0.0650526620279476, 0.12527486744008412
ulps divide f64 0.5
ulps multiply f64 0.5
ulps power f64 2.5                      # 1.5 at 1.2223157545046642e-121, 0.2773569685965047
ulps remainder f64 0.5
ulps subtract f64 0.5
ulps acos bf16 1.5
ulps acosh bf16 1.5
ulps asin bf16 1.5
ulps asinh bf16 1.5
ulps atanh bf16 1.5
ulps cbrt bf16 1.5
ulps cosine bf16 1.5
ulps cosh bf16 1.5
ulps erf bf16 1.5
ulps exponential bf16 2.5               # 1.5 at 31.125
ulps exponential-minus-one bf16 1.5
ulps log bf16 1.5
ulps log-plus-one bf16 1.5
ulps logistic bf16 3.5                  # 2.5 at -0.1357421875
ulps rsqrt bf16 1.5
ulps sine bf16 1.5
ulps sinh bf16 1.5
ulps sqrt bf16 0.5
ulps tan bf16 1.5
ulps tanh bf16 1.5
ulps add bf16 0.5
ulps atan2 bf16 2.5                     # 1.5 at -0.047607421875, 2.046875
ulps divide bf16 0.5
ulps multiply bf16 0.5
ulps power bf16 1.5
ulps remainder bf16 0.5
ulps subtract bf16 0.5
ulps acos f16 2.5                       # 1.5 at -0.556640625
ulps acosh f16 2.5                      # 1.5 at 1.22265625
ulps asin f16 2.5                       # 1.5 at -0.136474609375
ulps asinh f16 2.5                      # 1.5 at 14.2421875
ulps atanh f16 1.5
ulps cbrt f16 2.5                       # 1.5 at -0.332275390625
ulps cosine f16 2.5                     # 1.5 at 0.0584716796875
ulps cosh f16 2.5                       # 1.5 at -0.03125
ulps erf f16 1.5
ulps exponential f16 2.5                # 1.5 at -2.615234375
ulps exponential-minus-one f16 2.5      # 1.5 at 0.000690460205078125
ulps log f16 2.5                        # 1.5 at 0.0014772415161132812
ulps log-plus-one f16 2.5               # 1.5 at -0.005847930908203125
ulps logistic f16 3.5                   # 2.5 at -0.0179443359375
ulps rsqrt f16 1.5
ulps sine f16 2.5                       # 1.5 at -300.0
ulps sinh f16 1.5
ulps sqrt f16 0.5
ulps tan f16 2.5                        # 1.5 at 94.8125
ulps tanh f16 1.5
ulps add f16 0.5
ulps atan2 f16 2.5                      # 1.5 at 24960.0, -0.1119384765625
ulps divide f16 0.5
ulps multiply f16 0.5
ulps power f16 2.5                      # 1.5 at 6.3515625, -0.00013208389282226562
ulps remainder f16 0.5
ulps subtract f16 0.5
# 1 / (1 + e^-x), whose denominator overflows where the result is subnormal: logistic(-100) was 0.
underflows logistic *
# Not measured: what follows is by XLA's source and flags.
# A product that is added is one fused operation.
contracts yes
# bf16 and f16 are computed with in f32 within fusions, and may stay so (xla_allow_excess_precision, on by default).
keeps_precision bf16 f16
accumulate bf16 f32
accumulate f16 f32
# Hopper's tensor cores cut the addends of a sum of products at 25 fraction bits of the largest, those of f8 (wgmma) at 13: as in the
# models of the package mmasim 2.1.1, which imitate them bit by bit.
tensor_core_bits bf16 25
tensor_core_bits f16 25
tensor_core_bits f8e4m3fn 13
tensor_core_bits f8e5m2 13
# xla_gpu_ftz is off by default.
flushes_subnormals
