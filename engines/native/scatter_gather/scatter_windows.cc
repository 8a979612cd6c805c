#include "engines/native/scatter_gather/scatter_windows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "engines/native/reduce/reducer_operands.h"
#include "engines/native/scatter_gather/index_vectors.h"
#include "evaluator/ops/indexing/scatter.h"
#include "evaluator/shape_rules.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

// Whether the dimensions of the updates behind those of B are the window's, in order.
bool AreWindowsLast(const ScatterNumbers& s, int64_t updates_rank) {
  const int64_t batch_rank = updates_rank - std::ssize(s.update_window_dims);
  for (size_t k = 0; k < s.update_window_dims.size(); ++k) {
    if (s.update_window_dims[k] != batch_rank + static_cast<int64_t>(k)) return false;
  }
  return true;
}

}  // namespace

// Strides and limits, in elements, with run-time sizes.
ScatterGeometry MakeScatterGeometry(const AttributeMap& attributes, std::span<const Literal> operands) {
  const size_t n = operands.size() / 2;
  const Literal &operand = operands[0], &indices = operands[n], &updates = operands[n + 1];
  const ScatterNumbers s(attributes);
  ScatterGeometry geometry;
  const DimVector operand_strides = RowMajorStrides(operand.shape().sizes());
  const DimVector update_strides = RowMajorStrides(updates.shape().sizes());
  const DimVector window_operand_dims = s.WindowOperandDims(operand.shape().rank());
  const int64_t batch_rank = updates.shape().rank() - static_cast<int64_t>(s.update_window_dims.size());
  DimVector extents(operand.shape().rank(), 1);
  for (int64_t i = 0; i < updates.shape().rank(); ++i) {
    if (!Contains(s.update_window_dims, i)) {
      geometry.updates.strides.push_back(update_strides[i]);
      geometry.update_dims.push_back({false, updates.dynamic_size(i), update_strides[i]});
      continue;
    }
    const int64_t d = window_operand_dims[geometry.window.size()];
    extents[d] = updates.dynamic_size(i);
    geometry.window.push_back(extents[d]);
    geometry.window_to.push_back(operand_strides[d]);
    geometry.window_from.push_back(update_strides[i]);
    geometry.update_dims.push_back({true, extents[d], operand_strides[d]});
  }
  geometry.batch.strides.assign(batch_rank, 0);
  for (size_t k = 0; k < s.input_batching_dims.size(); ++k) {
    geometry.batch.strides[s.BatchPosition(s.scatter_indices_batching_dims[k])] =
        operand_strides[s.input_batching_dims[k]];
  }
  for (int64_t d : s.scatter_dims_to_operand_dims) {
    geometry.limits.push_back(operand.dynamic_size(d) - extents[d]);
    geometry.strides.push_back(operand_strides[d]);
    geometry.disjoint &= extents[d] <= 1;
  }
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    if (!Contains(s.input_batching_dims, d)) geometry.fits &= extents[d] <= operand.dynamic_size(d);
  }
  geometry.windows_last = AreWindowsLast(s, updates.shape().rank());
  geometry.index_vector_dim = s.index_vector_dim;
  geometry.indices = &indices;
  return geometry;
}

absl::Status CheckByWindows(const StepView& step) {
  const auto n = static_cast<int64_t>(step.instruction.operands.size()) / 2;
  const Shape &operand = step.operand_shape(0), &updates = step.operand_shape(n + 1);
  const ScatterNumbers s(step.instruction.attributes);
  if (updates.HasDynamic() || AreWindowsLast(s, updates.rank())) return absl::OkStatus();
  const DimVector window_operand_dims = s.WindowOperandDims(operand.rank());
  size_t window = 0;
  for (int64_t i = 0; i < updates.rank(); ++i) {
    if (!Contains(s.update_window_dims, i)) continue;
    const int64_t d = window_operand_dims[window++];
    if (updates.size(i) > 1 && Contains(s.scatter_dims_to_operand_dims, d))
      return NotSupported({}, kNotByWindows);
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> RunScatter(EvalContext& context, const ScatterGeometry& geometry,
                                   std::span<Literal> operands, ScatterApplyFn apply) {
  const int64_t n = static_cast<int64_t>(operands.size()) / 2;
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction * combiner,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  std::vector<Literal> results, updates;
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal update,
                           ConvertForFold(context, operands[n + 1 + i], combiner->input_type(n + i)));
    updates.push_back(std::move(update));
    ASSAY_ASSIGN_OR_RETURN(Literal wide, ConvertForFold(context, operands[i], combiner->input_type(i)));
    operands[i] = Literal();
    ASSAY_ASSIGN_OR_RETURN(Literal result, Writable(context, std::move(wide)));
    results.push_back(std::move(result));
  }
  // Offsets mean something only where there are elements.
  const bool any = updates[0].shape().num_elements() > 0 && results[0].shape().num_elements() > 0;
  if (any && geometry.fits) {
    if (absl::Status status = apply(geometry, *combiner, updates, results); !status.ok()) {
      // Where there is no room for what it keeps besides, nothing has been written yet:
      // the reference may do without.
      for (int64_t i = 0; i < n && IsMemoryError(status); ++i) {
        const bool is_operand = results[i].shape().element_type() == context.operand_shape(i).element_type();
        if (is_operand) operands[i] = std::move(results[i]);
      }
      return status;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!results[i].IsFullSize()) results[i].ClearDeadElements();
    const DimVector sizes = results[i].runtime_sizes();
    if (n == 1) return ShareStorage(context, results[0], sizes);
  }
  return Literal::Tuple(context.shared_result_shape(), std::move(results));
}

absl::Status ForEachWindowStrip(EvalContext& context, const ScatterGeometry& g, WindowStripFn fn) {
  const int64_t window = std::max<int64_t>(CheckedProduct(g.window).value_or(0), 1);
  std::array<int64_t, kStrip> to;
  return ForEachIndexVector(
      *g.indices, g.index_vector_dim, g.updates, g.batch,
      [&](int64_t n, const int64_t* components, const int64_t* bases, const int64_t* steps) -> absl::Status {
        for (int64_t i = 0; i < n; ++i) to[i] = bases[1] + i * steps[1];
        for (size_t k = 0; k < g.limits.size(); ++k) {
          for (int64_t i = 0; i < n; ++i) {
            const int64_t start = components[k * kStrip + i];
            const bool inside = start >= 0 && start <= g.limits[k] && to[i] >= 0;
            to[i] = inside ? to[i] + start * g.strides[k] : -1;
          }
        }
        ASSAY_RETURN_IF_ERROR(fn(n, to.data(), bases[0], steps[0]));
        return context.Charge(n * window);
      });
}

WindowRuns RunsOf(const ScatterGeometry& g) {
  WindowRuns runs;
  const AffineMap maps[] = {{0, g.window_to}, {0, g.window_from}};
  ForEachRun(g.window, maps, [&](const int64_t* offsets, const int64_t* strides, int64_t length) {
    runs.starts.push_back({offsets[0], offsets[1]});
    runs.length = length;
    runs.to_stride = strides[0];
    runs.from_stride = strides[1];
  });
  return runs;
}

absl::StatusOr<Literal> Int64Scratch(EvalContext& context, std::optional<int64_t> n) {
  if (!n) return LimitExceeded("scatter: updates", std::numeric_limits<int64_t>::max(), 1);
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(ElementType::kS64, {&*n, 1}));
  return context.NewLiteral(std::make_shared<const Shape>(std::move(shape)));
}

absl::StatusOr<ScatteredUpdates> CollectUpdates(EvalContext& context, const ScatterGeometry& g,
                                                const Literal& update) {
  ScatteredUpdates result;
  const int64_t elements = CheckedProduct(g.window).value_or(0);
  if (elements == 0) return result;
  const int64_t windows = update.shape().num_elements() / elements;
  const auto count = g.disjoint ? std::optional(windows) : CheckedMul(windows, elements);
  ASSAY_ASSIGN_OR_RETURN(result.scratch, Int64Scratch(context, count ? CheckedMul(*count, 4) : count));
  const WindowRuns runs = g.disjoint ? WindowRuns() : RunsOf(g);
  ScatteredUpdate* last = result.data();
  ASSAY_RETURN_IF_ERROR(ForEachWindowStrip(
      context, g, [&](int64_t n, const int64_t* to, int64_t from, int64_t from_step) -> absl::Status {
        for (int64_t j = 0; j < n; ++j, from += from_step) {
          if (to[j] < 0) continue;
          if (g.disjoint) *last++ = {to[j], from};
          for (const WindowRuns::Start& start : runs.starts) {
            for (int64_t i = 0; i < runs.length; ++i) {
              *last++ = {to[j] + start.to + i * runs.to_stride, from + start.from + i * runs.from_stride};
            }
          }
        }
        return absl::OkStatus();
      }));
  result.count = last - result.data();
  return result;
}

// Sorts by target; many updates are sorted by digits of 11 bits, lowest first.
ScatteredUpdate* SortUpdates(ScatteredUpdate* updates, int64_t n, int64_t positions) {
  constexpr int kBits = 11;
  constexpr int64_t kFew = 256;
  if (n < kFew) {
    std::sort(updates, updates + n,
              [](const ScatteredUpdate& a, const ScatteredUpdate& b) { return a.to < b.to; });
    return updates;
  }
  ScatteredUpdate* other = updates + n;
  for (int shift = 0; shift < 64 && (positions - 1) >> shift != 0; shift += kBits) {
    std::array<int64_t, 1 << kBits> start{};
    const auto digit = [shift](const ScatteredUpdate& update) {
      return (update.to >> shift) & ((1 << kBits) - 1);
    };
    for (int64_t i = 0; i < n; ++i) ++start[digit(updates[i])];
    int64_t sum = 0;
    for (int64_t& count : start) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i) other[start[digit(updates[i])]++] = updates[i];
    std::swap(updates, other);
  }
  return updates;
}

}  // namespace assay::native
