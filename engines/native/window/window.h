// reduce-window in the native engine: exact sums and associative reducers over sliding windows.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceWindow(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_H_
