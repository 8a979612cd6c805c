// Exact sums of sliding windows (RED-1).
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_ADD_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_ADD_H_

#include "engines/native/reduce/window_lines.h"
#include "engines/native/sums/sum_kernels.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// Elements of a float type; init is one element.
absl::Status RunWindowSums(EvalContext& context, Isa isa, const WindowLines& lines, ElementType type,
                           const std::byte* input, const std::byte* init, std::byte* result);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_ADD_H_
