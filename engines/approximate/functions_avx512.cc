// The approximate functions for the instruction set "avx512".
#include <algorithm>
#include <array>

#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 16
#include "engines/approximate/singles_body.h"
// Behind that.
#include "engines/approximate/doubles_body.h"

namespace assay::approximate {

std::span<const ApproximateFunction> ApproximateFunctionsAvx512() { return kRows; }

}  // namespace assay::approximate
