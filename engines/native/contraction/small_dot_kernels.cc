#include "engines/native/contraction/small_dot_kernels.h"

#define ASSAY_BODIES "engines/native/contraction/small_dot_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const SmallDotKernels& SmallDotKernelsOf(Isa isa) {
  static constexpr const SmallDotKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels,
                                                      &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
