// reduce in the native engine: exact sums, associative reducers of integers and of max and min; others by
// code (code_fold.h).
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const StepView& step, Isa isa);
// A reduce of one operand with the broadcast that it reads (plan/broadcast_fusion.h): no array of the
// broadcast's size is made.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceOfBroadcast(const FusionView& fusion, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_H_
