// topk: one pass over each row that keeps the best so far.
#ifndef ASSAY_ENGINES_NATIVE_SORT_TOP_K_H_
#define ASSAY_ENGINES_NATIVE_SORT_TOP_K_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareTopK(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_TOP_K_H_
