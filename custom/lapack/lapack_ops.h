// The custom calls by which JAX reaches LAPACK on CPUs (jaxlib's lapack_*_ffi), as operations: docs/linear_algebra.md.
#ifndef ASSAY_CUSTOM_LAPACK_LAPACK_OPS_H_
#define ASSAY_CUSTOM_LAPACK_LAPACK_OPS_H_

#include <memory>
#include <string>
#include <vector>

#include "evaluator/custom_op.h"

namespace assay::custom {

// A table that never changes. The targets potrf and trsm are not in it: those are operations of HLO.
std::shared_ptr<const CustomOps> LapackOps();

// The targets, sorted.
std::vector<std::string> LapackTargets();

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_LAPACK_OPS_H_
