#include "engines/native/linalg/solve_kernels.h"

namespace assay::native {

const SolveKernels& SolveKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineSolve;
    case Isa::kAvx2:
      return kAvx2Solve;
    case Isa::kAvx512:
      return kAvx512Solve;
  }
  return kBaselineSolve;
}

}  // namespace assay::native
