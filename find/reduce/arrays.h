// Reductions of operations on several arrays at once.
#ifndef ASSAY_FIND_REDUCE_ARRAYS_H_
#define ASSAY_FIND_REDUCE_ARRAYS_H_

#include "find/reduce/reduction.h"

namespace assay {

// A sort or reduce of several arrays leaves one of them out, where its computation needs nothing of it. What
// it gave becomes the array itself, or the initial value; of the program's result it is left out.
std::vector<ReductionPlace> ArrayPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropArrays(const CheckedCase& from, std::span<const ReductionPlace> places);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_ARRAYS_H_
