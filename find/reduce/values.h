// Reductions of the numbers in arguments and constants.
#ifndef ASSAY_FIND_REDUCE_VALUES_H_
#define ASSAY_FIND_REDUCE_VALUES_H_

#include "find/reduce/reduction.h"

namespace assay {

// Arrays of zeros, of ones, of small integers, of short fractions; and parts of them that become so, down to
// single elements. Of a place, `computation` is -1 for an argument, whose number is `instruction`; `which` is
// the part, -1 for the whole array.
std::vector<ReductionPlace> ValuePlaces(const CheckedCase& from);
absl::StatusOr<TestCase> SimplifyValues(const CheckedCase& from, std::span<const ReductionPlace> places);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_VALUES_H_
