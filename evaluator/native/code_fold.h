// Left folds (RED-2) by generated code: reduce, cumulative reduce-window and scatter with computations whose order
// results show.
#ifndef ASSAY_EVALUATOR_NATIVE_CODE_FOLD_H_
#define ASSAY_EVALUATOR_NATIVE_CODE_FOLD_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeReduce(const StepView& step, Isa isa);
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeWindow(const StepView& step, Isa isa);
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeScatter(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_CODE_FOLD_H_
