// Shape rule and recognition of reducers; see reducer.h. Labels: RED-C1..C6 of
// docs/spec/operations-linalg.md.

#include "evaluator/ops/reduction/reducer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/scalar_function.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

bool SameUpToPrecision(ElementType a, ElementType b) { return a == b || (IsFloat(a) && IsFloat(b)); }

absl::Status Violated(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// RED-C2: the scalars that the reducer returns.
absl::StatusOr<std::vector<ElementType>> ResultTypes(const InferContext& context, const Shape& result,
                                                     int64_t n) {
  std::vector<ElementType> types;
  if (n == 1 && result.IsScalar()) {
    types.push_back(result.element_type());
    return types;
  }
  const bool tuple = result.IsTuple() && static_cast<int64_t>(result.elements().size()) == n;
  for (int64_t i = 0; tuple && i < n; ++i) {
    if (!result.element(i).IsScalar()) break;
    types.push_back(result.element(i).element_type());
  }
  if (tuple && static_cast<int64_t>(types.size()) == n) return types;
  return Violated(context, fmt::format("RED-C2: the reducer returns {}, wanted {}", result.ToString(),
                                       n == 1 ? std::string("a scalar or a tuple of one")
                                              : fmt::format("a tuple of {}", Counted(n, "scalar"))));
}

// RED-C3, C5 and C6 for running value i and new value i.
absl::Status CheckParameters(const InferContext& context, const ProgramShape& reducer, int64_t i,
                             ElementType result, ElementType operand) {
  const int64_t n = static_cast<int64_t>(reducer.parameters.size()) / 2;
  const Shape& running = reducer.parameters[i];
  const Shape& added = reducer.parameters[n + i];
  if (!running.IsScalar(result)) {
    return Violated(context, fmt::format("RED-C3: parameter {} of the reducer is {}, result {} is {}[]", i,
                                         running.ToString(), i, Name(result)));
  }
  if (!added.IsScalar() || !SameUpToPrecision(added.element_type(), operand)) {
    return Violated(context, fmt::format("RED-C5: parameter {} of the reducer is {}, operand {} has element "
                                         "type {}",
                                         n + i, added.ToString(), i, Name(operand)));
  }
  if (!SameUpToPrecision(running.element_type(), added.element_type())) {
    return Violated(context, fmt::format("RED-C6: parameters {} and {} of the reducer are {} and {}", i,
                                         n + i, running.ToString(), added.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ElementType>> VerifyReducer(const InferContext& context, ComputationId reducer,
                                                       std::span<const ElementType> operand_types,
                                                       std::span<const Shape> inits) {
  const int64_t n = static_cast<int64_t>(operand_types.size());
  const ProgramShape called = context.Called(reducer);
  const int64_t parameters = static_cast<int64_t>(called.parameters.size());
  if (parameters != 2 * n) {
    return Violated(context, fmt::format("RED-C1: the reducer has {}, wanted {} for {}",
                                         Counted(parameters, "parameter"), 2 * n, Counted(n, "operand")));
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<ElementType> results, ResultTypes(context, called.result, n));
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckParameters(context, called, i, results[i], operand_types[i]));
    if (inits.empty()) continue;
    const Shape& init = inits[i];
    if (!init.IsScalar() || !SameUpToPrecision(init.element_type(), results[i])) {
      return Violated(context, fmt::format("RED-C4: init value {} is {}, wanted {}[]", i, init.ToString(),
                                           Name(results[i])));
    }
  }
  return results;
}

absl::StatusOr<Literal> ConvertForReducer(EvalContext& context, const Literal& literal, ElementType type) {
  const Shape& from = literal.shape();
  if (from.element_type() == type) return literal;
  Shape to = Shape::ArrayOrDie(type, from.sizes());
  for (int64_t d = 0; d < from.rank(); ++d) to.set_dynamic(d, from.is_dynamic(d));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(std::make_shared<const Shape>(std::move(to))));
  const ArrayView x(literal);
  const MutableArrayView out(result);
  Meter meter(context);
  for (IndexWalk i(from.sizes()); !i.done(); i.Next()) {
    double value;
    LoadStrip(from.element_type(), x.At(i.index()), 0, 1, &value);
    RoundStripToFormat(&value, 1, *Info(type).format);
    StoreStrip(type, &value, 1, out.At(i.index()), 0);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.is_dynamic(d)) result.set_dynamic_size(d, literal.dynamic_size(d));
  }
  return result;
}

ReducerCall::ReducerCall(ScalarFunction& reducer)
    : reducer_(reducer), in_(reducer.num_inputs()), strides_(reducer.num_inputs(), 0) {}

absl::Status ReducerCall::Apply(std::span<std::byte* const> running,
                                std::span<const std::byte* const> added) {
  std::copy(running.begin(), running.end(), in_.begin());
  std::copy(added.begin(), added.end(), in_.begin() + static_cast<int64_t>(running.size()));
  return reducer_.Run(1, in_, strides_, running, std::span(strides_).first(running.size()));
}

}  // namespace assay
