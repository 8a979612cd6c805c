// A row of source elements at a time chooses, all of them by one window offset after the other, where select compares
// its parameters; other selects are the reference's. The sums are hit_sums.h's.
#include "evaluator/native/select_and_scatter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "evaluator/native/hit_sums.h"
#include "evaluator/ops/loops.h"
#include "evaluator/ops/select_and_scatter.h"
#include "evaluator/ops/window_axis.h"
#include "evaluator/parallel.h"
#include "evaluator/scalar_function.h"

namespace assay::native {
namespace {

constexpr int64_t kCandidatesOfPart = 1 << 14;  // worth a task
constexpr int64_t kCandidatesBetweenCharges = 1 << 26;

// keep = compare(held, offered).
enum class Keep : uint8_t { kGe, kGt, kLe, kLt };

// The comparison that select is, if it is one of its two parameters as IEEE compares.
std::optional<Keep> KeepOf(const Module& module, ComputationId select) {
  const Computation& computation = module.computation(select);
  const Instruction& root = computation.root_instruction();
  if (root.opcode != Opcode::kCompare || computation.parameters.size() != 2) return std::nullopt;
  if (root.attributes.Has(Attr::kType) && root.attributes.Text(Attr::kType) != "FLOAT") return std::nullopt;
  const int32_t a = computation.parameters[0], b = computation.parameters[1];
  const bool straight = root.operands[0] == a && root.operands[1] == b;
  if (!straight && !(root.operands[0] == b && root.operands[1] == a)) return std::nullopt;
  const std::string_view direction = root.attributes.Text(Attr::kDirection);
  if (direction == "GE") return straight ? Keep::kGe : Keep::kLe;
  if (direction == "GT") return straight ? Keep::kGt : Keep::kLt;
  if (direction == "LE") return straight ? Keep::kLe : Keep::kGe;
  if (direction == "LT") return straight ? Keep::kLt : Keep::kGt;
  return std::nullopt;
}

struct Bf16 {
  uint16_t bits;
};
inline float Value(Bf16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
inline float Value(float x) { return x; }
inline double Value(double x) { return x; }

// Chooses for every element of the source; rank >= 1.
class Chooser {
 public:
  Chooser(const Literal& operand, const Literal& source, const Window& window)
      : x_(operand.data()), strides_(StridesOf(operand)), source_strides_(StridesOf(source)) {
    for (size_t d = 0; d < window.size(); ++d) {
      axes_.emplace_back(operand.dynamic_size(d), window[d], source.dynamic_size(d));
      if (d + 1 < window.size()) rows_ *= source.dynamic_size(d);
      candidates_ *= window[d].size;
    }
    width_ = source.dynamic_size(static_cast<int64_t>(window.size()) - 1);
    stride_ = window.back().stride;
  }

  absl::Status Run(EvalContext& context, ElementType type, Keep keep, int64_t* chosen) const {
    switch (type) {
      case ElementType::kF32:
        return RunAs<float>(context, keep, chosen);
      case ElementType::kF64:
        return RunAs<double>(context, keep, chosen);
      default:
        return RunAs<Bf16>(context, keep, chosen);
    }
  }

 private:
  template <class T>
  absl::Status RunAs(EvalContext& context, Keep keep, int64_t* chosen) const {
    switch (keep) {
      case Keep::kGe:
        return Rows<T, std::greater_equal<>>(context, chosen);
      case Keep::kGt:
        return Rows<T, std::greater<>>(context, chosen);
      case Keep::kLe:
        return Rows<T, std::less_equal<>>(context, chosen);
      default:
        return Rows<T, std::less<>>(context, chosen);
    }
  }

  template <class T, class Compare>
  absl::Status Rows(EvalContext& context, int64_t* chosen) const {
    if (width_ == 0) return absl::OkStatus();
    const double row_work = static_cast<double>(width_) * static_cast<double>(candidates_);
    const auto rows_of = [&](int64_t work) {
      return static_cast<int64_t>(std::max(1.0, static_cast<double>(work) / row_work));
    };
    for (int64_t done = 0; done < rows_;) {
      const int64_t part = std::min(rows_ - done, rows_of(kCandidatesBetweenCharges));
      context.parallel().For(part, rows_of(kCandidatesOfPart), [&](int64_t begin, int64_t end) {
        std::vector<decltype(Value(T()))> held(width_);
        for (int64_t row = done + begin; row < done + end; ++row) Row<T, Compare>(row, held.data(), chosen);
      });
      done += part;
      ASSAY_RETURN_IF_ERROR(context.Charge(part * width_));
    }
    return absl::OkStatus();
  }

  template <class T, class Compare>
  void Row(int64_t row, decltype(Value(T()))* held, int64_t* chosen) const {
    const int64_t last = static_cast<int64_t>(axes_.size()) - 1;
    LoopDims box;
    int64_t base = 0;
    for (int64_t d = last - 1; d >= 0; --d) {
      const int64_t index = row % axes_[d].outputs();
      row /= axes_[d].outputs();
      const Progression p = axes_[d].AtOutput(index);
      base += p.base * strides_[d];
      chosen += index * source_strides_[d];
      box.insert(box.begin(), {p.count, {strides_[d]}});
    }
    for (Loop w(box); !w.done(); w.Next()) {
      for (int64_t k = 0; k < axes_[last].window_size(); ++k) {
        const Progression lanes = axes_[last].AtOffset(k);
        Offer<T, Compare>(lanes.count, base + w.offset(0) + lanes.base, held + lanes.first,
                          chosen + lanes.first);
      }
    }
  }

  // The elements from `at` on, stride_ apart, each to one source element.
  template <class T, class Compare>
  void Offer(int64_t n, int64_t at, decltype(Value(T()))* held, int64_t* chosen) const {
    constexpr Compare kKeep;
    for (int64_t i = 0; i < n; ++i, at += stride_) {
      T element;
      std::memcpy(&element, x_ + at * static_cast<int64_t>(sizeof(T)), sizeof(T));
      const auto offered = Value(element);
      const bool take = (chosen[i] < 0) | !kKeep(held[i], offered);
      held[i] = take ? offered : held[i];
      chosen[i] = take ? at : chosen[i];
    }
  }

  const std::byte* const x_;
  const DimVector strides_, source_strides_;
  std::vector<WindowAxis> axes_;
  int64_t rows_ = 1, width_ = 0, stride_ = 1, candidates_ = 1;
};

class SelectAndScatterSum final : public Kernel {
 public:
  SelectAndScatterSum(const SumKernels& kernels, std::optional<Keep> keep) : kernels_(kernels), keep_(keep) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Window& window = context.attributes().WindowOf();
    const auto choose = [&](const Literal& operand, const Literal& source, std::span<int64_t> chosen) {
      // A window is not much wider than the rows that it slides over, lest it be walked in vain.
      const int64_t last = operand.shape().rank() - 1;
      if (!keep_ || last < 0 || window[last].size > 4 * operand.dynamic_size(last) + 64)
        return ChooseBySelect(context, operand, source, chosen);
      return Chooser(operand, source, window)
          .Run(context, operand.shape().element_type(), *keep_, chosen.data());
    };
    const auto combine = [&](std::span<const int64_t> chosen, const Literal& source, const Literal&,
                             Literal& result) -> absl::Status {
      const std::optional<int64_t> room = static_cast<int64_t>(4 * chosen.size());
      ASSAY_ASSIGN_OR_RETURN(Literal scratch, Int64Scratch(context, room));
      if (chosen.empty()) return absl::OkStatus();
      Hit* const hits = reinterpret_cast<Hit*>(scratch.MutableBytes().data());
      int64_t count = 0;
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i] >= 0) hits[count++] = {chosen[i], static_cast<int64_t>(i)};
      }
      ASSAY_RETURN_IF_ERROR(context.Charge(count));
      const bool distinct =
          std::all_of(window.begin(), window.end(), [](const auto& d) { return d.stride >= d.size; });
      return AddHits(context, kernels_,
                     {result.shape().element_type(), result.MutableBytes().data(),
                      result.shape().num_elements(), source.data(), WindowRuns{{{0, 0}}, 1, 0, 0}, distinct},
                     hits, count);
    };
    return EvalSelectAndScatterWith(context, operands, {choose, combine});
  }

 private:
  const SumKernels& kernels_;
  const std::optional<Keep> keep_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSelectAndScatter(const StepView& step, Isa isa) {
  if (!IsExactSum(step.module, *step.instruction.attributes.Computation(Attr::kScatter)))
    return NotSupported({}, "a scatter that is no exact sum");
  std::optional<Keep> keep;
  const ElementType type = step.operand_shape(0).element_type();
  if (type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kBF16)
    keep = KeepOf(step.module, *step.instruction.attributes.Computation(Attr::kSelect));
  return std::make_shared<SelectAndScatterSum>(SumKernelsOf(isa), keep);
}

}  // namespace assay::native
