#include "engines/native/contraction/integer_kernels.h"

namespace assay::native {

bool HasVnni() {
  static const bool vnni = __builtin_cpu_supports("avx512vnni") != 0;
  return vnni;
}

const IntegerKernels& IntegerKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineIntegers;
    case Isa::kAvx2:
      return kAvx2Integers;
    case Isa::kAvx512:
      return HasVnni() ? kVnniIntegers : kAvx512Integers;
  }
  return kBaselineIntegers;
}

}  // namespace assay::native
