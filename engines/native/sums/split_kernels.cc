#include "engines/native/sums/split_kernels.h"

namespace assay::native {

const SplitKernels& SplitKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineSplits;
    case Isa::kAvx2:
      return kAvx2Splits;
    case Isa::kAvx512:
      return kAvx512Splits;
  }
  return kBaselineSplits;
}

}  // namespace assay::native
