// Reductions that change what a program gives, and what it takes.
#ifndef ASSAY_FIND_REDUCE_ROOTS_H_
#define ASSAY_FIND_REDUCE_ROOTS_H_

#include "find/reduce/reduction.h"

namespace assay {

// Elements of the result are left out; a tuple of one array becomes the array.
std::vector<ReductionPlace> OutputPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropOutputs(const CheckedCase& from, std::span<const ReductionPlace> places);
// An instruction of the entry computation becomes the root: first the one in the middle, then those at
// quarters, and so on.
std::vector<ReductionPlace> RootPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> CutToRoot(const CheckedCase& from, std::span<const ReductionPlace> places);
// Instructions of the entry computation become parameters with the values that they had.
std::vector<ReductionPlace> ParameterPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> MakeParameters(const CheckedCase& from, std::span<const ReductionPlace> places);
// Parameters that nobody uses.
std::vector<ReductionPlace> UnusedPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropUnused(const CheckedCase& from, std::span<const ReductionPlace> places);
// Instructions with a side effect whose result nobody uses, or is replaced by an operand.
std::vector<ReductionPlace> EffectPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropEffects(const CheckedCase& from, std::span<const ReductionPlace> places);

// The instructions of the entry computation that nobody needs become outputs.
absl::StatusOr<TestCase> WithAllOutputs(const CheckedCase& from);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_ROOTS_H_
