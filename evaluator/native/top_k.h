// topk: one pass over each row that keeps the best so far.
#ifndef ASSAY_EVALUATOR_NATIVE_TOP_K_H_
#define ASSAY_EVALUATOR_NATIVE_TOP_K_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareTopK(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_TOP_K_H_
