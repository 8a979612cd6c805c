// dot in the native engine, and for the engine "f64".
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_DOT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_DOT_H_

#include "engines/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const StepView& step, Isa isa);
// Of f64, summed in f64 (Accuracy::kF64Sum); NotSupported for other types.
absl::StatusOr<std::shared_ptr<const Kernel>> PreparePlainDot(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_DOT_H_
