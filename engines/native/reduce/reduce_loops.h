// The dimensions of a reduce as loops.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_LOOPS_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_LOOPS_H_

#include <algorithm>
#include <optional>
#include <span>

#include "engines/native/walk/loops.h"

namespace assay::native {

// An operand that is read through a broadcast: the sizes of the broadcast's result, and what a step in each
// dimension moves in the operand, 0 where elements are repeated.
struct ReadThrough {
  DimVector sizes, strides;
};

// The loops of the remaining and the reduced dimensions, and the run-time sizes of the result,
// which has the remaining ones.
struct ReduceLoops {
  LoopDims remaining, reduced;
  DimVector result_sizes;

  // `through`: null where x is read as it lies.
  ReduceLoops(const Literal& x, const Literal& result, std::span<const int64_t> dimensions,
              const std::optional<ReadThrough>& through = {})
      : ReduceLoops(through ? through->sizes : x.runtime_sizes(), through ? through->strides : StridesOf(x),
                    StridesOf(result), dimensions) {}
  ReduceLoops(std::span<const int64_t> sizes, const DimVector& strides, const DimVector& result_strides,
              std::span<const int64_t> dimensions) {
    for (int64_t d = 0; d < std::ssize(sizes); ++d) {
      const int64_t size = sizes[d];
      if (std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end()) {
        reduced.push_back({size, {strides[d]}});
      } else {
        remaining.push_back({size, {strides[d], result_strides[result_sizes.size()]}});
        result_sizes.push_back(size);
      }
    }
  }
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_LOOPS_H_
