#include "engines/approximate/single_dot_kernels.h"

#define ASSAY_BODIES "engines/approximate/single_dot_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::approximate {

const SingleDotKernels& SingleDotKernelsOf(Isa isa) {
  static constexpr const SingleDotKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels,
                                                       &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::approximate
