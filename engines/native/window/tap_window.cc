// Results that lie side by side fold elements that do. Either they are features, the dimensions behind the
// last window (NHWC), or the outputs along the minor dimension (NCHW) that meet the same window offsets.
// There a stride parts the elements, so that rows are first taken apart by phases: element i stride + p of a
// row becomes element i of its phase p.
#include "engines/native/window/tap_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/sums/product_bounds.h"
#include "engines/native/sums/strided_sum.h"
#include "engines/native/sums/tiers.h"
#include "engines/native/walk/window_taps.h"
#include "engines/native/window/tap_kernels.h"
#include "engines/native/window/window_grid.h"
#include "evaluator/eval_context.h"
#include "evaluator/patterns/associative.h"
#include "evaluator/scalar_function.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::native {
namespace {

constexpr int64_t kMostTaps = 64;           // of a window; more are quicker by windows that slide
constexpr int64_t kMostUnzipped = 1 << 16;  // elements of the rows of a window
constexpr int64_t kLongestLine = 1 << 14;   // outputs of a row by phases
constexpr int64_t kTapsOfPart = 1 << 15;    // worth a task
constexpr int64_t kTapsOfRound = 1 << 28;   // between two charges

enum class TapOp : uint8_t { kAdd, kMultiply, kMaximum, kMinimum };

// Of f32: what the kernels fold; nothing for other reducers.
std::optional<TapOp> TapOpOf(const Module& module, ComputationId id) {
  if (IsExactSum(module, id)) return TapOp::kAdd;
  const Computation& computation = module.computation(id);
  const Instruction& root = computation.root_instruction();
  if (IsAssociative(module, id)) {
    if (root.opcode == Opcode::kMaximum) return TapOp::kMaximum;
    if (root.opcode == Opcode::kMinimum) return TapOp::kMinimum;
  }
  // A product rounds each time, in the order of the window; that of two numbers has no order.
  if (root.opcode != Opcode::kMultiply || computation.parameters.size() != 2) return std::nullopt;
  const int32_t a = computation.parameters[0], b = computation.parameters[1];
  const bool of_parameters =
      (root.operands[0] == a && root.operands[1] == b) || (root.operands[0] == b && root.operands[1] == a);
  if (of_parameters) return TapOp::kMultiply;
  return std::nullopt;
}

// Outputs [first, end) of a row, which meet the same window offsets along it.
struct Segment {
  int64_t first, end;
  std::vector<int64_t> at;  // their elements of output `first`: in the row, or where Unzip puts them
};

// What a run's threads share.
struct TapPlan {
  TapOp op;
  const TapKernels& kernels;
  WindowTaps taps;
  int64_t features = 1;
  // Of outputs along the minor dimension (features = 1); else empty.
  std::vector<Segment> segments;
  int64_t stride = 1, row_elements = 0;  // of these outputs, and of the elements along that dimension
  int64_t pitch = 0;                     // of a phase
};

// One thread's.
class TapFolder {
 public:
  TapFolder(const TapPlan& plan, const float* input, float init, float* result)
      : plan_(plan), input_(input), init_(init), result_(result), sum_(ElementType::kF32) {
    taps_.resize(static_cast<size_t>(plan.taps.most()));
    const int64_t width = std::max(plan.features, plan.segments.empty() ? 0 : plan.taps.length());
    open_.resize(static_cast<size_t>(width + plan.kernels.lanes));
  }
  ~TapFolder() { CountTiers(counts_); }
  TapFolder(const TapFolder&) = delete;
  TapFolder& operator=(const TapFolder&) = delete;

  // Outputs [begin, end) of the whole array, each of `features` results.
  void Outputs(int64_t begin, int64_t end) {
    const int64_t length = plan_.taps.length();
    for (int64_t at = begin; at < end; ++at) {
      if (at == begin || at % length == 0) plan_.taps.OfRow(at / length, of_row_);
      const int64_t n = plan_.taps.OfOutput(of_row_, at % length, taps_.data());
      Fold(plan_.features, n, input_, result_ + at * plan_.features);
    }
  }

  // The outputs of a row along the minor dimension.
  void Row(int64_t row) {
    plan_.taps.OfRow(row, of_row_);
    const float* from = input_;
    if (plan_.stride > 1) {
      from = Unzip();
      for (size_t o = 0; o < of_row_.size(); ++o)
        of_row_[o].base = static_cast<int64_t>(o) * plan_.stride * plan_.pitch;
    }
    float* const out = result_ + row * plan_.taps.length();
    for (const Segment& segment : plan_.segments) {
      int64_t n = 0;
      for (const Tap& outer : of_row_) {
        for (int64_t at : segment.at) taps_[static_cast<size_t>(n++)].base = outer.base + at;
      }
      Fold(segment.end - segment.first, n, from, out + segment.first);
    }
  }

 private:
  // The elements of the window's rows by phases.
  const float* Unzip() {
    unzipped_.resize(of_row_.size() * static_cast<size_t>(plan_.stride * plan_.pitch));
    float* to = unzipped_.data();
    for (const Tap& row : of_row_) {
      plan_.kernels.unzip(plan_.row_elements, input_ + row.base, plan_.stride, plan_.pitch, to);
      to += plan_.stride * plan_.pitch;
    }
    return unzipped_.data();
  }

  void Fold(int64_t width, int64_t n, const float* from, float* out) {
    if (n == 0 && plan_.op != TapOp::kAdd) return static_cast<void>(std::fill_n(out, width, init_));
    switch (plan_.op) {
      case TapOp::kAdd:
        return Sum(width, n, from, out);
      case TapOp::kMultiply:
        return plan_.kernels.multiply(width, taps_.data(), n, from, init_, out);
      case TapOp::kMaximum:
        return plan_.kernels.maximum(width, taps_.data(), n, from, init_, out);
      case TapOp::kMinimum:
        return plan_.kernels.minimum(width, taps_.data(), n, from, init_, out);
    }
  }

  void Sum(int64_t width, int64_t n, const float* from, float* out) {
    const int64_t opens =
        plan_.kernels.sum(width, taps_.data(), n, from, init_, DoublesFactor(n), out, open_.data());
    counts_.sums += width;
    for (int64_t i = 0; i < opens; ++i) {
      const int64_t j = open_[static_cast<size_t>(i)];
      sum_.Clear();
      sum_.Add(reinterpret_cast<const std::byte*>(&init_), 0, 1);
      for (int64_t k = 0; k < n; ++k)
        sum_.Add(reinterpret_cast<const std::byte*>(from + taps_[static_cast<size_t>(k)].base + j), 0, 1);
      sum_.Store(reinterpret_cast<std::byte*>(out + j));
      ++counts_.slices;
    }
  }

  const TapPlan& plan_;
  const float* const input_;
  const float init_;
  float* const result_;
  std::vector<Tap> of_row_, taps_;
  std::vector<int64_t> open_;
  std::vector<float> unzipped_;
  StridedSum sum_;
  TierCounts counts_;
};

class TapWindow final : public Kernel {
 public:
  explicit TapWindow(TapPlan plan) : plan_(std::move(plan)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const auto* const input = reinterpret_cast<const float*>(operands[0].data());
    const float init = *reinterpret_cast<const float*>(operands[1].data());
    auto* const out = reinterpret_cast<float*>(result.MutableBytes().data());
    const bool by_rows = !plan_.segments.empty();
    const int64_t rows = plan_.taps.rows(), length = plan_.taps.length();
    const int64_t items = by_rows ? rows : rows * length;
    const int64_t folds = plan_.taps.most() * (by_rows ? length : plan_.features);
    const int64_t most = kTapsOfRound / folds + 1, grain = kTapsOfPart / folds + 1;
    for (int64_t done = 0; done < items; done += most) {
      const int64_t some = std::min(most, items - done);
      context.parallel().For(some, grain, [&](int64_t begin, int64_t end) {
        TapFolder folder(plan_, input, init, out);
        if (!by_rows) return folder.Outputs(done + begin, done + end);
        for (int64_t row = done + begin; row < done + end; ++row) folder.Row(row);
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(some * folds));
    }
    return result;
  }
  std::string_view algorithm() const override { return plan_.segments.empty() ? "features" : "lines"; }

 private:
  const TapPlan plan_;
};

void CutSegments(const WindowAxis& axis, TapPlan& plan) {
  Progression before;
  for (int64_t l = 0; l < axis.outputs(); ++l) {
    const Progression p = axis.AtOutput(l);
    if (!plan.segments.empty() && p.first == before.first && p.count == before.count) {
      plan.segments.back().end = l + 1;
      continue;
    }
    Segment& segment = plan.segments.emplace_back(Segment{l, l + 1, {}});
    for (int64_t i = 0; i < p.count; ++i) {
      const int64_t at = p.base + i * axis.base_step();
      segment.at.push_back(at % plan.stride * plan.pitch + at / plan.stride);
    }
    before = p;
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareTapWindow(const StepView& step, Isa isa) {
  const Shape &x = step.operand_shape(0), &result = step.result_shape();
  if (x.element_type() != ElementType::kF32) return NotSupported({}, "other types than f32");
  for (const Shape* shape : {&x, &result}) {
    if (const std::string_view why = WhyNotStatic(*shape); !why.empty()) return NotSupported({}, why);
    if (shape->num_elements() == 0 || shape->rank() == 0)
      return NotSupported({}, "no dimension, or no element");
  }
  const std::optional<TapOp> op =
      TapOpOf(step.module, *step.instruction.attributes.Computation(Attr::kToApply));
  if (!op) return NotSupported({}, "other reducers than add, multiply, maximum and minimum");
  const Window& window = step.instruction.attributes.WindowOf();
  int64_t taps = 1;
  for (const WindowDimension& d : window) {
    if (d.size > kMostTaps / taps) return NotSupported({}, "large windows");
    taps *= d.size;
  }
  int64_t last = x.rank() - 1, features = 1;
  for (; last > 0 && IsIdentityWindow(window[static_cast<size_t>(last)], x.size(last), result.size(last));
       --last)
    features *= x.size(last);
  const DimVector strides = RowMajorStrides(x.sizes());
  std::vector<WindowTaps::Dimension> dimensions;
  for (int64_t d = 0; d <= last; ++d)
    dimensions.push_back(
        {WindowAxis(x.size(d), window[static_cast<size_t>(d)], result.size(d)), strides[d], 0});
  const WindowAxis axis = dimensions.back().axis;
  const WindowDimension& along = window[static_cast<size_t>(last)];
  TapPlan plan{.op = *op, .kernels = TapKernelsOf(isa), .taps = WindowTaps(std::move(dimensions))};
  plan.features = features;
  if (features > 1) {
    if (features < plan.kernels.lanes) return NotSupported({}, "features that fill no vector");
    return std::make_shared<TapWindow>(std::move(plan));
  }
  plan.stride = result.size(last) > 1 ? along.stride : 1;
  plan.row_elements = x.size(last);
  const int64_t phase = CeilDiv(x.size(last), plan.stride), lanes = plan.kernels.lanes;
  plan.pitch = plan.stride > 1 ? CeilDiv(phase, lanes) * lanes : 0;
  const int64_t rows = taps / along.size;
  if (along.base_dilation != 1) return NotSupported({}, "a dilated minor dimension");
  if (plan.taps.length() > kLongestLine || x.size(last) > kMostUnzipped / rows || plan.stride > x.size(last))
    return NotSupported({}, "long rows or strides");
  CutSegments(axis, plan);
  return std::make_shared<TapWindow>(std::move(plan));
}

}  // namespace assay::native
