// dot in the native engine, and for the engine "f64".
#ifndef ASSAY_EVALUATOR_NATIVE_DOT_H_
#define ASSAY_EVALUATOR_NATIVE_DOT_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const StepView& step, Isa isa);
// Of f64, summed in f64 (Accuracy::kF64Sum); NotSupported for other types.
absl::StatusOr<std::shared_ptr<const Kernel>> PreparePlainDot(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_DOT_H_
