// The near functions for the instruction set "avx512".
#include <algorithm>
#include <array>

#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 16
#include "engines/approximate/near_singles_body.h"
// Behind that.
#include "engines/approximate/near_doubles_body.h"

namespace assay::fast {

std::span<const NearRow> NearRowsAvx512() { return kRows; }

}  // namespace assay::fast
