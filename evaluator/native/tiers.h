// How often the kernels of exact sums needed more than their first tier (matrix_product.h), in this process.
#ifndef ASSAY_EVALUATOR_NATIVE_TIERS_H_
#define ASSAY_EVALUATOR_NATIVE_TIERS_H_

#include <cstdint>

namespace assay::native {

struct TierCounts {
  int64_t sums = 0;    // rounded in all
  int64_t pairs = 0;   // settled by pairs of doubles, or not even by these
  int64_t slices = 0;  // summed exactly
};
TierCounts Tiers();
void CountTiers(const TierCounts& more);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_TIERS_H_
