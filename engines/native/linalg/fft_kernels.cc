#include "engines/native/linalg/fft_kernels.h"

namespace assay::native {

const FftKernels& FftKernelsOf(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return kBaselineFft;
    case Isa::kAvx2:
      return kAvx2Fft;
    case Isa::kAvx512:
      return kAvx512Fft;
  }
  return kBaselineFft;
}

}  // namespace assay::native
