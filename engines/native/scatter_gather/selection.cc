#include "engines/native/scatter_gather/selection.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "engines/native/reduce/reducer_operands.h"
#include "engines/native/walk/loops.h"
#include "engines/native/walk/move.h"
#include "engines/native/walk/window_axis.h"
#include "evaluator/meter.h"
#include "evaluator/ops/reduction/select_and_scatter.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"

namespace assay::native {
namespace {

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
    for (LoopNest o(outer); !o.done(); o.Next()) ASSAY_RETURN_IF_ERROR(Row(o, chosen));
    return meter_.Flush();
  }

 private:
  absl::Status Row(const LoopNest& o, int64_t* chosen) {
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
    for (LoopNest w(box); !w.done(); w.Next()) {
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

}  // namespace

absl::Status ChooseBySelect(EvalContext& context, const Literal& operand, const Literal& source,
                            std::span<int64_t> chosen) {
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const select,
                         context.Scalar(*context.attributes().Computation(Attr::kSelect)));
  return Selection(context, *select, operand, source, context.attributes().WindowOf()).Run(chosen.data());
}

absl::StatusOr<Literal> RunSelectAndScatter(EvalContext& context, std::span<Literal> operands,
                                            const SelectAndScatterSteps& steps) {
  ASSAY_RETURN_IF_ERROR(CheckSourceSizes(context, operands[0], operands[1]));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const scatter,
                         context.Scalar(*context.attributes().Computation(Attr::kScatter)));
  ASSAY_ASSIGN_OR_RETURN(const Literal source, ConvertForFold(context, operands[1], scatter->input_type(1)));
  ASSAY_ASSIGN_OR_RETURN(const Literal init, ConvertForFold(context, operands[2], scatter->input_type(0)));
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

}  // namespace assay::native
