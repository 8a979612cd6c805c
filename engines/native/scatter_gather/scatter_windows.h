// The windows of a scatter as strides (docs/spec/operations-shape.md, Scatter), and walks over them.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_WINDOWS_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_WINDOWS_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engines/engine.h"
#include "evaluator/eval_context.h"
#include "evaluator/scalar_function.h"
#include "shape/index.h"

namespace assay::native {

// Offsets, strides and limits in elements. All updates of a variadic scatter have one geometry.
struct ScatterGeometry {
  AffineMap updates, batch;  // over B: to the updates; to the operand by batching dimensions
  // The window: sizes, and strides of operand and updates.
  DimVector window, window_to, window_from;
  // Component k of an index vector has these: the largest start, and the operand's stride.
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

// The geometry of a scatter's operands, with their run-time sizes.
ScatterGeometry MakeScatterGeometry(const AttributeMap& attributes, std::span<const Literal> operands);
// True if the order of B gives each element of the operand its updates in their row-major order.
inline bool CanGoByWindows(const ScatterGeometry& g) { return g.disjoint || g.windows_last; }
inline constexpr std::string_view kNotByWindows = "windows overlap in another order than that of the updates";
// NotSupported where the shapes of a step say that no run can; sizes at run time may still say so.
absl::Status CheckByWindows(const StepView& step);

// A scatter whose results, which are the operands, `apply` combines in place with the updates. It is called
// where there are elements and windows fit.
using ScatterApplyFn =
    absl::FunctionRef<absl::Status(const ScatterGeometry& geometry, ScalarFunction& combiner,
                                   std::span<const Literal> updates, std::span<Literal> results)>;
absl::StatusOr<Literal> RunScatter(EvalContext& context, const ScatterGeometry& geometry,
                                   std::span<Literal> operands, ScatterApplyFn apply);

// Walks the windows in the order of B, in strips: window i starts at to[i] in the operand, or is not wholly
// inside and dropped (to[i] = -1), and at from + i * from_step in the updates. Charges for its elements.
// Decision: scatter-window-drop
using WindowStripFn =
    absl::FunctionRef<absl::Status(int64_t n, const int64_t* to, int64_t from, int64_t from_step)>;
absl::Status ForEachWindowStrip(EvalContext& context, const ScatterGeometry& geometry, WindowStripFn fn);

// The window as runs: offsets of each run's first element, one length, one stride a side.
struct WindowRuns {
  struct Start {
    int64_t to, from;
  };
  std::vector<Start> starts;
  int64_t length = 0, to_stride = 0, from_stride = 0;
};
WindowRuns RunsOf(const ScatterGeometry& geometry);

// An element (or disjoint window) of the operand and an update of it.
struct ScatteredUpdate {
  int64_t to, from;
};
// Every inside window where windows are disjoint, else every element of one; in the first half of scratch
// memory for twice as many. `count` of them.
struct ScatteredUpdates {
  Literal scratch;
  int64_t count = 0;
  ScatteredUpdate* data() { return reinterpret_cast<ScatteredUpdate*>(scratch.MutableBytes().data()); }
};
absl::StatusOr<ScatteredUpdates> CollectUpdates(EvalContext& context, const ScatterGeometry& geometry,
                                                const Literal& update);
// Sorts n updates by `to`, which is below `positions`. `updates` has room for 2n, and the sorted ones are at
// the returned place.
ScatteredUpdate* SortUpdates(ScatteredUpdate* updates, int64_t n, int64_t positions);
// An s64 array as scratch memory that counts against the limit.
absl::StatusOr<Literal> Int64Scratch(EvalContext& context, std::optional<int64_t> n);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_SCATTER_WINDOWS_H_
