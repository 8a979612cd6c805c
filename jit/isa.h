// Instruction sets of kernels, compiled and generated. A hot loop is written once, as an always-inlined body,
// and compiled for each set; which one runs is decided at run time and never changes a bit of a result.
//
//   ASSAY_BODY void AddBody(int64_t n, ...) { ... }                    // plain loops or vector extensions
//   void AddBaseline(int64_t n, ...) { AddBody(n, ...); }
//   ASSAY_AVX2 void AddAvx2(int64_t n, ...) { AddBody(n, ...); }
//   ASSAY_AVX512 void AddAvx512(int64_t n, ...) { AddBody(n, ...); }
#ifndef ASSAY_JIT_ISA_H_
#define ASSAY_JIT_ISA_H_

#include <cstdint>

#define ASSAY_BODY static inline __attribute__((always_inline))
// Of functions in code that is compiled once for each set (jit/each_isa.inc),
// whose attribute is ASSAY_TARGET.
#define ASSAY_INLINE ASSAY_TARGET ASSAY_BODY
#define ASSAY_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define ASSAY_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))

namespace assay {

// kAvx2 comes with FMA, F16C, BMI and BMI2; kAvx512 with F, DQ, VL, BW.
// Code is generated for these two alone.
enum class Isa : uint8_t { kBaseline, kAvx2, kAvx512 };

// The best set of this machine.
Isa MachineIsa();

}  // namespace assay

#endif  // ASSAY_JIT_ISA_H_
