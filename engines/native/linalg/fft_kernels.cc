#include "engines/native/linalg/fft_kernels.h"

#define ASSAY_BODIES "engines/native/linalg/fft_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const FftKernels& FftKernelsOf(Isa isa) {
  static constexpr const FftKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
