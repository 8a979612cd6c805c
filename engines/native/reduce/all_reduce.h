// all-reduce in the native engine: exact sums, and reducers of integers whose grouping no result can show.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_ALL_REDUCE_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_ALL_REDUCE_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareAllReduce(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_ALL_REDUCE_H_
