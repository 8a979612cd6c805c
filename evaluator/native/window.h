// reduce-window in the native engine: exact sums and associative reducers over sliding windows.
#ifndef ASSAY_EVALUATOR_NATIVE_WINDOW_H_
#define ASSAY_EVALUATOR_NATIVE_WINDOW_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceWindow(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_WINDOW_H_
