#include "engines/native/contraction/depthwise_kernels.h"

#define ASSAY_BODIES "engines/native/contraction/depthwise_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const DepthwiseKernels& DepthwiseKernelsOf(Isa isa) {
  static constexpr const DepthwiseKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels,
                                                       &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
