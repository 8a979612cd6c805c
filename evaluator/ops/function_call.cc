#include "evaluator/ops/function_call.h"

#include <algorithm>

#include "evaluator/map_elements.h"
#include "evaluator/scalar/real.h"
#include "evaluator/strips.h"
#include "fmt/format.h"

namespace assay {
namespace {

template <RealFn1 fn>
void Map(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [&](double x) { return fn(x, *params.format); });
}

struct FunctionTarget {
  std::string_view name;
  StripFn strip;
};
constexpr FunctionTarget kFunctionTargets[] = {
    {"chlo.digamma", Map<RealDigamma>},
    {"chlo.erfc", Map<RealErfc>},
    {"chlo.lgamma", Map<RealLgamma>},
};

const FunctionTarget* FindFunction(std::string_view name) {
  const auto known = std::find_if(std::begin(kFunctionTargets), std::end(kFunctionTargets),
                                  [&](const FunctionTarget& t) { return t.name == name; });
  return known == std::end(kFunctionTargets) ? nullptr : known;
}

}  // namespace

bool IsFunctionCall(std::string_view target) { return FindFunction(target) != nullptr; }

absl::Status VerifyFunctionCall(const InferContext& context, const Shape& result) {
  const std::string_view target = context.attributes().Text(Attr::kCustomCallTarget);
  if (context.num_operands() != 1) {
    return InvalidProgram(
        {}, fmt::format("CustomCall: {} takes 1 operand, got {}", target, context.num_operands()));
  }
  const Shape& operand = context.operand(0);
  if (!operand.IsArray() || !IsFloat(operand.element_type())) {
    return InvalidProgram(
        {}, fmt::format("CustomCall: the operand of {} is {}, wanted floats", target, operand.ToString()));
  }
  if (Shape::Compatible(operand, result)) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("CustomCall: {} of {} can't give {}", target, operand.ToString(), result.ToString()));
}

StripKernel StripForFunctionCall(const Instruction& call, ElementType type) {
  const FunctionTarget& target = *FindFunction(call.attributes.Text(Attr::kCustomCallTarget));
  return {target.strip, ParamsFor({&type, 1}, type)};
}

absl::StatusOr<Literal> EvalFunctionCall(EvalContext& context, std::span<Literal> operands) {
  return MapElements(context, operands,
                     StripForFunctionCall(context.instruction(), context.result_shape().element_type()));
}

}  // namespace assay
