#include "engines/native/sums/split_kernels.h"

#define ASSAY_BODIES "engines/native/sums/split_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const SplitKernels& SplitKernelsOf(Isa isa) {
  static constexpr const SplitKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
