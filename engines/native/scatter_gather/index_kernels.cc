#include "engines/native/scatter_gather/index_kernels.h"

namespace assay::native {

const IndexKernels& IndexKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineIndices;
    case Isa::kAvx2:
      return kAvx2Indices;
    case Isa::kAvx512:
      return kAvx512Indices;
  }
  return kBaselineIndices;
}

}  // namespace assay::native
