// The custom calls by which JAX reaches LAPACK on CPUs (jaxlib's lapack_*_ffi),
// as operations: docs/linear_algebra.md.
#ifndef ASSAY_CUSTOM_LAPACK_LAPACK_OPS_H_
#define ASSAY_CUSTOM_LAPACK_LAPACK_OPS_H_

#include <memory>
#include <string>
#include <vector>

#include "evaluator/custom_op.h"

namespace assay::custom {

// Tables that never change. The targets potrf and trsm are not in them: those are operations of HLO.
std::shared_ptr<const CustomOps> LapackOps();
// The same targets by the machine's LAPACK, where it has their routines: a program takes these operations in
// LapackOps()'s place if they are among those that it is given.
std::shared_ptr<const CustomOps> LibraryLapackOps();
// Those behind `ops`, which may be null.
std::shared_ptr<const CustomOps> WithLibraryLapack(std::shared_ptr<const CustomOps> ops);

// The targets, sorted.
std::vector<std::string> LapackTargets();

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_LAPACK_OPS_H_
