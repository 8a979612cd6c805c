// The proven functions for AVX2.
#include "jit/isa.h"
#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#include "engines/native/functions/proven_body.h"

namespace assay::native {

std::span<const ProvenRow> ProvenRowsAvx2() { return proven::kRows; }

}  // namespace assay::native
