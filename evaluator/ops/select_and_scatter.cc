// select-and-scatter (spec/operations-linalg.md, SelectAndScatter): the gradient of a pooling window.
#include "evaluator/ops/select_and_scatter.h"

#include <algorithm>
#include <vector>

#include "evaluator/move.h"
#include "evaluator/ops/element_sum.h"
#include "evaluator/ops/loops.h"
#include "evaluator/ops/reducer.h"
#include "evaluator/ops/window_axis.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// out = all init; for each index O of source, in row-major order:
//   chosen = the first p = O * stride + W - low inside the operand, W in row-major order, then every later p
//            for which select(operand[chosen], operand[p]) is false
//   out[chosen] = f(out[chosen], source[O]), if there is a chosen one
// A recognised add (RED-1) means the exact sum of init and all source elements that hit out[p].

absl::Status Invalid(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("SelectAndScatter-C{}: {}", c, message));
}

// C2: (T, T) -> pred.
absl::Status CheckSelect(const InferContext& context, ElementType type) {
  const ProgramShape select = context.Called(*context.attributes().Computation(Attr::kSelect));
  if (select.parameters.size() != 2) {
    return Invalid(context, 2, fmt::format("select has {} parameters, wanted 2", select.parameters.size()));
  }
  for (const Shape& parameter : select.parameters) {
    if (parameter.IsScalar(type)) continue;
    return Invalid(context, 2,
                   fmt::format("select has a parameter {}, wanted {}[]", parameter.ToString(), Name(type)));
  }
  if (!select.result.IsScalar(ElementType::kPred)) {
    return Invalid(context, 2, fmt::format("select returns {}, wanted pred[]", select.result.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferSelectAndScatter(const InferContext& context) {
  const Shape& operand = context.operand(0);
  const Shape& source = context.operand(1);
  if (!operand.IsArray()) {
    return Invalid(context, 1, fmt::format("the operand is {}, wanted an array", operand.ToString()));
  }
  ASSAY_RETURN_IF_ERROR(CheckSelect(context, operand.element_type()));
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes,
                         WindowOutputSizes(context, "SelectAndScatter", 4, operand.sizes(), window));
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d].base_dilation != 1 || window[d].window_dilation != 1 || window[d].reversal) {
      return Invalid(context, 4, fmt::format("dimension {} of the window is dilated or reversed", d));
    }
  }
  if (!source.IsArray() ||
      !std::equal(sizes.begin(), sizes.end(), source.sizes().begin(), source.sizes().end())) {
    return Invalid(
        context, 5,
        fmt::format("the source is {}, wanted dimensions [{}]", source.ToString(), fmt::join(sizes, ",")));
  }
  const ElementType source_type = source.element_type();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ElementType> result,
                         VerifyReducer(context, *context.attributes().Computation(Attr::kScatter),
                                       {&source_type, 1}, {context.operands[2], 1}));
  if (result[0] != operand.element_type()) {
    return Invalid(context, 3,
                   fmt::format("scatter computes {}, but the operand has element type {}", Name(result[0]),
                               Name(operand.element_type())));
  }
  return operand;
}

// Finds the chosen operand position of every source element, many at a time: those along the longest
// dimension of the source.
class Selection {
 public:
  Selection(EvalContext& context, ScalarFunction& select, const Literal& operand, const Literal& source,
            const Window& window)
      : select_(select),
        x_(operand.data()),
        bytes_(Bytes(operand.shape().element_type())),
        strides_(StridesOf(operand)),
        source_strides_(StridesOf(source)),
        meter_(context) {
    for (size_t d = 0; d < window.size(); ++d) {
      axes_.emplace_back(operand.dynamic_size(d), window[d], source.dynamic_size(d));
      outputs_.push_back({source.dynamic_size(d), {source_strides_[d]}});
      if (lane_ < 0 || outputs_[d].size > outputs_[lane_].size) lane_ = static_cast<int64_t>(d);
    }
  }

  // chosen[source position] = operand position, or -1. All are -1 before.
  absl::Status Run(int64_t* chosen) {
    if (LoopCount(outputs_) == 0) return absl::OkStatus();
    if (lane_ >= 0) FindLaneOffsets();
    LoopDims outer = outputs_;
    if (lane_ >= 0) outer[lane_].size = 1;
    for (Loop o(outer); !o.done(); o.Next()) ASSAY_RETURN_IF_ERROR(Row(o, chosen));
    return meter_.Flush();
  }

 private:
  absl::Status Row(const Loop& o, int64_t* chosen) {
    LoopDims box;
    int64_t base = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(axes_.size()); ++d) {
      if (d == lane_) {
        box.push_back({offsets_, {0}});
        continue;
      }
      const Progression p = axes_[d].AtOutput(o.index(d));
      base += p.base * strides_[d];
      box.push_back({p.count, {strides_[d]}});
    }
    for (Loop w(box); !w.done(); w.Next()) {
      Progression lanes{0, 0, 1};
      if (lane_ >= 0) lanes = axes_[lane_].AtOffset(first_offset_ + w.index(lane_));
      ASSAY_RETURN_IF_ERROR(Offer(base + w.offset(0), o.offset(0), lanes, chosen));
      ASSAY_RETURN_IF_ERROR(meter_.Add(lanes.count + 1));
    }
    return absl::OkStatus();
  }

  // The range of window offsets of the lane dimension that can meet the operand. Where it is mostly empty
  // (huge strides) source elements are taken one at a time instead.
  void FindLaneOffsets() {
    int64_t low = axes_[lane_].window_size(), high = -1, contributions = 0;
    for (int64_t o = 0; o < axes_[lane_].outputs(); ++o) {
      const Progression p = axes_[lane_].AtOutput(o);
      if (p.count == 0) continue;
      low = std::min(low, p.first);
      high = std::max(high, p.first + p.count - 1);
      contributions += p.count;
    }
    first_offset_ = low;
    offsets_ = std::max<int64_t>(high - low + 1, 0);
    if (offsets_ > contributions) lane_ = -1;
  }

  // Offers one operand element to each of the source elements `lanes`.
  absl::Status Offer(int64_t base, int64_t source, const Progression& lanes, int64_t* chosen) {
    const int64_t step = lane_ < 0 ? 0 : axes_[lane_].output_step() * source_strides_[lane_];
    const int64_t base_step = lane_ < 0 ? 0 : axes_[lane_].output_base_step() * strides_[lane_];
    if (lane_ >= 0) {
      base += lanes.base * strides_[lane_];
      source += lanes.first * source_strides_[lane_];
    }
    rivals_.clear();
    held_.clear();
    offered_.clear();
    for (int64_t i = 0; i < lanes.count; ++i, base += base_step, source += step) {
      if (chosen[source] < 0) {
        chosen[source] = base;
        continue;
      }
      rivals_.push_back({source, base});
      held_.insert(held_.end(), x_ + chosen[source] * bytes_, x_ + (chosen[source] + 1) * bytes_);
      offered_.insert(offered_.end(), x_ + base * bytes_, x_ + (base + 1) * bytes_);
    }
    const int64_t n = static_cast<int64_t>(rivals_.size());
    if (n == 0) return absl::OkStatus();
    keep_.resize(n);
    const std::byte* const in[] = {held_.data(), offered_.data()};
    const int64_t in_strides[] = {bytes_, bytes_};
    std::byte* const out[] = {keep_.data()};
    const int64_t out_strides[] = {1};
    ASSAY_RETURN_IF_ERROR(select_.Run(n, in, in_strides, out, out_strides));
    for (int64_t i = 0; i < n; ++i) {
      if (keep_[i] == std::byte{0}) chosen[rivals_[i].source] = rivals_[i].base;
    }
    return absl::OkStatus();
  }

  struct Rival {
    int64_t source, base;
  };
  ScalarFunction& select_;
  const std::byte* const x_;
  const int64_t bytes_;
  const DimVector strides_, source_strides_;
  Meter meter_;
  std::vector<WindowAxis> axes_;
  LoopDims outputs_;
  int64_t lane_ = -1;  // -1: one source element at a time
  int64_t first_offset_ = 0, offsets_ = 0;
  std::vector<Rival> rivals_;
  std::vector<std::byte> held_, offered_, keep_;
};

// An int64 for each element of the array, counted against the memory limit.
absl::StatusOr<Literal> Int64s(EvalContext& context, const Shape& array) {
  const int64_t count = array.num_elements();
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(ElementType::kS64, {&count, 1}));
  return context.NewLiteral(std::make_shared<const Shape>(std::move(shape)));
}
std::span<int64_t> AsInt64s(Literal& literal) {
  const std::span<std::byte> bytes = literal.MutableBytes();
  return {reinterpret_cast<int64_t*>(bytes.data()), bytes.size() / sizeof(int64_t)};
}

// out[p] = f(… f(f(init, source[O0]), source[O1]) …) for the sources that chose p, in row-major order.
// `order` is the list of source positions sorted by chosen position, then by position.
absl::Status ScatterInOrder(EvalContext& context, ScalarFunction& scatter, std::span<const int64_t> order,
                            std::span<const int64_t> chosen, const Literal& source, const Literal& init,
                            Literal& result) {
  const int64_t bytes = Bytes(result.shape().element_type());
  const int64_t source_bytes = Bytes(source.shape().element_type());
  std::byte* const out = result.MutableBytes().data();
  const bool exact = scatter.is_exact_sum();
  ElementSum sum(result.shape().element_type());
  Meter meter(context);
  const int64_t strides[] = {0, 0};
  for (size_t i = 0; i < order.size();) {
    std::byte* const target = out + chosen[order[i]] * bytes;
    const int64_t position = chosen[order[i]];
    if (exact) {
      sum.Clear();
      sum.Add(init.data(), 0, 1);
    }
    for (; i < order.size() && chosen[order[i]] == position; ++i) {
      const std::byte* const added = source.data() + order[i] * source_bytes;
      if (exact) {
        sum.Add(added, 0, 1);
      } else {
        const std::byte* const in[] = {target, added};
        ASSAY_RETURN_IF_ERROR(scatter.Run(1, in, strides, {&target, 1}, {strides, 1}));
      }
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
    if (exact) sum.Store(target);
  }
  return meter.Flush();
}

absl::Status CombineInOrder(EvalContext& context, std::span<const int64_t> chosen, const Literal& source,
                            const Literal& init, Literal& result) {
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const scatter,
                         context.Scalar(*context.attributes().Computation(Attr::kScatter)));
  ASSAY_ASSIGN_OR_RETURN(Literal order_literal, Int64s(context, source.shape()));
  std::span<int64_t> order = AsInt64s(order_literal);
  int64_t hits = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] >= 0) order[hits++] = static_cast<int64_t>(i);
  }
  order = order.first(hits);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return chosen[a] != chosen[b] ? chosen[a] < chosen[b] : a < b; });
  return ScatterInOrder(context, *scatter, order, chosen, source, init, result);
}

absl::StatusOr<Literal> EvalSelectAndScatter(EvalContext& context, std::span<Literal> operands) {
  const auto choose = [&](const Literal& operand, const Literal& source, std::span<int64_t> chosen) {
    return ChooseBySelect(context, operand, source, chosen);
  };
  const auto combine = [&](std::span<const int64_t> chosen, const Literal& source, const Literal& init,
                           Literal& result) { return CombineInOrder(context, chosen, source, init, result); };
  return EvalSelectAndScatterWith(context, operands, {choose, combine});
}

constexpr AttrSpec kSelectAndScatterAttributes[] = {Optional(Attr::kWindow), Required(Attr::kSelect),
                                                    Required(Attr::kScatter)};

}  // namespace

absl::Status ChooseBySelect(EvalContext& context, const Literal& operand, const Literal& source,
                            std::span<int64_t> chosen) {
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const select,
                         context.Scalar(*context.attributes().Computation(Attr::kSelect)));
  return Selection(context, *select, operand, source, context.attributes().WindowOf()).Run(chosen.data());
}

absl::StatusOr<Literal> EvalSelectAndScatterWith(EvalContext& context, std::span<Literal> operands,
                                                 const SelectAndScatterSteps& steps) {
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(const DimVector outputs,
                         RuntimeOutputSizes(context.instruction(), operands[0].runtime_sizes(), window));
  if (outputs != operands[1].runtime_sizes()) {
    return EvalError(context.instruction().position,
                     fmt::format("DYN-7: select-and-scatter: the source has run-time sizes [{}], wanted [{}]",
                                 fmt::join(operands[1].runtime_sizes(), ","), fmt::join(outputs, ",")));
  }
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const scatter,
                         context.Scalar(*context.attributes().Computation(Attr::kScatter)));
  ASSAY_ASSIGN_OR_RETURN(const Literal source,
                         ConvertForReducer(context, operands[1], scatter->input_type(1)));
  ASSAY_ASSIGN_OR_RETURN(const Literal init, ConvertForReducer(context, operands[2], scatter->input_type(0)));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const int64_t bytes = Bytes(result.shape().element_type());
  FillElements(static_cast<int>(bytes), init.data(), result.MutableBytes().data(),
               result.shape().num_elements());

  ASSAY_ASSIGN_OR_RETURN(Literal chosen_literal, Int64s(context, source.shape()));
  const std::span<int64_t> chosen = AsInt64s(chosen_literal);
  std::fill(chosen.begin(), chosen.end(), -1);
  ASSAY_RETURN_IF_ERROR(steps.choose(operands[0], source, chosen));
  ASSAY_RETURN_IF_ERROR(steps.combine(chosen, source, init, result));
  SetRuntimeSizes(result, operands[0].runtime_sizes());
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

constinit const OpDef ops::SelectAndScatter = {
    .operands = Exactly(3),
    .types = kArrayTypes,
    .attributes = kSelectAndScatterAttributes,
    .infer = InferSelectAndScatter,
    .eval = EvalSelectAndScatter,
};

}  // namespace assay
