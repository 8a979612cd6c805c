# XLA's GPU backend, without TF32. Functions: the largest errors that NVIDIA states for CUDA's libdevice (CUDA C++ Programming
# Guide, "Mathematical Functions", single and double precision); nothing here was measured.
inherit strict
# Operations that are made of others, or rewritten: division by a constant becomes a product with its reciprocal.
ulps * * 4
ulps add * 0.5
ulps subtract * 0.5
ulps multiply * 0.5
ulps convert * 0.5
ulps divide f32 2
ulps divide f64 1.5
ulps sqrt f32 1
ulps rsqrt f32 2
ulps rsqrt f64 1
# libdevice, f32: exp 1 ulp, expm1 1, log 1, log1p 1, sin and cos 2, tan 4, tanh 2, atan2 3, pow 4, erf 2, cbrt 1, asin 2, acos 2,
# sinh 3, cosh 2, asinh 3, acosh 4, atanh 3; half an ulp more for the rounding that its statements are measured against.
ulps exponential f32 2
ulps exponential-minus-one f32 2
ulps log f32 2
ulps log-plus-one f32 2
ulps sine f32 3
ulps cosine f32 3
ulps tan f32 5
ulps tanh f32 3
ulps atan2 f32 4
ulps power f32 10
ulps erf f32 3
ulps cbrt f32 2
# A product that is added is one fused operation.
contracts yes
# bf16 and f16 are computed with in f32 within fusions, and may stay so (xla_allow_excess_precision, on by default).
keeps_precision bf16 f16
accumulate bf16 f32
accumulate f16 f32
# xla_gpu_ftz is off by default.
flushes_subnormals
