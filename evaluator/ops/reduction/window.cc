// reduce-window (docs/spec/operations-linalg.md, ReduceWindow). Which element a window meets is
// window_index.h, reducers are reducer.h and fold.h; select-and-scatter is in select_and_scatter.cc.

#include <vector>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/reduction/fold.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/ops/reduction/window_index.h"
#include "evaluator/ops/reduction/window_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay {
namespace {

// For output_index and window_index, by dimension:
//   p = output_index * stride + window_index * window_dilation - low
//   window_index contributes iff p >= 0, p mod base_dilation == 0 and p div base_dilation < size
// result[output_index] = fold of init and operand[p div base_dilation] over the contributing window_index
// in row-major order.
//
// A reversed dimension of the window has no effect (ReduceWindow-C6).
//
// Decision: window-padding-skipped

absl::Status InvalidWindow(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// ReduceWindow-C1. Returns N.
absl::StatusOr<int64_t> CheckWindowed(const InferContext& context) {
  const int64_t count = context.num_operands();
  if (count < 2 || count % 2 != 0) {
    return InvalidWindow(context, fmt::format("ReduceWindow-C1: {}, wanted inputs and as many init values",
                                              Counted(count, "operand")));
  }
  for (int64_t i = 0; i < count / 2; ++i) {
    if (context.operand(i).IsArray() && Shape::SameDimensions(context.operand(0), context.operand(i)))
      continue;
    return InvalidWindow(
        context, fmt::format("ReduceWindow-C1: operands 0 and {} are {} and {}, wanted arrays of the same "
                             "dimensions",
                             i, context.operand(0).ToString(), context.operand(i).ToString()));
  }
  return count / 2;
}

// Result k has the reducer's type, or the init value's: that one where the shape is left out.
// Decision: reduce-window-result-type
ElementType ElementTypeOfResult(const InferContext& context, int64_t k, int64_t n, ElementType reducer) {
  const ElementType init = context.operand(n + k).element_type();
  const Shape* declared = context.declared;
  if (declared == nullptr) return init;
  if (declared->IsTuple() && static_cast<int64_t>(declared->elements().size()) == n)
    declared = &declared->element(k);
  return declared->IsArray() && declared->element_type() == init ? init : reducer;
}

absl::StatusOr<Shape> InferReduceWindow(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t n, CheckWindowed(context));
  const Shape& x = context.operand(0);
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes,
                         WindowOutputSizes(context, "ReduceWindow", 0, x.sizes(), window));
  std::vector<ElementType> types;
  std::vector<Shape> inits;
  for (int64_t i = 0; i < n; ++i) {
    types.push_back(context.operand(i).element_type());
    inits.push_back(context.operand(n + i));
  }
  const ComputationId reducer = *context.attributes().Computation(Attr::kToApply);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ElementType> result_types,
                         VerifyReducer(context, reducer, types, inits));
  std::vector<Shape> results;
  for (int64_t k = 0; k < n; ++k) {
    ASSAY_ASSIGN_OR_RETURN(Shape result,
                           Shape::Array(ElementTypeOfResult(context, k, n, result_types[k]), sizes));
    for (int64_t d = 0; d < x.rank(); ++d) {
      for (int64_t i = 0; i < n; ++i) {
        if (context.operand(i).is_dynamic(d)) result.set_dynamic(d, true);
      }
    }
    results.push_back(std::move(result));
  }
  return context.Called(reducer).result.IsTuple() ? Shape::Tuple(std::move(results)) : std::move(results[0]);
}

absl::StatusOr<Literal> EvalReduceWindow(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes,
                         CommonRuntimeSizes(context, operands.first(operands.size() / 2)));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const reducer,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  ASSAY_ASSIGN_OR_RETURN(FoldArrays arrays, MakeFoldArrays(context, operands, *reducer));
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(const DimVector output_sizes,
                         RuntimeOutputSizes(context.instruction(), sizes, window));
  const DimVector entries = WindowEntries(window, sizes);
  Fold fold(*reducer, arrays);
  Meter meter(context);
  DimVector operand_index(sizes.size());
  for (IndexWalk output(output_sizes); !output.done(); output.Next()) {
    const Index output_index = output.index();
    fold.Start(output_index);
    for (IndexWalk window_index(entries); !window_index.done(); window_index.Next()) {
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
      if (!ElementUnderWindow(window, output_index, window_index.index(), sizes, operand_index)) continue;
      ASSAY_RETURN_IF_ERROR(fold.Add(operand_index));
    }
    fold.Finish();
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return ResultOfFold(context, std::move(arrays), output_sizes);
}

constexpr AttrSpec kReduceWindowAttributes[] = {Optional(Attr::kWindow), Required(Attr::kToApply)};

// Each result takes as many steps as the window has positions, and one application less.
Work WorkOfReduceWindow(const InstructionView& view) {
  Work work = work::Move(view);
  const double window = work::WindowSize(view);
  work.elements = work::Elements(view.result()) * window;
  work.applied = {{Attr::kToApply, work::ElementsOfFirst(view.result()) * (window - 1)}};
  return work;
}

bool IsOneElement(const WindowDimension& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 && w.padding_high == 0 && w.base_dilation == 1;
}

absl::Status OpenSizesOfReduceWindow(OpenSizes& sizes) {
  const Window& window = sizes.context().attributes().WindowOf();
  const Shape& result = sizes.context().result_shape();
  const int64_t results = result.IsTuple() ? std::ssize(result.elements()) : 1;
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    std::vector<OperandDimension> met;
    for (int64_t i = 0; i < sizes.num_operands() / 2; ++i) met.push_back({i, d});
    if (!sizes.Meet(met)) continue;
    if (!IsOneElement(window[d])) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    for (int64_t i = 0; i < results; ++i) sizes.Open(d, i);
  }
  return absl::OkStatus();
}

}  // namespace

constinit const OpDef ops::ReduceWindow = {
    .operands = AtLeast(2),
    .types = kArrayTypes,
    .attributes = kReduceWindowAttributes,
    .infer = InferReduceWindow,
    .eval = EvalReduceWindow,
    .work = WorkOfReduceWindow,
    .bound = bound::ReduceWindow,
    .audit = audit::ReduceWindow,
    .open_sizes = OpenSizesOfReduceWindow,
};

}  // namespace assay
