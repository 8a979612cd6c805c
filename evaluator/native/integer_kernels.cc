#include "evaluator/native/integer_kernels.h"

namespace assay::native {

const IntegerKernels& IntegerKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineIntegers;
    case Isa::kAvx2:
      return kAvx2Integers;
    case Isa::kAvx512:
      return kAvx512Integers;
  }
  return kBaselineIntegers;
}

}  // namespace assay::native
