// Reductions that replace instructions, of any computation, by simpler ones.
#ifndef ASSAY_FIND_REDUCE_REPLACEMENTS_H_
#define ASSAY_FIND_REDUCE_REPLACEMENTS_H_

#include "find/reduce/reduction.h"

namespace assay {

// An instruction becomes one of its operands of the same shape.
std::vector<ReductionPlace> OperandPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> UseOperands(const CheckedCase& from, std::span<const ReductionPlace> places);
// An instruction becomes zero, or one: a constant, or the broadcast of one.
std::vector<ReductionPlace> FillPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> FillWithNumbers(const CheckedCase& from, std::span<const ReductionPlace> places);
// Parameters, and instructions of the entry computation, of few elements become constants of the values that
// they had.
std::vector<ReductionPlace> ConstantPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> MakeConstants(const CheckedCase& from, std::span<const ReductionPlace> places);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_REPLACEMENTS_H_
