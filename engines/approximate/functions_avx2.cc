// The approximate functions for the instruction set "avx2".
#include <algorithm>
#include <array>

#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 8
#include "engines/approximate/singles_body.h"
// Behind that.
#include "engines/approximate/doubles_body.h"

namespace assay::approximate {

std::span<const ApproximateFunction> ApproximateFunctionsAvx2() { return kRows; }

}  // namespace assay::approximate
