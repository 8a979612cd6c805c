// The operations that move values at random within what a backend may do: calls of the sampled program
// (sample_program.h).
#ifndef ASSAY_CHECK_ESTIMATE_MOVE_OPS_H_
#define ASSAY_CHECK_ESTIMATE_MOVE_OPS_H_

#include <memory>
#include <string_view>

#include "evaluator/custom_op.h"
#include "shape/element_type.h"

namespace assay {

// All take u64 scalars behind their arrays: the seed of the sample, and the number of the call. Random
// numbers are a hash of these, the element's place and its bits. Where the profile flushes subnormal numbers
// of the type, samples of odd seeds do.
//
// (v, r): v + r s, s between -1 and 1; a zero stays one where r is made of the smallest numbers alone.
inline constexpr std::string_view kMoveTarget = "assay.estimate.move";
// The same, nearer to 0 than 1: of functions that do not go beyond.
inline constexpr std::string_view kMoveInUnitTarget = "assay.estimate.move_in_unit";
// (v, r): the same; in every other pair of samples towards zero, as operands are cut.
inline constexpr std::string_view kCutTarget = "assay.estimate.cut";
// (a, b): a + b, a - b, a b, rounded up or down, the nearer more often: what is exact stays so.
inline constexpr std::string_view kAddTarget = "assay.estimate.add";
inline constexpr std::string_view kSubtractTarget = "assay.estimate.subtract";
inline constexpr std::string_view kMultiplyTarget = "assay.estimate.multiply";

// These and the operations of `program`, which may be null.
std::shared_ptr<const CustomOps> MoveOps(std::shared_ptr<const CustomOps> program, const TypeSet& flushes);

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_MOVE_OPS_H_
