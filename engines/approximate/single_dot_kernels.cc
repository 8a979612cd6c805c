#include "engines/approximate/single_dot_kernels.h"

#define ASSAY_BODIES "engines/approximate/single_dot_kernels_body.h"
#include "jit/each_isa.inc"

// AVX-512 with BF16 besides.
#define ASSAY_ISA bf16
#define ASSAY_TARGET \
  __attribute__((target("avx512bf16,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))
#define ASSAY_BYTES 64
#define ASSAY_PAIRS
#include "engines/approximate/single_dot_kernels_body.h"

namespace assay::approximate {

const SingleDotKernels& SingleDotKernelsOf(Isa isa) {
  static constexpr const SingleDotKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels,
                                                       &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

const SingleDotKernels* PairDotKernelsOf(Isa isa) {
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return isa == Isa::kAvx512 && has ? &bf16::kKernels : nullptr;
}

}  // namespace assay::approximate
