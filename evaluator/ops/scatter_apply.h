// What scatter does with its windows (spec/operations-shape.md, Scatter): in update order, or as exact sums.
#ifndef ASSAY_EVALUATOR_OPS_SCATTER_APPLY_H_
#define ASSAY_EVALUATOR_OPS_SCATTER_APPLY_H_

#include <span>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/scalar_function.h"
#include "shape/index.h"

namespace assay {

// Offsets, strides and limits in elements. All updates of a variadic scatter have one geometry.
struct ScatterGeometry {
  AffineMap updates, batch;  // over B: to the updates; to the operand by batching dimensions
  // The window: sizes, and strides of operand and updates.
  DimVector window, window_to, window_from;
  // For component k of an index vector: the largest start, and the operand's stride.
  DimVector limits, strides;
  // The dimensions of the updates in order: of the window (stride in the operand) or of B (in the updates).
  struct UpdateDimension {
    bool window;
    int64_t size, stride;
  };
  absl::InlinedVector<UpdateDimension, 4> update_dims;
  bool fits = true;          // a window at 0 lies inside
  bool disjoint = true;      // two windows coincide or do not touch
  bool windows_last = true;  // row-major order of the updates visits one window after the other
  const Literal* indices = nullptr;
  int64_t index_vector_dim = 0;
};

// results[i] is combined in place with updates[i].
absl::Status ApplyScatter(EvalContext& context, const ScatterGeometry& geometry, ScalarFunction& combiner,
                          std::span<const Literal> updates, std::span<Literal> results);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_SCATTER_APPLY_H_
