#include "engines/native/reduce/fold_kernels.h"

#define ASSAY_BODIES "engines/native/reduce/fold_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const FoldKernels& FoldKernelsOf(Isa isa) {
  static constexpr const FoldKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
