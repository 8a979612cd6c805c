// The near functions for the instruction set "avx2".
#include <algorithm>
#include <array>

#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 8
#include "engines/approximate/near_singles_body.h"
// Behind that.
#include "engines/approximate/near_doubles_body.h"

namespace assay::fast {

std::span<const NearRow> NearRowsAvx2() { return kRows; }

}  // namespace assay::fast
