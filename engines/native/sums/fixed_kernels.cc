#include "engines/native/sums/fixed_kernels.h"

namespace assay::native {

const FixedKernels& FixedKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineFixed;
    case Isa::kAvx2:
      return kAvx2Fixed;
    case Isa::kAvx512:
      return kAvx512Fixed;
  }
  return kBaselineFixed;
}

}  // namespace assay::native
