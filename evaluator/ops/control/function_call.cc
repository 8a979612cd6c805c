#include "evaluator/ops/control/function_call.h"

#include <algorithm>

#include "base/counted.h"
#include "evaluator/map_elements.h"
#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/real.h"
#include "evaluator/strips.h"
#include "fmt/format.h"

namespace assay {
namespace {

template <RealFn1 fn>
void ApplyReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [&](double x) { return fn(x, *params.format); });
}
template <RealFn2 fn>
void ApplyReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip2<double, double>(n, in, out, [&](double x, double y) { return fn(x, y, *params.format); });
}
template <ComplexFn1 fn>
void ApplyComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<Complex, Complex>(n, in[0], out, [&](Complex z) { return fn(z, *params.format); });
}

struct FunctionTarget {
  std::string_view name;
  int64_t operands;
  StripFn real;
  StripFn complex = nullptr;
};
constexpr FunctionTarget kFunctionTargets[] = {
    {"chlo.atan", 1, ApplyReal<RealAtan>, ApplyComplex<ComplexAtan>},
    {"chlo.bessel_i1e", 1, ApplyReal<RealBesselI1e>},
    {"chlo.digamma", 1, ApplyReal<RealDigamma>},
    {"chlo.erf_inv", 1, ApplyReal<RealErfInv>},
    {"chlo.erfc", 1, ApplyReal<RealErfc>},
    {"chlo.lgamma", 1, ApplyReal<RealLgamma>},
    {"chlo.next_after", 2, ApplyReals<RealNextAfter>},
    {"chlo.polygamma", 2, ApplyReals<RealPolygamma>},
    {"chlo.zeta", 2, ApplyReals<RealZeta>},
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
  const FunctionTarget& function = *FindFunction(target);
  if (context.num_operands() != function.operands) {
    return InvalidProgram({}, fmt::format("CustomCall: {} takes {}, got {}", target,
                                          Counted(function.operands, "operand"), context.num_operands()));
  }
  for (int64_t i = 0; i < function.operands; ++i) {
    const Shape& operand = context.operand(i);
    const bool takes =
        operand.IsArray() && (IsFloat(operand.element_type()) ||
                              (function.complex != nullptr && IsComplex(operand.element_type())));
    if (!takes) {
      return InvalidProgram(
          {}, fmt::format("CustomCall: operand {} of {} is {}, wanted {}", i, target, operand.ToString(),
                          function.complex != nullptr ? "floats or complex" : "floats"));
    }
    if (!Shape::Compatible(operand, result)) {
      return InvalidProgram({}, fmt::format("CustomCall: {} of {} can't give {}", target, operand.ToString(),
                                            result.ToString()));
    }
  }
  return absl::OkStatus();
}

StripKernel StripForFunctionCall(const Instruction& call, ElementType type) {
  const FunctionTarget& target = *FindFunction(call.attributes.Text(Attr::kCustomCallTarget));
  const ElementType types[] = {type, type};
  return {IsComplex(type) ? target.complex : target.real, ParamsFor(types, type)};
}

absl::StatusOr<Literal> EvalFunctionCall(EvalContext& context, std::span<Literal> operands) {
  return MapElements(context, operands,
                     StripForFunctionCall(context.instruction(), context.result_shape().element_type()));
}

}  // namespace assay
