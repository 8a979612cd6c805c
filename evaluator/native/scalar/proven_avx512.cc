// The proven functions for AVX-512.
#include "evaluator/native/isa.h"
#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#include "evaluator/native/scalar/proven_body.h"

namespace assay::native {

std::span<const ProvenRow> ProvenRowsAvx512() { return proven::kRows; }

}  // namespace assay::native
