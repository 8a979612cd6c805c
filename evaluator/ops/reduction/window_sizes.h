// How many positions a window has over a base (docs/spec/operations-linalg.md, ReduceWindow): the shape rule
// that reduce-window, select-and-scatter and convolution share.
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_WINDOW_SIZES_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_WINDOW_SIZES_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "evaluator/op.h"
#include "shape/index.h"

namespace assay {

// The number of window positions in each dimension, or the violated constraint: "{op}-C2" rank, C3 size, C4
// stride, C5 dilations, C7 padded size; where the section of `op` has one number for all of them, `only` is
// that number.
absl::StatusOr<DimVector> WindowOutputSizes(const InferContext& context, std::string_view op, int only,
                                            std::span<const int64_t> sizes, const Window& window);
// The same at run time, for run-time sizes; EvalError where a padded size is negative.
absl::StatusOr<DimVector> RuntimeOutputSizes(const Instruction& instruction, std::span<const int64_t> sizes,
                                             const Window& window);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_WINDOW_SIZES_H_
