#include "engines/native/linalg/solve_kernels.h"

#define ASSAY_BODIES "engines/native/linalg/solve_kernels_body.h"
#include "jit/each_isa.inc"

namespace assay::native {

const SolveKernels& SolveKernelsOf(Isa isa) {
  static constexpr const SolveKernels* kOfIsa[] = {&baseline::kKernels, &avx2::kKernels, &avx512::kKernels};
  return *kOfIsa[static_cast<size_t>(isa)];
}

}  // namespace assay::native
