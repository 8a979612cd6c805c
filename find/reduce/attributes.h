// Reductions of what instructions and modules say beyond what their operations need.
#ifndef ASSAY_FIND_REDUCE_ATTRIBUTES_H_
#define ASSAY_FIND_REDUCE_ATTRIBUTES_H_

#include "find/reduce/reduction.h"

namespace assay {

// Attributes with their default: metadata, layouts, shardings, precisions, promises of indices, ….
// `how` is a line of the table in attributes.cc; of the module's facts, `instruction` is -1.
std::vector<ReductionPlace> AttributePlaces(const CheckedCase& from);
absl::StatusOr<TestCase> DropAttributes(const CheckedCase& from, std::span<const ReductionPlace> places);

// How many of them there are.
int64_t CostOfAttributes(const Module& module);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_ATTRIBUTES_H_
