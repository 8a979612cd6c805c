// How often exact sums (matrix_product.h) and scalar functions (functions/functions.h) needed more than their
// first tier, in this process.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_TIERS_H_
#define ASSAY_ENGINES_NATIVE_SUMS_TIERS_H_

#include <cstdint>

namespace assay::native {

struct TierCounts {
  int64_t sums = 0;    // rounded in all
  int64_t pairs = 0;   // settled by pairs of doubles, or not even by these
  int64_t slices = 0;  // summed exactly
};
TierCounts Tiers();
void CountTiers(const TierCounts& more);

struct FunctionTiers {
  int64_t elements = 0;   // computed in all
  int64_t second = 0;     // left open by doubles; f64 starts with pairs, so never there
  int64_t reference = 0;  // left to the reference
};
FunctionTiers FunctionTierCounts();
// Strips are short and threads many, so every thread counts by itself.
void CountFunctionTiers(const FunctionTiers& more);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_TIERS_H_
