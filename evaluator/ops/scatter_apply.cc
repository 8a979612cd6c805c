// Three ways to combine, with one meaning:
//   windows in the order of B, which is the order of the updates for each element of the operand where
//   windows
//     are disjoint or stand last in the updates;
//   single updates in row-major order of their index, for the rest;
//   exact sums (RED-1, NUM-5): the order does not matter, so (operand position, update position) pairs are
//     sorted and each operand element is summed once.
#include "evaluator/ops/scatter_apply.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "evaluator/move.h"
#include "evaluator/ops/index_vectors.h"
#include "evaluator/ops/shape_rules.h"
#include "evaluator/scalar/exact_sum.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "shape/checked.h"

namespace assay {
namespace {

// inside(to, from) for every window that lies inside, in the order of B; `outside(from)` for the others.
template <typename Inside, typename Outside>
absl::Status ForEachWindow(EvalContext& context, const ScatterGeometry& g, const Inside& inside,
                           const Outside& outside) {
  return ForEachWindowStrip(
      context, g, [&](int64_t n, const int64_t* to, int64_t from, int64_t from_step) -> absl::Status {
        for (int64_t i = 0; i < n; ++i, from += from_step) {
          ASSAY_RETURN_IF_ERROR(to[i] >= 0 ? inside(to[i], from) : outside(from));
        }
        return absl::OkStatus();
      });
}
absl::Status Ignore(int64_t) { return absl::OkStatus(); }

// f over runs of updates and operand elements, for N operands.
class Combiner {
 public:
  Combiner(ScalarFunction& function, std::span<const Literal> updates, std::span<Literal> results)
      : function_(function),
        n_(results.size()),
        in_(2 * n_),
        in_strides_(2 * n_),
        out_(n_),
        out_strides_(n_) {
    for (size_t i = 0; i < n_; ++i) {
      to_.push_back(results[i].MutableBytes().data());
      from_.push_back(updates[i].data());
      to_bytes_.push_back(Bytes(results[i].shape().element_type()));
      from_bytes_.push_back(Bytes(updates[i].shape().element_type()));
    }
  }
  absl::Status Run(int64_t length, int64_t to, int64_t to_stride, int64_t from, int64_t from_stride) {
    for (size_t i = 0; i < n_; ++i) {
      out_[i] = to_[i] + to * to_bytes_[i];
      out_strides_[i] = in_strides_[i] = to_stride * to_bytes_[i];
      in_[i] = out_[i];
      in_[n_ + i] = from_[i] + from * from_bytes_[i];
      in_strides_[n_ + i] = from_stride * from_bytes_[i];
    }
    return function_.Run(length, in_, in_strides_, out_, out_strides_);
  }

 private:
  ScalarFunction& function_;
  const size_t n_;
  std::vector<std::byte*> to_;
  std::vector<const std::byte*> from_;
  std::vector<int64_t> to_bytes_, from_bytes_;
  std::vector<const std::byte*> in_;
  std::vector<int64_t> in_strides_;
  std::vector<std::byte*> out_;
  std::vector<int64_t> out_strides_;
};

absl::Status ApplyWindows(EvalContext& context, const ScatterGeometry& g, Combiner& combiner) {
  const WindowRuns runs = RunsOf(g);
  return ForEachWindow(
      context, g,
      [&](int64_t to, int64_t from) {
        for (const WindowRuns::Start& start : runs.starts) {
          ASSAY_RETURN_IF_ERROR(
              combiner.Run(runs.length, to + start.to, runs.to_stride, from + start.from, runs.from_stride));
        }
        return absl::OkStatus();
      },
      Ignore);
}

// The combiner gives back the update: windows are moved over, the last one wins.
absl::Status ReplaceWindows(EvalContext& context, const ScatterGeometry& g, const Literal& update,
                            Literal& result) {
  const int bytes = Bytes(result.shape().element_type());
  const StridedMove move(bytes, g.window, g.window_from, g.window_to);
  std::byte* out = result.MutableBytes().data();
  return ForEachWindow(
      context, g,
      [&](int64_t to, int64_t from) {
        move.Run(update.data() + from * bytes, out + to * bytes);
        return absl::OkStatus();
      },
      Ignore);
}

int64_t* Numbers(Literal& scratch) { return reinterpret_cast<int64_t*>(scratch.MutableBytes().data()); }

// One update at a time in row-major order of its index.
absl::Status ApplyInUpdateOrder(EvalContext& context, const ScatterGeometry& g, const Literal& updates,
                                Combiner& combiner) {
  // Where the window of each G starts, or -1, at the position of its first update.
  ASSAY_ASSIGN_OR_RETURN(Literal scratch, Int64Scratch(context, updates.shape().num_elements()));
  int64_t* starts = Numbers(scratch);
  ASSAY_RETURN_IF_ERROR(ForEachWindow(
      context, g,
      [&](int64_t to, int64_t from) {
        starts[from] = to;
        return absl::OkStatus();
      },
      [&](int64_t from) {
        starts[from] = -1;
        return absl::OkStatus();
      }));
  DimVector sizes;
  AffineMap window, batch, update{0, RowMajorStrides(updates.shape().sizes())};
  for (const ScatterGeometry::UpdateDimension& d : g.update_dims) {
    sizes.push_back(d.size);
    window.strides.push_back(d.window ? d.stride : 0);
    batch.strides.push_back(d.window ? 0 : d.stride);
  }
  if (CheckedProduct(sizes).value_or(0) == 0) return absl::OkStatus();
  DimVector index(sizes.size(), 0);
  const std::span<int64_t> at(index.data(), index.size());
  do {
    const int64_t to = starts[LinearPosition(at, batch.strides)];
    if (to < 0) continue;
    ASSAY_RETURN_IF_ERROR(
        combiner.Run(1, to + LinearPosition(at, window.strides), 0, LinearPosition(at, update.strides), 0));
    ASSAY_RETURN_IF_ERROR(context.Charge(1));
  } while (NextIndex(sizes, at));
  return absl::OkStatus();
}

// Sums runs of operand elements with the updates that hit them.
class ExactSummer {
 public:
  ExactSummer(const Literal& update, Literal& result)
      : type_(result.shape().element_type()),
        update_type_(update.shape().element_type()),
        parts_(IsComplex(type_) ? 2 : 1),
        from_(update.data()),
        to_(result.MutableBytes().data()) {}

  // The run that starts at hits[0].to + to_start, with each hit's updates at from + from_start.
  void Sum(std::span<const Hit> hits, const WindowRuns& runs, const WindowRuns::Start& start) {
    const int64_t bytes = Bytes(type_);
    for (int64_t first = 0; first < runs.length; first += kStrip) {
      const int64_t n = std::min(kStrip, runs.length - first);
      std::byte* to = to_ + (hits[0].to + start.to + first * runs.to_stride) * bytes;
      const int64_t offset = start.from + first * runs.from_stride;
      SumStrip(n, to, runs.to_stride * bytes, hits, offset, runs.from_stride * Bytes(update_type_));
    }
  }

 private:
  const std::byte* At(int64_t from) const { return from_ + from * Bytes(update_type_); }

  // Sums of doubles with their errors watched: where every error is zero, the sum is exact and is rounded
  // once. Otherwise (and with infinities and NaNs, whose error is a NaN) the wide accumulator decides.
  void SumStrip(int64_t n, std::byte* to, int64_t to_stride, std::span<const Hit> hits, int64_t offset,
                int64_t from_stride) {
    const int64_t reals = n * parts_;
    const FloatFormat& format = *Info(type_).format;
    LoadStrip(type_, to, to_stride, n, terms_);
    std::copy(terms_, terms_ + reals, sums_);
    std::fill(errors_, errors_ + reals, 0.0);
    for (const Hit& hit : hits) {
      LoadStrip(update_type_, At(hit.from + offset), from_stride, n, addends_);
      for (int64_t i = 0; i < reals; ++i) {
        const double a = sums_[i], b = addends_[i], s = a + b, bb = s - a;
        errors_[i] += std::abs((a - (s - bb)) + (b - bb));
        sums_[i] = s;
      }
    }
    RoundStripToFormat(sums_, reals, format);
    // One addition of two doubles is rounded once as it is.
    if (hits.size() == 1 && format.mantissa_bits == 52) std::fill(errors_, errors_ + reals, 0.0);
    for (int64_t i = 0; i < reals; ++i) {
      if (!(errors_[i] == 0)) sums_[i] = ExactlyAt(i, hits, offset, from_stride, format);
    }
    StoreStrip(type_, sums_, n, to, to_stride);
  }
  double ExactlyAt(int64_t i, std::span<const Hit> hits, int64_t offset, int64_t from_stride,
                   const FloatFormat& format) {
    sum_.Clear();
    sum_.Add(terms_[i]);
    for (const Hit& hit : hits) {
      double update[2];
      LoadStrip(update_type_, At(hit.from + offset) + i / parts_ * from_stride, 0, 1, update);
      sum_.Add(update[i % parts_]);
    }
    return sum_.Round(format);
  }

  const ElementType type_, update_type_;
  const int64_t parts_;
  const std::byte* from_;
  std::byte* to_;
  ExactSum sum_;
  alignas(64) double terms_[2 * kStrip], sums_[2 * kStrip], addends_[2 * kStrip], errors_[2 * kStrip];
};

absl::Status SumExactly(EvalContext& context, const ScatterGeometry& g, const Literal& update,
                        Literal& result) {
  ASSAY_ASSIGN_OR_RETURN(Hits collected, CollectHits(context, g, update));
  const int64_t n = collected.count;
  if (n == 0) return absl::OkStatus();
  const Hit* const hits = SortHits(collected.data(), n, result.shape().num_elements());
  const WindowRuns runs = g.disjoint ? RunsOf(g) : WindowRuns{{{0, 0}}, 1, 0, 0};
  const auto summer = std::make_unique<ExactSummer>(update, result);
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && hits[end].to == hits[begin].to) ++end;
    for (const WindowRuns::Start& start : runs.starts) {
      summer->Sum({hits + begin, static_cast<size_t>(end - begin)}, runs, start);
    }
  }
  return absl::OkStatus();
}

}  // namespace

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

absl::StatusOr<Hits> CollectHits(EvalContext& context, const ScatterGeometry& g, const Literal& update) {
  Hits result;
  const int64_t elements = CheckedProduct(g.window).value_or(0);
  if (elements == 0) return result;
  const int64_t windows = update.shape().num_elements() / elements;
  const auto count = g.disjoint ? std::optional(windows) : CheckedMul(windows, elements);
  ASSAY_ASSIGN_OR_RETURN(result.scratch, Int64Scratch(context, count ? CheckedMul(*count, 4) : count));
  const WindowRuns runs = g.disjoint ? WindowRuns() : RunsOf(g);
  Hit* last = result.data();
  ASSAY_RETURN_IF_ERROR(ForEachWindow(
      context, g,
      [&](int64_t to, int64_t from) {
        if (g.disjoint) *last++ = {to, from};
        for (const WindowRuns::Start& start : runs.starts) {
          for (int64_t i = 0; i < runs.length; ++i) {
            *last++ = {to + start.to + i * runs.to_stride, from + start.from + i * runs.from_stride};
          }
        }
        return absl::OkStatus();
      },
      Ignore));
  result.count = last - result.data();
  return result;
}

// By the digits of 11 bits, lowest first.
Hit* SortHits(Hit* hits, int64_t n, int64_t positions) {
  constexpr int kBits = 11;
  constexpr int64_t kFew = 256;
  if (n < kFew) {
    std::sort(hits, hits + n, [](const Hit& a, const Hit& b) { return a.to < b.to; });
    return hits;
  }
  Hit* other = hits + n;
  for (int shift = 0; shift < 64 && (positions - 1) >> shift != 0; shift += kBits) {
    std::array<int64_t, 1 << kBits> start{};
    const auto digit = [shift](const Hit& hit) { return (hit.to >> shift) & ((1 << kBits) - 1); };
    for (int64_t i = 0; i < n; ++i) ++start[digit(hits[i])];
    int64_t sum = 0;
    for (int64_t& count : start) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i) other[start[digit(hits[i])]++] = hits[i];
    std::swap(hits, other);
  }
  return hits;
}

absl::Status ApplyScatter(EvalContext& context, const ScatterGeometry& geometry, ScalarFunction& combiner,
                          std::span<const Literal> updates, std::span<Literal> results) {
  const bool single = results.size() == 1;
  if (single && combiner.is_exact_sum()) return SumExactly(context, geometry, updates[0], results[0]);
  const bool by_window = geometry.disjoint || geometry.windows_last;
  if (single && combiner.passes_through() == 0) return absl::OkStatus();
  if (single && combiner.passes_through() == 1 && by_window) {
    return ReplaceWindows(context, geometry, updates[0], results[0]);
  }
  Combiner apply(combiner, updates, results);
  if (by_window) return ApplyWindows(context, geometry, apply);
  return ApplyInUpdateOrder(context, geometry, updates[0], apply);
}

}  // namespace assay
