// A row of source elements at a time chooses, all of them by one window offset after the other: by
// comparisons where select compares its parameters, else by generated code. Sums are scatter_sums.h's; other
// scatters are code that runs in order.
#include "engines/native/scatter_gather/select_and_scatter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "engines/codegen/scalar_code.h"
#include "engines/native/scatter_gather/scatter_sums.h"
#include "engines/native/scatter_gather/selection.h"
#include "engines/native/walk/loops.h"
#include "engines/native/walk/window_axis.h"
#include "evaluator/ops/reduction/select_and_scatter.h"
#include "evaluator/scalar_function.h"

namespace assay::native {
namespace {

using codegen::ScalarCode;

constexpr int64_t kCandidatesOfPart = 1 << 14;  // worth a task
constexpr int64_t kCandidatesBetweenCharges = 1 << 26;
constexpr int64_t kSelectionsOfPart = 1 << 12;
constexpr int64_t kUpdatesBetweenCharges = 1 << 22;
constexpr int64_t kWorthCode = 1 << 10;  // candidates that take the reference as long as making code

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

  int64_t width() const { return width_; }
  const std::byte* x() const { return x_; }

  // `make` gives a thread its offer(n, at, first, chosen): the elements at, at + stride(), ... are offered to
  // the row's source elements first, first + 1, ..., whose places are chosen[0], chosen[1], ...
  template <class MakeOffer>
  absl::Status Run(EvalContext& context, int64_t* chosen, const MakeOffer& make) const {
    if (width_ == 0) return absl::OkStatus();
    const double row_work = static_cast<double>(width_) * static_cast<double>(candidates_);
    const auto rows_of = [&](int64_t work) {
      return static_cast<int64_t>(std::max(1.0, static_cast<double>(work) / row_work));
    };
    for (int64_t done = 0; done < rows_;) {
      const int64_t part = std::min(rows_ - done, rows_of(kCandidatesBetweenCharges));
      context.parallel().For(part, rows_of(kCandidatesOfPart), [&](int64_t begin, int64_t end) {
        auto offer = make();
        for (int64_t row = done + begin; row < done + end; ++row) Row(row, chosen, offer);
      });
      done += part;
      ASSAY_RETURN_IF_ERROR(context.Charge(part * width_));
    }
    return absl::OkStatus();
  }

  int64_t stride() const { return stride_; }

 private:
  template <class Offer>
  void Row(int64_t row, int64_t* chosen, Offer& offer) const {
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
    for (LoopNest w(box); !w.done(); w.Next()) {
      for (int64_t k = 0; k < axes_[last].window_size(); ++k) {
        const Progression lanes = axes_[last].AtOffset(k);
        if (lanes.count == 0) continue;
        offer(lanes.count, base + w.offset(0) + lanes.base, lanes.first, chosen + lanes.first);
      }
    }
  }

  const std::byte* const x_;
  const DimVector strides_, source_strides_;
  std::vector<WindowAxis> axes_;
  int64_t rows_ = 1, width_ = 0, stride_ = 1, candidates_ = 1;
};

// A thread's offers where select compares.
template <class T, class Compare>
class ComparingOffer {
 public:
  explicit ComparingOffer(const Chooser& chooser)
      : x_(chooser.x()), stride_(chooser.stride()), held_(static_cast<size_t>(chooser.width())) {}

  void operator()(int64_t n, int64_t at, int64_t first, int64_t* chosen) {
    constexpr Compare kKeep;
    auto* const held = held_.data() + first;
    for (int64_t i = 0; i < n; ++i, at += stride_) {
      T element;
      std::memcpy(&element, x_ + at * static_cast<int64_t>(sizeof(T)), sizeof(T));
      const auto offered = Value(element);
      const bool take = (chosen[i] < 0) | !kKeep(held[i], offered);
      held[i] = take ? offered : held[i];
      chosen[i] = take ? at : chosen[i];
    }
  }

 private:
  const std::byte* const x_;
  const int64_t stride_;
  std::vector<decltype(Value(T()))> held_;  // by source element of the row
};

template <class T>
absl::Status ChooseComparing(EvalContext& context, const Chooser& chooser, Keep keep, int64_t* chosen) {
  const auto run = [&](auto compare) {
    return chooser.Run(context, chosen, [&] { return ComparingOffer<T, decltype(compare)>(chooser); });
  };
  switch (keep) {
    case Keep::kGe:
      return run(std::greater_equal<>());
    case Keep::kGt:
      return run(std::greater<>());
    case Keep::kLe:
      return run(std::less_equal<>());
    default:
      return run(std::less<>());
  }
}

absl::Status ChooseComparing(EvalContext& context, const Chooser& chooser, ElementType type, Keep keep,
                             int64_t* chosen) {
  switch (type) {
    case ElementType::kF32:
      return ChooseComparing<float>(context, chooser, keep, chosen);
    case ElementType::kF64:
      return ChooseComparing<double>(context, chooser, keep, chosen);
    default:
      return ChooseComparing<Bf16>(context, chooser, keep, chosen);
  }
}

// A thread's offers by code, which computes select for whole vectors: what it makes of an element that
// nothing is held for yet, and of the room behind the row, is not looked at.
// T is an integer as wide as an element.
template <class T>
class CodeOffer {
 public:
  CodeOffer(const Chooser& chooser, const ScalarCode& code)
      : x_(chooser.x()), stride_(chooser.stride()), lanes_(code.lanes()), frame_(code, /*vectors=*/true) {
    const auto room = static_cast<size_t>(chooser.width() + lanes_);
    held_.resize(room), offered_.resize(room), keep_.resize(room);
    for (size_t k = 0; k < 2; ++k) frame_.SetInputStride(k, lanes_ * static_cast<int64_t>(sizeof(T)));
    frame_.SetOutputStride(0, lanes_);
  }

  void operator()(int64_t n, int64_t at, int64_t first, int64_t* chosen) {
    T* const held = held_.data() + first;
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(&offered_[static_cast<size_t>(i)],
                  x_ + (at + i * stride_) * static_cast<int64_t>(sizeof(T)), sizeof(T));
    frame_.SetInput(0, reinterpret_cast<const std::byte*>(held));
    frame_.SetInput(1, reinterpret_cast<const std::byte*>(offered_.data()));
    frame_.SetOutput(0, reinterpret_cast<std::byte*>(keep_.data()));
    frame_.Run((n + lanes_ - 1) / lanes_);
    for (int64_t i = 0; i < n; ++i) {
      const bool take = (chosen[i] < 0) | (keep_[static_cast<size_t>(i)] == 0);
      held[i] = take ? offered_[static_cast<size_t>(i)] : held[i];
      chosen[i] = take ? at + i * stride_ : chosen[i];
    }
  }

 private:
  const std::byte* const x_;
  const int64_t stride_, lanes_;
  ScalarCode::Frame frame_;
  std::vector<T> held_, offered_;  // by source element of the row
  std::vector<uint8_t> keep_;
};

absl::Status ChooseByCode(EvalContext& context, const Chooser& chooser, int64_t bytes, const ScalarCode& code,
                          int64_t* chosen) {
  const auto run = [&](auto element) {
    return chooser.Run(context, chosen, [&] { return CodeOffer<decltype(element)>(chooser, code); });
  };
  switch (bytes) {
    case 1:
      return run(uint8_t());
    case 2:
      return run(uint16_t());
    case 4:
      return run(uint32_t());
    default:
      return run(uint64_t());
  }
}

// The sources of result part p of `parts`, and the results that they choose, are their p-th parts.
int64_t IndependentParts(const Window& window, const Literal& operand) {
  int64_t parts = 1;
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d].size != 1 || window[d].stride != 1 || window[d].padding_low != 0 ||
        window[d].padding_high != 0)
      break;
    parts *= operand.shape().size(static_cast<int64_t>(d));
  }
  return parts;
}

absl::Status CombineByCode(EvalContext& context, const ScalarCode& code, int64_t parts,
                           std::span<const int64_t> chosen, const Literal& source, Literal& result) {
  const int64_t bytes = Bytes(result.shape().element_type()),
                source_bytes = Bytes(source.shape().element_type());
  std::byte* const out = result.MutableBytes().data();
  const int64_t each = static_cast<int64_t>(chosen.size()) / std::max<int64_t>(parts, 1);
  const auto combine = [&](ScalarCode::Frame& frame, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (chosen[static_cast<size_t>(i)] < 0) continue;
      std::byte* const to = out + chosen[static_cast<size_t>(i)] * bytes;
      frame.SetInput(0, to);
      frame.SetOutput(0, to);
      frame.SetInput(1, source.data() + i * source_bytes);
      frame.Run(1);
    }
  };
  const auto num_chosen = [&](int64_t begin, int64_t end) {
    return std::count_if(chosen.begin() + begin, chosen.begin() + end, [](int64_t at) { return at >= 0; });
  };
  const int64_t most = kUpdatesBetweenCharges / std::max<int64_t>(each, 1);
  for (int64_t done = 0; most > 0 && done < parts; done += most) {
    const int64_t some = std::min(most, parts - done);
    context.parallel().For(some, kSelectionsOfPart / std::max<int64_t>(each, 1) + 1,
                           [&](int64_t begin, int64_t end) {
                             ScalarCode::Frame frame(code, /*vectors=*/false);
                             combine(frame, (done + begin) * each, (done + end) * each);
                           });
    ASSAY_RETURN_IF_ERROR(context.Charge(num_chosen(done * each, (done + some) * each)));
  }
  // Parts that are too large go in order, piece by piece.
  ScalarCode::Frame frame(code, /*vectors=*/false);
  const auto n = static_cast<int64_t>(chosen.size());
  for (int64_t done = 0; most == 0 && done < n; done += kUpdatesBetweenCharges) {
    const int64_t end = std::min(n, done + kUpdatesBetweenCharges);
    combine(frame, done, end);
    ASSAY_RETURN_IF_ERROR(context.Charge(num_chosen(done, end)));
  }
  return absl::OkStatus();
}

// What select and scatter are; of each that one way at most is there, else the scalar function.
struct Computations {
  std::optional<Keep> keep;
  std::shared_ptr<const ScalarCode> select, scatter;
};

class SelectAndScatterKernel final : public Kernel {
 public:
  SelectAndScatterKernel(const SumKernels& kernels, Computations computations)
      : kernels_(kernels), computations_(std::move(computations)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Window& window = context.attributes().WindowOf();
    const int64_t parts = IndependentParts(window, operands[0]);
    const auto choose = [&](const Literal& operand, const Literal& source, std::span<int64_t> chosen) {
      return Choose(context, window, operand, source, chosen);
    };
    const auto combine = [&](std::span<const int64_t> chosen, const Literal& source, const Literal&,
                             Literal& result) {
      return computations_.scatter == nullptr
                 ? Sum(context, window, chosen, source, result)
                 : CombineByCode(context, *computations_.scatter, parts, chosen, source, result);
    };
    return RunSelectAndScatter(context, operands, {choose, combine});
  }

 private:
  absl::Status Choose(EvalContext& context, const Window& window, const Literal& operand,
                      const Literal& source, std::span<int64_t> chosen) const {
    // A window is not much wider than the rows that it slides over, lest it be walked in vain.
    const int64_t last = operand.shape().rank() - 1;
    const bool known = computations_.keep || computations_.select != nullptr;
    if (!known || last < 0 || window[static_cast<size_t>(last)].size > 4 * operand.dynamic_size(last) + 64)
      return ChooseBySelect(context, operand, source, chosen);
    const Chooser chooser(operand, source, window);
    const ElementType type = operand.shape().element_type();
    if (computations_.keep)
      return ChooseComparing(context, chooser, type, *computations_.keep, chosen.data());
    return ChooseByCode(context, chooser, Bytes(type), *computations_.select, chosen.data());
  }

  absl::Status Sum(EvalContext& context, const Window& window, std::span<const int64_t> chosen,
                   const Literal& source, Literal& result) const {
    const std::optional<int64_t> room = static_cast<int64_t>(4 * chosen.size());
    ASSAY_ASSIGN_OR_RETURN(Literal scratch, Int64Scratch(context, room));
    if (chosen.empty()) return absl::OkStatus();
    ScatteredUpdate* const updates = reinterpret_cast<ScatteredUpdate*>(scratch.MutableBytes().data());
    int64_t count = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] >= 0) updates[count++] = {chosen[i], static_cast<int64_t>(i)};
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(count));
    const bool distinct =
        std::all_of(window.begin(), window.end(), [](const auto& d) { return d.stride >= d.size; });
    return AddUpdates(context, kernels_,
                      {result.shape().element_type(), result.MutableBytes().data(),
                       result.shape().num_elements(), source.data(), WindowRuns{{{0, 0}}, 1, 0, 0}, distinct},
                      updates, count);
  }

  const SumKernels& kernels_;
  const Computations computations_;
};

int64_t Candidates(const StepView& step) {
  int64_t candidates = std::min(step.operand_shape(1).num_elements(), kWorthCode);
  for (const WindowDimension& d : step.instruction.attributes.WindowOf())
    candidates = std::min(candidates * std::min(d.size, kWorthCode), kWorthCode);
  return candidates;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSelectAndScatter(const StepView& step, Isa isa) {
  const AttributeMap& attributes = step.instruction.attributes;
  const ComputationId select = *attributes.Computation(Attr::kSelect),
                      scatter = *attributes.Computation(Attr::kScatter);
  const bool worth_code = Candidates(step) >= kWorthCode;
  Computations computations;
  if (!IsExactSum(step.module, scatter)) {
    if (!worth_code) return NotSupported({}, "too few elements to generate code of the scatter");
    ASSAY_ASSIGN_OR_RETURN(computations.scatter,
                           ScalarCode::Make(step.module, scatter, isa, /*vectors=*/false));
  }
  const ElementType type = step.operand_shape(0).element_type();
  if (type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kBF16)
    computations.keep = KeepOf(step.module, select);
  if (!computations.keep && worth_code && Bytes(type) <= 8) {
    absl::StatusOr<std::shared_ptr<const ScalarCode>> code =
        ScalarCode::Make(step.module, select, isa, /*vectors=*/true);
    if (code.ok()) computations.select = *std::move(code);
  }
  return std::make_shared<SelectAndScatterKernel>(SumKernelsOf(isa), std::move(computations));
}

}  // namespace assay::native
