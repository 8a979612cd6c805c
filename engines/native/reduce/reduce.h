// reduce in the native engine: exact sums, associative reducers of integers and of max and min; others by code
// (code_fold.h).
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_H_

#include "engine/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_H_
