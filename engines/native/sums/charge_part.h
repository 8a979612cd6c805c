// Work told to the executor as it is done, for its polls, in parts that depend on tiles and threads: in all
// as much, however it is cut.
#ifndef ASSAY_ENGINES_NATIVE_SUMS_CHARGE_PART_H_
#define ASSAY_ENGINES_NATIVE_SUMS_CHARGE_PART_H_

#include <algorithm>

#include "absl/numeric/int128.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// Parts [done, done + part) of `parts` equal ones of sums * length products;
// an empty sum is as much as one of one product.
inline absl::Status ChargePart(EvalContext& context, int64_t sums, int64_t length, int64_t done, int64_t part,
                               int64_t parts) {
  const absl::int128 all = absl::int128(sums) * std::max<int64_t>(length, 1);
  return context.Charge(static_cast<int64_t>(all * (done + part) / parts - all * done / parts));
}

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SUMS_CHARGE_PART_H_
