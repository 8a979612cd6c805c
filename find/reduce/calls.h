// Reductions of calls, fusions, conditionals and loops.
#ifndef ASSAY_FIND_REDUCE_CALLS_H_
#define ASSAY_FIND_REDUCE_CALLS_H_

#include "find/reduce/reduction.h"

namespace assay {

// A call or fusion becomes what it calls.
std::vector<ReductionPlace> CallPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> InlineCalls(const CheckedCase& from, std::span<const ReductionPlace> places);
// A conditional becomes one of its branches; the one that is taken comes first.
std::vector<ReductionPlace> BranchPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> InlineBranches(const CheckedCase& from, std::span<const ReductionPlace> places);
// A loop becomes its body, applied once.
std::vector<ReductionPlace> LoopPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> RunBodyOnce(const CheckedCase& from, std::span<const ReductionPlace> places);
// An element of a loop's state keeps the value that it had before the loop.
std::vector<ReductionPlace> FreezePlaces(const CheckedCase& from);
absl::StatusOr<TestCase> FreezeState(const CheckedCase& from, std::span<const ReductionPlace> places);
// An element of a loop's state that nothing else of the loop needs leaves it; behind the loop it has the
// value that it had before.
std::vector<ReductionPlace> StatePlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropState(const CheckedCase& from, std::span<const ReductionPlace> places);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_CALLS_H_
