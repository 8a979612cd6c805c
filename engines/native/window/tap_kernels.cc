#include "engines/native/window/tap_kernels.h"

#define ASSAY_BODIES "engines/native/window/tap_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const TapKernels& TapKernelsOf(Isa isa) {
  static constexpr const TapKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
