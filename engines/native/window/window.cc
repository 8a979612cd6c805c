#include "engines/native/window/window.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/parallel.h"
#include "engines/native/reduce/reduce_add.h"
#include "engines/native/reduce/window_lines.h"
#include "engines/native/walk/loops.h"
#include "engines/native/window/code_window.h"
#include "engines/native/window/tap_window.h"
#include "engines/native/window/window_add.h"
#include "engines/native/window/window_sums.h"
#include "evaluator/eval_context.h"
#include "evaluator/patterns/associative.h"
#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

template <KeyOp kOp>
struct KeyFold {
  using Value = int64_t;
  const int64_t* keys;

  static Value Identity() { return IdentityOf(kOp); }
  Value Element(int64_t i) const { return keys[i]; }
  static Value Combine(Value a, Value b) { return Apply(kOp, a, b); }
};

// Lines of an associative reducer; each thread has its own.
class LineFolder {
 public:
  LineFolder(const WindowLines& lines, KeyOp op, ElementType type, const std::byte* input,
             const std::byte* init, std::byte* result)
      : lines_(lines),
        line_(lines.line()),
        op_(op),
        type_(type),
        bytes_(Bytes(type)),
        input_(input),
        init_(init),
        result_(result) {
    LoadKeys(op, type, init, bytes_, 1, &start_);
  }

  void Run(int64_t l) {
    const std::vector<int64_t> rows = lines_.Rows(l);
    keys_.assign(line_.elements, IdentityOf(op_));
    row_.resize(line_.elements);
    for (int64_t row : rows) {
      LoadKeys(op_, type_, input_ + row * bytes_, lines_.stride() * bytes_, line_.elements, row_.data());
      for (int64_t i = 0; i < line_.elements; ++i) keys_[i] = Apply(op_, keys_[i], row_[i]);
    }
    out_.resize(line_.outputs);
    Slide();
    std::byte* const dst = result_ + lines_.result_at(l) * bytes_;
    const int64_t stride = lines_.result_stride() * bytes_;
    StoreKeys(op_, type_, out_.data(), line_.outputs, dst, stride);
    for (int64_t o = 0; o < line_.outputs; ++o) {
      // No term: init itself, whatever its bits.
      if (rows.empty() || line_.begin(o) == line_.end(o)) std::copy_n(init_, bytes_, dst + o * stride);
    }
  }

 private:
  template <KeyOp kOp>
  void SlideOf() {
    SlidingFold(line_, KeyFold<kOp>{keys_.data()},
                [this](int64_t o, int64_t window) { out_[o] = Apply(kOp, start_, window); });
  }
  void Slide() {
    switch (op_) {
      case KeyOp::kAdd:
        return SlideOf<KeyOp::kAdd>();
      case KeyOp::kMultiply:
        return SlideOf<KeyOp::kMultiply>();
      case KeyOp::kAnd:
        return SlideOf<KeyOp::kAnd>();
      case KeyOp::kOr:
        return SlideOf<KeyOp::kOr>();
      case KeyOp::kXor:
        return SlideOf<KeyOp::kXor>();
      case KeyOp::kMaximum:
        return SlideOf<KeyOp::kMaximum>();
      case KeyOp::kMinimum:
        return SlideOf<KeyOp::kMinimum>();
    }
  }

  const WindowLines& lines_;
  const WindowLine line_;
  const KeyOp op_;
  const ElementType type_;
  const int64_t bytes_;
  const std::byte* const input_;
  const std::byte* const init_;
  std::byte* const result_;
  int64_t start_ = 0;
  std::vector<int64_t> keys_, row_, out_;
};

class WindowKernel final : public Kernel {
 public:
  explicit WindowKernel(Isa isa, bool is_sum) : isa_(isa), is_sum_(is_sum) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    if (!x.IsFullSize()) return Fallback("run-time sizes");
    const DimVector sizes = x.runtime_sizes();
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const auto lines = WindowLines::Of(context.attributes().WindowOf(), sizes, StridesOf(x),
                                       result.runtime_sizes(), StridesOf(result));
    ASSAY_CHECK(lines.has_value());  // WhyNoLines looked at the same sizes
    const ElementType type = x.shape().element_type();
    std::byte* const out = result.MutableBytes().data();
    if (is_sum_) {
      ASSAY_RETURN_IF_ERROR(RunWindowSums(context, isa_, *lines, type, x.data(), operands[1].data(), out));
    } else {
      ASSAY_RETURN_IF_ERROR(RunKeys(context, *lines, type, x.data(), operands[1].data(), out));
    }
    return result;
  }

 private:
  static absl::Status RunKeys(EvalContext& context, const WindowLines& lines, ElementType type,
                              const std::byte* input, const std::byte* init, std::byte* out) {
    const KeyOp op = KeyOpOf(context.module(), *context.attributes().Computation(Attr::kToApply), type);
    const int64_t work = lines.line().steps() + lines.line().elements;
    const int64_t most = (int64_t{1} << 24) / work + 1;
    for (int64_t done = 0; done < lines.lines(); done += most) {
      const int64_t part = std::min(most, lines.lines() - done);
      context.parallel().For(part, (1 << 14) / work + 1, [&](int64_t begin, int64_t end) {
        LineFolder folder(lines, op, type, input, init, out);
        for (int64_t l = done + begin; l < done + end; ++l) folder.Run(l);
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(part * work));
    }
    return absl::OkStatus();
  }

  const Isa isa_;
  const bool is_sum_;
};

// Windows of fewer elements are folded as they are.
constexpr int64_t kShortestWindow = 8;

// The sums of windows that share no element and cover no padding: those of a reduce,
// whose loops jump from window to window.
class DisjointSums final : public Kernel {
 public:
  DisjointSums(Isa isa, LoopDims remaining, LoopDims reduced)
      : isa_(isa), remaining_(std::move(remaining)), reduced_(std::move(reduced)) {}

  // Windows that are long in the minor dimension; others are summed side by side.
  static std::shared_ptr<const Kernel> Of(const StepView& step, Isa isa) {
    const Shape &x = step.operand_shape(0), &result = step.result_shape();
    if (!WhyNotStatic(x).empty() || !WhyNotStatic(result).empty()) return nullptr;
    if (result.num_elements() == 0 || x.rank() == 0) return nullptr;
    const auto window = step.instruction.attributes.WindowOf();
    if (window.back().size < kShortestWindow) return nullptr;
    const DimVector from = RowMajorStrides(x.sizes()), to = RowMajorStrides(result.sizes());
    LoopDims remaining, reduced;
    for (size_t d = 0; d < window.size(); ++d) {
      const WindowDimension& w = window[d];
      if (w.padding_low != 0 || w.padding_high != 0 || w.base_dilation != 1 || w.window_dilation != 1 ||
          w.stride < w.size) {
        return nullptr;
      }
      const int64_t results = result.size(static_cast<int64_t>(d));
      // The stride of a single window may be beyond all bounds.
      remaining.push_back({results, {results > 1 ? w.stride * from[d] : 0, to[d]}});
      reduced.push_back({w.size, {from[d]}});
    }
    return std::make_shared<DisjointSums>(isa, std::move(remaining), std::move(reduced));
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    ASSAY_RETURN_IF_ERROR(
        RunArraySums(context, SumKernelsOf(isa_),
                     {operands[0].shape().element_type(), operands[0].data(), operands[1].data(),
                      result.MutableBytes().data(), remaining_, reduced_}));
    return result;
  }

 private:
  const Isa isa_;
  const LoopDims remaining_, reduced_;  // as ArraySums has them
};

// Empty where WindowKernel can run.
std::string_view WhyNoLines(const StepView& step) {
  const Shape &x = step.operand_shape(0), &result = step.result_shape();
  if (result.HasDynamic()) return "a dynamic dimension";
  if (result.num_elements() == 0 || x.num_elements() == 0) return "no elements";
  const auto lines =
      WindowLines::Of(step.instruction.attributes.WindowOf(), DimVector(x.sizes().begin(), x.sizes().end()),
                      RowMajorStrides(x.sizes()), DimVector(result.sizes().begin(), result.sizes().end()),
                      RowMajorStrides(result.sizes()));
  return lines ? "" : "windows that slide along more than one dimension";
}

// False where the results are of the init values' types instead.
bool HasReducersTypes(const StepView& step) {
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  const Shape& gives = *step.module.computation(reducer).root_instruction().shape;
  const Shape& result = step.result_shape();
  if (result.IsArray()) return !gives.IsArray() || gives.element_type() == result.element_type();
  if (gives.elements().size() != result.elements().size()) return true;
  for (size_t i = 0; i < result.elements().size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    if (gives.element(k).element_type() != result.element(k).element_type()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceWindow(const StepView& step, Isa isa) {
  if (!HasReducersTypes(step)) return NotSupported({}, "the result type differs from that of the reducer");
  if (step.instruction.operands.size() != 2) return PrepareCodeWindow(step, isa);
  if (step.result_shape().IsTuple()) return NotSupported({}, "a tuple of one result");
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  const ElementType type = step.operand_shape(0).element_type();
  const bool one_type =
      step.operand_shape(1).element_type() == type && step.result_shape().element_type() == type;
  if (IsExactSum(step.module, reducer)) {
    if (!one_type) return NotSupported({}, "the element type differs from that of the sum");
    if (IsComplex(type)) return NotSupported({}, "complex window sums");
    if (auto disjoint = DisjointSums::Of(step, isa)) return disjoint;
    absl::StatusOr<std::shared_ptr<const Kernel>> few = PrepareTapWindow(step, isa);
    if (few.ok()) return few;
    absl::StatusOr<std::shared_ptr<const Kernel>> small = PrepareWindowSums(step, isa);
    if (small.ok()) return small;
    if (const std::string_view why = WhyNoLines(step); !why.empty()) return NotSupported({}, why);
    return std::make_shared<WindowKernel>(isa, /*is_sum=*/true);
  }
  if (one_type) {
    absl::StatusOr<std::shared_ptr<const Kernel>> few = PrepareTapWindow(step, isa);
    if (few.ok()) return few;
  }
  int64_t longest = 1;
  for (const WindowDimension& d : step.instruction.attributes.WindowOf()) longest = std::max(longest, d.size);
  if (!one_type || longest < kShortestWindow || !IsAssociative(step.module, reducer))
    return PrepareCodeWindow(step, isa);
  if (!WhyNoLines(step).empty()) return PrepareCodeWindow(step, isa);
  return std::make_shared<WindowKernel>(isa, /*is_sum=*/false);
}

}  // namespace assay::native
