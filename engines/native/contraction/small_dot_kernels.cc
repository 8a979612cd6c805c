#include "engines/native/contraction/small_dot_kernels.h"

namespace assay::native {

const SmallDotKernels& SmallDotKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return kAvx512SmallDots;
    case Isa::kAvx2:
      return kAvx2SmallDots;
    case Isa::kBaseline:
      break;
  }
  return kBaselineSmallDots;
}

}  // namespace assay::native
