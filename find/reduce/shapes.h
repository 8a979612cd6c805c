// Reductions of sizes and types, consistently through a program.
#ifndef ASSAY_FIND_REDUCE_SHAPES_H_
#define ASSAY_FIND_REDUCE_SHAPES_H_

#include "find/reduce/reduction.h"

namespace assay {

// All dimensions of one class (size_classes.h) become smaller: 1, or half of what they were; what follows
// from them, such as concatenated sizes, changes along. Arguments and constants keep their leading elements.
std::vector<ReductionPlace> SizePlaces(const CheckedCase& from);
absl::StatusOr<TestCase> MakeSmaller(const CheckedCase& from, std::span<const ReductionPlace> places);
// Windows, paddings and slices without padding, dilation or stride; sizes follow.
std::vector<ReductionPlace> WindowPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> SimplifyWindows(const CheckedCase& from, std::span<const ReductionPlace> places);
// How many of them there are.
int64_t CostOfWindows(const Module& module);
// All dimensions of one class of size 1 are left out.
std::vector<ReductionPlace> RankPlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropRanks(const CheckedCase& from, std::span<const ReductionPlace> places);
// All arrays of one element type become arrays of a simpler one.
std::vector<ReductionPlace> TypePlaces(const CheckedCase& from);
absl::StatusOr<TestCase> SimplifyType(const CheckedCase& from, std::span<const ReductionPlace> places);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_SHAPES_H_
