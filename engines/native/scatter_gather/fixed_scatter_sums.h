// Scatters of f32 whose combiner is an exact sum, where the sums need no rounding test: elements as integers
// in one or two units that divide every term (fixed_units.h), rows by doubles that hold every partial sum
// (FixedKernels::sum_rows).
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_FIXED_SCATTER_SUMS_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_FIXED_SCATTER_SUMS_H_

#include "engines/native/scatter_gather/index_kernels.h"
#include "engines/native/scatter_gather/scatter_windows.h"
#include "engines/native/sums/fixed_kernels.h"
#include "engines/native/sums/sum_kernels.h"

namespace assay::native {

struct ScatterKernels {
  const IndexKernels& indices;
  const FixedKernels& fixed;
  const SumKernels& sums;
};

// result += the windows of `updates`; false, and nothing is done, where this is for scatter_sums.h.
absl::StatusOr<bool> AddWindowsInFixedUnits(EvalContext& context, const ScatterKernels& kernels,
                                            const ScatterGeometry& geometry, const Literal& updates,
                                            Literal& result);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_FIXED_SCATTER_SUMS_H_
