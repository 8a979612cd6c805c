// The proven functions for AVX2.
#include "evaluator/native/isa.h"
#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#include "evaluator/native/scalar/proven_body.h"

namespace assay::native {

std::span<const ProvenRow> ProvenRowsAvx2() { return proven::kRows; }

}  // namespace assay::native
