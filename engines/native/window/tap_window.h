// reduce-window of f32 by windows of few elements: sums (RED-1), products, maxima and minima, each folded in
// registers over the elements that it covers.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_TAP_WINDOW_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_TAP_WINDOW_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// NotSupported where other kernels of the engine may take the reduce-window, which is of one operand and one
// element type.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareTapWindow(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_TAP_WINDOW_H_
