// reduce-window (spec/operations-linalg.md, ReduceWindow). Which window offsets meet the base is
// window_axis.h; reducers are reducer.h; select-and-scatter is in select_and_scatter.cc.

#include <algorithm>
#include <vector>

#include "evaluator/ops/element_sum.h"
#include "evaluator/ops/loops.h"
#include "evaluator/ops/reducer.h"
#include "evaluator/ops/window_axis.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// For output O and window index W, by dimension:
//   p = O * stride + W * window_dilation - low
//   W contributes iff p >= 0, p mod base_dilation == 0 and p div base_dilation < size
// out[O] = fold of init and x[p div base_dilation] over the contributing W in row-major order.
//
// Decision: window-padding-skipped

absl::Status Invalid(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// ReduceWindow-C1. Returns N.
absl::StatusOr<int64_t> CheckInputs(const InferContext& context) {
  const int64_t count = context.num_operands();
  if (count < 2 || count % 2 != 0) {
    return Invalid(context,
                   fmt::format("ReduceWindow-C1: {} operands, wanted inputs and as many init values", count));
  }
  for (int64_t i = 0; i < count / 2; ++i) {
    if (context.operand(i).IsArray() && Shape::SameDimensions(context.operand(0), context.operand(i)))
      continue;
    return Invalid(context,
                   fmt::format("ReduceWindow-C1: operands 0 and {} are {} and {}, wanted arrays of the same "
                               "dimensions",
                               i, context.operand(0).ToString(), context.operand(i).ToString()));
  }
  return count / 2;
}

absl::StatusOr<Shape> InferReduceWindow(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t n, CheckInputs(context));
  const Shape& x = context.operand(0);
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes,
                         WindowOutputSizes(context, "ReduceWindow", 0, x.sizes(), window));
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d].reversal) {
      return Invalid(context, fmt::format("ReduceWindow-C6: dimension {} of the window is reversed", d));
    }
  }
  std::vector<ElementType> types;
  std::vector<Shape> inits;
  for (int64_t i = 0; i < n; ++i) {
    types.push_back(context.operand(i).element_type());
    inits.push_back(context.operand(n + i));
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<ElementType> result_types,
      VerifyReducer(context, *context.attributes().Computation(Attr::kToApply), types, inits));
  std::vector<Shape> results;
  for (ElementType type : result_types) {
    ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
    for (int64_t d = 0; d < x.rank(); ++d) {
      for (int64_t i = 0; i < n; ++i) {
        if (context.operand(i).is_dynamic(d)) result.set_dynamic(d, true);
      }
    }
    results.push_back(std::move(result));
  }
  return n == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

struct WindowReduction {
  EvalContext& context;
  ScalarFunction& reducer;
  std::vector<Literal> inputs, inits, results;
  DimVector output_sizes;  // at run time
  DimVector strides, result_strides;
  std::vector<WindowAxis> axes;

  int64_t n() const { return static_cast<int64_t>(inputs.size()); }
  int64_t rank() const { return static_cast<int64_t>(output_sizes.size()); }
  int64_t input_bytes(int64_t i) const { return Bytes(inputs[i].shape().element_type()); }
  int64_t result_bytes(int64_t i) const { return Bytes(inits[i].shape().element_type()); }
  LoopDims OutputLoops() const {
    LoopDims dims;
    for (int64_t d = 0; d < rank(); ++d) dims.push_back({output_sizes[d], {result_strides[d]}});
    return dims;
  }
};

// The progressions of every output of every axis: computed once an axis, not once an element.
std::vector<std::vector<Progression>> AllOutputs(const std::vector<WindowAxis>& axes) {
  std::vector<std::vector<Progression>> all;
  for (const WindowAxis& axis : axes) {
    std::vector<Progression> of_axis(axis.outputs());
    for (int64_t o = 0; o < axis.outputs(); ++o) of_axis[o] = axis.AtOutput(o);
    all.push_back(std::move(of_axis));
  }
  return all;
}

// RED-1: the exact sum needs no order, so that each output takes the longest run of its box at a time.
absl::Status ReduceExactly(WindowReduction& r) {
  const int64_t in_bytes = r.input_bytes(0), out_bytes = r.result_bytes(0);
  std::byte* const out = r.results[0].MutableBytes().data();
  const auto progressions = AllOutputs(r.axes);
  const LoopDims outputs = r.OutputLoops();
  ElementSum sum(r.inits[0].shape().element_type());
  Meter meter(r.context);
  for (Loop o(outputs); !o.done(); o.Next()) {
    LoopDims box;
    int64_t base = 0, count = 1;
    for (int64_t d = 0; d < r.rank(); ++d) {
      const Progression& p = progressions[d][o.index(d)];
      base += p.base * r.strides[d];
      count *= std::min<int64_t>(p.count, 1);
      if (p.count > 1) box.push_back({p.count, {r.axes[d].base_step() * r.strides[d]}});
    }
    sum.Clear();
    sum.Add(r.inits[0].data(), 0, 1);
    if (count > 0) {
      const LoopDim run = TakeLongestLoop(box);
      for (Loop w(box); !w.done(); w.Next()) {
        sum.Add(r.inputs[0].data() + (base + w.offset(0)) * in_bytes, run.strides[0] * in_bytes, run.size);
        ASSAY_RETURN_IF_ERROR(meter.Add(run.size));
      }
    }
    sum.Store(out + o.offset(0) * out_bytes);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

// RED-2 over many outputs at a time: those along one dimension, the lane dimension. For each setting of the
// other output indices, the window indices W are walked in row-major order, and each is applied to the
// outputs at which it contributes.
class LaneFold {
 public:
  explicit LaneFold(WindowReduction& r)
      : r_(r),
        n_(r.n()),
        progressions_(AllOutputs(r.axes)),
        in_(2 * n_),
        out_(n_),
        in_strides_(2 * n_),
        out_strides_(n_),
        meter_(r.context) {
    for (int64_t d = 0; d < r_.rank(); ++d) {
      if (lane_ < 0 || r_.output_sizes[d] > r_.output_sizes[lane_]) lane_ = d;
    }
    if (lane_ >= 0) FindLaneOffsets();
  }

  absl::Status Run() {
    FillWithInit();
    LoopDims outer = r_.OutputLoops();
    if (lanes_in_a_row_) outer[lane_].size = 1;
    for (Loop o(outer); !o.done(); o.Next()) ASSAY_RETURN_IF_ERROR(Row(o));
    return meter_.Flush();
  }

 private:
  // The window offsets that contribute anywhere along the lane dimension, as a range. Where the range is
  // mostly empty (huge strides) outputs are taken one at a time instead.
  void FindLaneOffsets() {
    const WindowAxis& axis = r_.axes[lane_];
    int64_t low = axis.window_size(), high = -1, contributions = 0;
    for (const Progression& p : progressions_[lane_]) {
      if (p.count == 0) continue;
      low = std::min(low, p.first);
      high = std::max(high, p.first + (p.count - 1) * axis.window_step());
      contributions += p.count;
    }
    first_offset_ = low;
    offsets_ = std::max<int64_t>(high - low + 1, 0);
    lanes_in_a_row_ = offsets_ <= contributions;
  }

  void FillWithInit() {
    const LoopDims outputs = r_.OutputLoops();
    for (Loop o(outputs); !o.done(); o.Next()) {
      for (int64_t k = 0; k < n_; ++k) {
        std::byte* const out = r_.results[k].MutableBytes().data();
        std::copy_n(r_.inits[k].data(), r_.result_bytes(k), out + o.offset(0) * r_.result_bytes(k));
      }
    }
  }

  // The outputs of one row (or one output), whose other indices are those of `o`.
  absl::Status Row(const Loop& o) {
    LoopDims box;
    int64_t base = 0;
    for (int64_t d = 0; d < r_.rank(); ++d) {
      if (d == lane_ && lanes_in_a_row_) {
        box.push_back({offsets_, {0}});
        continue;
      }
      const Progression& p = progressions_[d][o.index(d)];
      base += p.base * r_.strides[d];
      box.push_back({p.count, {r_.axes[d].base_step() * r_.strides[d]}});
    }
    for (Loop w(box); !w.done(); w.Next()) {
      Progression lanes{0, 0, 1};
      if (lanes_in_a_row_) lanes = r_.axes[lane_].AtOffset(first_offset_ + w.index(lane_));
      if (lanes.count > 0) ASSAY_RETURN_IF_ERROR(Apply(base + w.offset(0), o.offset(0), lanes));
      ASSAY_RETURN_IF_ERROR(meter_.Add(lanes.count + 1));
    }
    return absl::OkStatus();
  }

  absl::Status Apply(int64_t base, int64_t result, const Progression& lanes) {
    const bool row = lanes_in_a_row_;
    const int64_t in_stride = row ? r_.axes[lane_].output_base_step() * r_.strides[lane_] : 0;
    const int64_t out_stride = row ? r_.axes[lane_].output_step() * r_.result_strides[lane_] : 0;
    if (row) {
      base += lanes.base * r_.strides[lane_];
      result += lanes.first * r_.result_strides[lane_];
    }
    for (int64_t k = 0; k < n_; ++k) {
      in_[k] = out_[k] = r_.results[k].MutableBytes().data() + result * r_.result_bytes(k);
      in_[n_ + k] = r_.inputs[k].data() + base * r_.input_bytes(k);
      in_strides_[k] = out_strides_[k] = out_stride * r_.result_bytes(k);
      in_strides_[n_ + k] = in_stride * r_.input_bytes(k);
    }
    return r_.reducer.Run(lanes.count, in_, in_strides_, out_, out_strides_);
  }

  WindowReduction& r_;
  const int64_t n_;
  const std::vector<std::vector<Progression>> progressions_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
  std::vector<int64_t> in_strides_, out_strides_;
  Meter meter_;
  int64_t lane_ = -1;  // -1: rank 0
  bool lanes_in_a_row_ = false;
  int64_t first_offset_ = 0, offsets_ = 0;
};

absl::StatusOr<Literal> EvalReduceWindow(EvalContext& context, std::span<Literal> operands) {
  const int64_t n = static_cast<int64_t>(operands.size()) / 2;
  ASSAY_RETURN_IF_ERROR(CheckSameRuntimeSizes(context, operands.first(n)));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const reducer,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  WindowReduction r{context, *reducer};
  const bool tuple = context.result_shape().IsTuple();
  const bool zero = HasDynamicDimension(context.result_shape());
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal init, ConvertForReducer(context, operands[n + i], reducer->input_type(i)));
    ASSAY_ASSIGN_OR_RETURN(Literal input,
                           ConvertForReducer(context, operands[i], reducer->input_type(n + i)));
    ASSAY_ASSIGN_OR_RETURN(Literal result,
                           tuple ? context.NewResultElement(i, zero) : context.NewResult(zero));
    r.inits.push_back(std::move(init));
    r.inputs.push_back(std::move(input));
    r.results.push_back(std::move(result));
  }
  const DimVector sizes = operands[0].runtime_sizes();
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(r.output_sizes, RuntimeOutputSizes(context.instruction(), sizes, window));
  r.strides = StridesOf(operands[0]);
  r.result_strides = StridesOf(r.results[0]);
  if (LoopCount(r.OutputLoops()) > 0) {
    for (size_t d = 0; d < sizes.size(); ++d) r.axes.emplace_back(sizes[d], window[d], r.output_sizes[d]);
    ASSAY_RETURN_IF_ERROR(reducer->is_exact_sum() ? ReduceExactly(r) : LaneFold(r).Run());
  }
  for (Literal& result : r.results) SetRuntimeSizes(result, r.output_sizes);
  if (!tuple) return std::move(r.results[0]);
  return Literal::Tuple(context.shared_result_shape(), std::move(r.results));
}

constexpr AttrSpec kReduceWindowAttributes[] = {Optional(Attr::kWindow), Required(Attr::kToApply)};

}  // namespace

constinit const OpDef ops::ReduceWindow = {
    .operands = AtLeast(2),
    .types = kArrayTypes,
    .attributes = kReduceWindowAttributes,
    .infer = InferReduceWindow,
    .eval = EvalReduceWindow,
};

}  // namespace assay
