// Left folds (RED-2) over windows by generated code: reduce-window with any computation of scalars that has
// code, of any number of operands, with any strides, dilations and padding.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_CODE_WINDOW_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_CODE_WINDOW_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeWindow(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_CODE_WINDOW_H_
