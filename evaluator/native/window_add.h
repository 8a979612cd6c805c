// Exact sums of sliding windows (RED-1).
#ifndef ASSAY_EVALUATOR_NATIVE_WINDOW_ADD_H_
#define ASSAY_EVALUATOR_NATIVE_WINDOW_ADD_H_

#include "evaluator/eval_context.h"
#include "evaluator/native/sum_kernels.h"
#include "evaluator/native/window_lines.h"

namespace assay::native {

// Elements of a float type; init is one element.
absl::Status RunWindowSums(EvalContext& context, Isa isa, const WindowLines& lines, ElementType type,
                           const std::byte* input, const std::byte* init, std::byte* result);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_WINDOW_ADD_H_
