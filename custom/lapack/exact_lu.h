// getrf and gtsv with sums that are exact and rounded once: equal bytes on every machine, and no library
// (docs/linear_algebra.md).
#ifndef ASSAY_CUSTOM_LAPACK_EXACT_LU_H_
#define ASSAY_CUSTOM_LAPACK_EXACT_LU_H_

#include <memory>

#include "custom/lapack/routine.h"
#include "evaluator/custom_op.h"

namespace assay::custom {

// kReference has plain loops over exact sums, kFastest the same bits by sums of doubles with a bound.
std::shared_ptr<const CustomKernel> MakeExactGetrf(const LapackCall& call, KernelRole role);
std::shared_ptr<const CustomKernel> MakeExactGtsv(const LapackCall& call, KernelRole role);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_EXACT_LU_H_
