#include "engines/native/scatter_gather/index_kernels.h"

#define ASSAY_BODIES "engines/native/scatter_gather/index_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const IndexKernels& IndexKernelsOf(Isa isa) {
  static constexpr const IndexKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
