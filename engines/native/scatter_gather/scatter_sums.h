// Exact sums of array elements with the updates that hit them (RED-1), rounded once: what scatter and
// select-and-scatter share.
//
// A sum is s = t0 + t1 + … by TwoSum, whose errors e_i are exact: the exact sum is s + sum e_i. Where D = sum
// |e_i| is zero, s is the exact sum (so ties and zeros of short sums are settled at once). Else the rounding
// test of s -+ D, then of s + E -+ n 2^-53 D for E = sum e_i in doubles (enclosed_sum.h), then E itself where
// no addition of errors was rounded, then the wide accumulator decides.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_SUMS_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_SUMS_H_

#include <span>

#include "engines/native/scatter_gather/scatter_windows.h"
#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

// Elements of one float or complex type.
struct ScatterArrays {
  ElementType type;
  std::byte* elements;       // terms and results
  int64_t positions;         // how many elements there are
  const std::byte* updates;  // terms
  WindowRuns runs;           // the elements of one update
  bool distinct = false;     // no two updates have one target
};

// The updates, in any order, with room for twice as many.
absl::Status AddUpdates(EvalContext& context, const SumKernels& kernels, const ScatterArrays& arrays,
                        ScatteredUpdate* updates, int64_t count);
// The same on the caller's thread for updates in the order of their targets.
void AddSortedUpdates(const SumKernels& kernels, const ScatterArrays& arrays,
                      std::span<const ScatteredUpdate> updates);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_SUMS_H_
