// Exact sums (RED-1) of windows of few elements: each is added up in f64 with a bound, by generated code, and
// rounded at both ends of what it can be; the few that this leaves open are summed exactly.
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_SUMS_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_SUMS_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// A reduce-window of one operand by an exact sum of its type. NotSupported for other types than f32, bf16 and
// f16, and for large windows.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareWindowSums(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_SUMS_H_
