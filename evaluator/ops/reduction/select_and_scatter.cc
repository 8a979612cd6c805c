// select-and-scatter (docs/spec/operations-linalg.md, SelectAndScatter): the gradient of a pooling window.
#include "evaluator/ops/reduction/select_and_scatter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/ops/reduction/scattered_sums.h"
#include "evaluator/ops/reduction/window_index.h"
#include "evaluator/ops/reduction/window_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay {
namespace {

// result = all init; for each source_index in row-major order:
//   selected_index = the first p = source_index * stride + window_index - low inside the operand, with
//       window_index in row-major order, then every later p for which
//       select(operand[selected_index], operand[p]) is false
//   result[selected_index] = f(result[selected_index], source[source_index]), if there is one
// A recognised add (RED-1) means the exact sum of init and all source elements added to result[p].

absl::Status InvalidSelectAndScatter(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("SelectAndScatter-C{}: {}", c, message));
}

// SelectAndScatter-C2: (T, T) -> pred.
absl::Status CheckSelect(const InferContext& context, ElementType type) {
  const ProgramShape select = context.Called(*context.attributes().Computation(Attr::kSelect));
  if (select.parameters.size() != 2) {
    return InvalidSelectAndScatter(
        context, 2, fmt::format("select has {}, wanted 2", Counted(select.parameters.size(), "parameter")));
  }
  for (const Shape& parameter : select.parameters) {
    if (parameter.IsScalar(type)) continue;
    return InvalidSelectAndScatter(
        context, 2, fmt::format("select has a parameter {}, wanted {}[]", parameter.ToString(), Name(type)));
  }
  if (!select.result.IsScalar(ElementType::kPred)) {
    return InvalidSelectAndScatter(context, 2,
                                   fmt::format("select returns {}, wanted pred[]", select.result.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferSelectAndScatter(const InferContext& context) {
  const Shape& operand = context.operand(0);
  const Shape& source = context.operand(1);
  if (!operand.IsArray()) {
    return InvalidSelectAndScatter(context, 1,
                                   fmt::format("the operand is {}, wanted an array", operand.ToString()));
  }
  ASSAY_RETURN_IF_ERROR(CheckSelect(context, operand.element_type()));
  const Window& window = context.attributes().WindowOf();
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes,
                         WindowOutputSizes(context, "SelectAndScatter", 4, operand.sizes(), window));
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d].base_dilation != 1 || window[d].window_dilation != 1 || window[d].reversal) {
      return InvalidSelectAndScatter(context, 4,
                                     fmt::format("dimension {} of the window is dilated or reversed", d));
    }
  }
  if (!source.IsArray() ||
      !std::equal(sizes.begin(), sizes.end(), source.sizes().begin(), source.sizes().end())) {
    return InvalidSelectAndScatter(
        context, 5,
        fmt::format("the source is {}, wanted dimensions [{}]", source.ToString(), fmt::join(sizes, ",")));
  }
  const ElementType source_type = source.element_type();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ElementType> result,
                         VerifyReducer(context, *context.attributes().Computation(Attr::kScatter),
                                       {&source_type, 1}, {context.operands[2], 1}));
  if (result[0] != operand.element_type()) {
    return InvalidSelectAndScatter(context, 3,
                                   fmt::format("scatter computes {}, but the operand has element type {}",
                                               Name(result[0]), Name(operand.element_type())));
  }
  return operand;
}

// The operand's element that select picks in a window.
class WindowSelection {
 public:
  WindowSelection(ScalarFunction& select, const Literal& operand, const Window& window)
      : select_(select),
        operand_(operand),
        sizes_(operand.runtime_sizes()),
        window_(window),
        entries_(WindowEntries(window, sizes_)),
        selected_index_(sizes_.size()),
        operand_index_(sizes_.size()) {}

  // Sets selected_index(); false where the window has no element of the operand.
  absl::StatusOr<bool> Select(Index source_index, Meter& meter) {
    bool any = false;
    for (IndexWalk window_index(entries_); !window_index.done(); window_index.Next()) {
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
      if (!ElementUnderWindow(window_, source_index, window_index.index(), sizes_, operand_index_)) continue;
      if (any) {
        ASSAY_ASSIGN_OR_RETURN(const bool keep, Keeps());
        if (keep) continue;
      }
      any = true;
      selected_index_ = operand_index_;
    }
    return any;
  }
  Index selected_index() const { return selected_index_; }

 private:
  // select(operand[selected_index], operand[operand_index])
  absl::StatusOr<bool> Keeps() {
    const std::byte* const in[] = {operand_.At(selected_index_), operand_.At(operand_index_)};
    constexpr int64_t kStrides[] = {0, 0};
    std::byte keep;
    std::byte* const out = &keep;
    ASSAY_RETURN_IF_ERROR(select_.Run(1, in, kStrides, {&out, 1}, std::span(kStrides).first(1)));
    return keep != std::byte{0};
  }

  ScalarFunction& select_;
  const ArrayView operand_;
  const DimVector sizes_;
  const Window& window_;
  const DimVector entries_;
  DimVector selected_index_, operand_index_;
};

absl::Status SelectAndScatter(EvalContext& context, WindowSelection& selection, ScalarFunction& scatter,
                              const Literal& source, Literal& result) {
  ASSAY_ASSIGN_OR_RETURN(ScatteredSums sums, ScatteredSums::Make(context, source, result));
  const ArrayView from(source);
  const MutableArrayView out(result);
  ReducerCall f(scatter);
  Meter meter(context);
  for (IndexWalk walk(source.runtime_sizes()); !walk.done(); walk.Next()) {
    const Index source_index = walk.index();
    ASSAY_ASSIGN_OR_RETURN(const bool any, selection.Select(source_index, meter));
    if (!any) continue;
    if (scatter.is_exact_sum()) {
      sums.AddTerm(selection.selected_index(), source_index);
      continue;
    }
    std::byte* const running = out.At(selection.selected_index());
    const std::byte* const added = from.At(source_index);
    ASSAY_RETURN_IF_ERROR(f.Apply({&running, 1}, {&added, 1}));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return sums.Store();
}

absl::StatusOr<Literal> EvalSelectAndScatter(EvalContext& context, std::span<Literal> operands) {
  const AttributeMap& attributes = context.attributes();
  ASSAY_RETURN_IF_ERROR(CheckSourceSizes(context, operands[0], operands[1]));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const select,
                         context.Scalar(*attributes.Computation(Attr::kSelect)));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const scatter,
                         context.Scalar(*attributes.Computation(Attr::kScatter)));
  ASSAY_ASSIGN_OR_RETURN(const Literal source,
                         ConvertForReducer(context, operands[1], scatter->input_type(1)));
  ASSAY_ASSIGN_OR_RETURN(const Literal init, ConvertForReducer(context, operands[2], scatter->input_type(0)));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const ArrayView start(init);
  const MutableArrayView out(result);
  for (IndexWalk p(result.shape().sizes()); !p.done(); p.Next()) {
    std::memcpy(out.At(p.index()), start.At({}), out.element_bytes());
  }
  WindowSelection selection(*select, operands[0], attributes.WindowOf());
  ASSAY_RETURN_IF_ERROR(SelectAndScatter(context, selection, *scatter, source, result));
  SetRuntimeSizes(result, operands[0].runtime_sizes());
  if (!result.IsFullSize()) result.ClearDeadElements();
  return result;
}

constexpr AttrSpec kSelectAndScatterAttributes[] = {Optional(Attr::kWindow), Required(Attr::kSelect),
                                                    Required(Attr::kScatter)};

// Each element of the source looks for its place in a window.
Work WorkOfSelectAndScatter(const InstructionView& view) {
  Work work = work::Move(view);
  const double sources = work::Elements(view.operand(1)), window = work::WindowSize(view);
  work.elements = sources * window;
  work.applied = {{Attr::kSelect, sources * (window - 1)}, {Attr::kScatter, sources}};
  return work;
}

// The operand's sizes say how many windows there are, and so the source's.
absl::Status OpenSizesOfSelectAndScatter(OpenSizes& sizes) {
  ASSAY_RETURN_IF_ERROR(sizes.Needs(0));
  DimVector operand;
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) operand.push_back(sizes.RuntimeSize(0, d));
  ASSAY_ASSIGN_OR_RETURN(
      const DimVector outputs,
      RuntimeOutputSizes(sizes.context().instruction(), operand, sizes.context().attributes().WindowOf()));
  for (size_t d = 0; d < outputs.size(); ++d) sizes.Take({1, static_cast<int64_t>(d)}, outputs[d]);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSourceSizes(const EvalContext& context, const Literal& operand, const Literal& source) {
  ASSAY_ASSIGN_OR_RETURN(
      const DimVector outputs,
      RuntimeOutputSizes(context.instruction(), operand.runtime_sizes(), context.attributes().WindowOf()));
  if (outputs == source.runtime_sizes()) return absl::OkStatus();
  return EvalError(context.instruction().position,
                   fmt::format("DYN-7: select-and-scatter: the source has run-time sizes [{}], wanted [{}]",
                               fmt::join(source.runtime_sizes(), ","), fmt::join(outputs, ",")));
}

constinit const OpDef ops::SelectAndScatter = {
    .operands = Exactly(3),
    .types = kArrayTypes,
    .attributes = kSelectAndScatterAttributes,
    .infer = InferSelectAndScatter,
    .eval = EvalSelectAndScatter,
    .work = WorkOfSelectAndScatter,
    .bound = bound::SelectAndScatter,
    .audit = audit::SelectAndScatter,
    .open_sizes = OpenSizesOfSelectAndScatter,
};

}  // namespace assay
