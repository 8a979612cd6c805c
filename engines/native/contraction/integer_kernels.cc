#include "engines/native/contraction/integer_kernels.h"

#define ASSAY_BODIES "engines/native/contraction/integer_kernels_body.h"
#include "jit/each_isa.inc"

// AVX-512 with VNNI besides.
#define ASSAY_ISA vnni
#define ASSAY_TARGET \
  __attribute__((target("avx512vnni,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))
#define ASSAY_BYTES 64
#define ASSAY_VNNI
#include "engines/native/contraction/integer_kernels_body.h"

namespace assay::native {

bool HasVnni() {
  static const bool vnni = __builtin_cpu_supports("avx512vnni") != 0;
  return vnni;
}

const IntegerKernels& IntegerKernelsOf(Isa isa, bool with_vnni) {
  static constexpr const IntegerKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return isa == Isa::kAvx512 && with_vnni ? vnni::kKernels : *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
