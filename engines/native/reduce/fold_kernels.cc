#include "engines/native/reduce/fold_kernels.h"

namespace assay::native {

const FoldKernels& FoldKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineFolds;
    case Isa::kAvx2:
      return kAvx2Folds;
    case Isa::kAvx512:
      return kAvx512Folds;
  }
  return kBaselineFolds;
}

}  // namespace assay::native
