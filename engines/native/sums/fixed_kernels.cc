#include "engines/native/sums/fixed_kernels.h"

#define ASSAY_BODIES "engines/native/sums/fixed_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const FixedKernels& FixedKernelsOf(Isa isa) {
  static constexpr const FixedKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
