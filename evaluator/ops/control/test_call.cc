#include "evaluator/ops/control/test_call.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/counted.h"
#include "evaluator/ops/control/call_config.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/element_io.h"
#include "literal/literal_text.h"
#include "shape/index.h"

namespace assay {
namespace {

enum class Kind : uint8_t { kEqual, kAlmostEqual, kClose, kSerialized, kProbe, kPrint };
enum class Gives : uint8_t { kNothing, kPred, kOperand };

struct TestTarget {
  std::string_view name;
  Kind kind;
  int operands;
  Gives gives;
};
constexpr TestTarget kTestTargets[] = {
    {"check.expect_eq", Kind::kEqual, 2, Gives::kNothing},
    {"check.expect_eq_const", Kind::kEqual, 2, Gives::kNothing},
    {"check.eq", Kind::kEqual, 2, Gives::kPred},
    {"check.expect_almost_eq", Kind::kAlmostEqual, 2, Gives::kNothing},
    {"check.expect_almost_eq_const", Kind::kAlmostEqual, 2, Gives::kNothing},
    {"check.expect_close", Kind::kClose, 2, Gives::kNothing},
    {"check.expect_serialized_eq", Kind::kSerialized, 1, Gives::kNothing},
    {"interpreter.probe", Kind::kProbe, 1, Gives::kOperand},
    {"interpreter.print", Kind::kPrint, 1, Gives::kOperand},
};

const TestTarget* FindTest(std::string_view name) {
  const auto known = std::find_if(std::begin(kTestTargets), std::end(kTestTargets),
                                  [&](const TestTarget& t) { return t.name == name; });
  return known == std::end(kTestTargets) ? nullptr : known;
}

// How far apart values may be. A call without the field, as programs write the check as a plain custom call,
// has the reference's value for those.
struct Limits {
  Kind kind = Kind::kEqual;
  double tolerance = 1e-3;
  uint64_t min_ulps = 0, max_ulps = 3;
};

absl::StatusOr<Limits> LimitsOf(const TestTarget& target, const Instruction& call) {
  Limits limits{.kind = target.kind};
  const auto wrong = [&](std::string_view field, std::string_view wanted) {
    return InvalidProgram({}, fmt::format("CustomCall: {} of {} is {}, wanted {}", field, target.name,
                                          *ConfigField(call, field), wanted));
  };
  if (target.kind == Kind::kAlmostEqual && ConfigField(call, "tolerance")) {
    const std::optional<double> value = ConfigNumber(call, "tolerance");
    if (!value || !(*value >= 0)) return wrong("tolerance", "a number that is not negative");
    limits.tolerance = *value;
  }
  if (target.kind != Kind::kClose) return limits;
  for (const auto& [field, limit] :
       {std::pair{"min_ulp_difference", &limits.min_ulps}, {"max_ulp_difference", &limits.max_ulps}}) {
    if (!ConfigField(call, field)) continue;
    const std::optional<int64_t> value = ConfigInteger(call, field);
    if (!value) return wrong(field, "an integer");
    *limit = static_cast<uint64_t>(*value);  // of type ui64, whose upper half is written with a sign
  }
  return limits;
}

// Equal as numbers, both NaN, or of one sign and |found - wanted| <= tolerance, in f64.
bool AlmostEqual(double found, double wanted, double tolerance) {
  if (found == wanted) return true;
  if (std::isnan(found) || std::isnan(wanted)) return std::isnan(found) && std::isnan(wanted);
  if (!std::isfinite(found) || !std::isfinite(wanted)) return false;
  return std::signbit(found) == std::signbit(wanted) && std::fabs(found - wanted) <= tolerance;
}

// 0 for equal bits and for two NaNs; no limit holds for anything else that is not finite.
uint64_t UlpsApart(double found, double wanted, const FloatFormat& format) {
  if (found == wanted || (std::isnan(found) && std::isnan(wanted))) return 0;
  if (!std::isfinite(found) || !std::isfinite(wanted)) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(UlpDistance(found, wanted, format));
}

class Check {
 public:
  Check(const TestTarget& target, Limits limits, ElementType type)
      : target_(target), limits_(limits), type_(type), format_(Info(ComponentType(type)).format) {}

  // Element by element; the error names the first that fails.
  absl::Status Run(EvalContext& context, const Literal& found, const Literal& wanted) const {
    constexpr int64_t kBetweenCharges = 1 << 16;
    const int64_t count = found.shape().num_elements(), bytes = Bytes(type_);
    int64_t failing = 0, first = -1;
    for (int64_t i = 0; i < count; ++i) {
      if (i % kBetweenCharges == 0)
        ASSAY_RETURN_IF_ERROR(context.Charge(std::min(kBetweenCharges, count - i)));
      if (Passes(found.data() + i * bytes, wanted.data() + i * bytes)) continue;
      if (failing++ == 0) first = i;
    }
    if (failing == 0) return absl::OkStatus();
    return ComparisonFailed(Describe(found, wanted, failing, first));
  }

 private:
  bool Passes(const std::byte* found, const std::byte* wanted) const {
    const ScalarValue f = LoadElement(type_, found), w = LoadElement(type_, wanted);
    if (limits_.kind == Kind::kClose) {
      const uint64_t ulps = Ulps(f, w);
      return limits_.min_ulps <= ulps && ulps <= limits_.max_ulps;
    }
    switch (f.kind) {
      case ComputeKind::kBool:
        return f.b == w.b;
      case ComputeKind::kInt64:
        return f.i == w.i;
      case ComputeKind::kUint64:
        return f.u == w.u;
      case ComputeKind::kReal:
        return Near(f.r, w.r);
      default:
        return Near(f.c.real(), w.c.real()) && Near(f.c.imag(), w.c.imag());
    }
  }

  bool Near(double found, double wanted) const {
    return limits_.kind == Kind::kAlmostEqual ? AlmostEqual(found, wanted, limits_.tolerance)
                                              : found == wanted;
  }

  uint64_t Ulps(const ScalarValue& f, const ScalarValue& w) const {
    if (f.kind == ComputeKind::kReal) return UlpsApart(f.r, w.r, *format_);
    return std::max(UlpsApart(f.c.real(), w.c.real(), *format_), UlpsApart(f.c.imag(), w.c.imag(), *format_));
  }

  std::string Describe(const Literal& found, const Literal& wanted, int64_t failing, int64_t first) const {
    const Shape& shape = found.shape();
    std::string text = fmt::format("{}: ", target_.name);
    if (!shape.IsScalar()) {
      DimVector index(static_cast<size_t>(shape.rank()), 0);
      IndexOfPosition(first, shape.sizes(), {index.data(), index.size()});
      text += fmt::format("{} of {} elements differ, the first at [{}]: ", failing, shape.num_elements(),
                          fmt::join(index, ","));
    }
    const std::byte* const f = found.data() + first * Bytes(type_);
    const std::byte* const w = wanted.data() + first * Bytes(type_);
    text += fmt::format("found {}, want {}", ElementToText(type_, f), ElementToText(type_, w));
    if (limits_.kind == Kind::kAlmostEqual) text += fmt::format(" within {}", limits_.tolerance);
    if (limits_.kind != Kind::kClose) return text;
    const uint64_t ulps = Ulps(LoadElement(type_, f), LoadElement(type_, w));
    const std::string apart =
        ulps == std::numeric_limits<uint64_t>::max() ? "not" : fmt::format("{} ulps", ulps);
    return text + (ulps > limits_.max_ulps
                       ? fmt::format(" ({} apart, want at most {})", apart, limits_.max_ulps)
                       : fmt::format(" ({} apart, want at least {})", apart, limits_.min_ulps));
  }

  const TestTarget& target_;
  const Limits limits_;
  const ElementType type_;
  const FloatFormat* const format_;
};

int64_t Iteration(const Instruction& call) { return ConfigInteger(call, "iteration").value_or(0); }

// What the probe saw when it ran for the `iteration`-th time.
absl::StatusOr<Literal> Recorded(EvalContext& context, const Literal& wanted) {
  const std::string id = *ConfigString(context.instruction(), "probe_id");
  const int64_t iteration = Iteration(context.instruction());
  const auto values = context.process().probes.find(id);
  const int64_t count =
      values == context.process().probes.end() ? 0 : static_cast<int64_t>(values->second.size());
  if (iteration >= count) {
    return ComparisonFailed(
        fmt::format("check.expect_serialized_eq: found {} of probe '{}', want one of "
                    "iteration {}",
                    Counted(count, "value"), id, iteration));
  }
  const Literal& value = values->second[static_cast<size_t>(iteration)];
  if (!Shape::Compatible(value.shape(), wanted.shape())) {
    return ComparisonFailed(fmt::format("check.expect_serialized_eq: probe '{}' found {}, want {}", id,
                                        value.shape().ToString(), wanted.shape().ToString()));
  }
  return value;
}

}  // namespace

bool IsTestCall(std::string_view target) { return FindTest(target) != nullptr; }

absl::Status VerifyTestCall(const InferContext& context, const Shape& result) {
  const TestTarget& target = *FindTest(context.attributes().Text(Attr::kCustomCallTarget));
  if (context.num_operands() != target.operands) {
    return InvalidProgram({}, fmt::format("CustomCall: {} takes {}, got {}", target.name,
                                          Counted(target.operands, "operand"), context.num_operands()));
  }
  const Shape& operand = context.operand(0);
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    if (!context.operand(i).IsArray() || !Shape::Compatible(operand, context.operand(i))) {
      return InvalidProgram({}, fmt::format("CustomCall: operand {} of {} is {}, wanted {}", i, target.name,
                                            context.operand(i).ToString(),
                                            operand.IsArray() ? operand.ToString() : "an array"));
    }
  }
  if (operand.HasDynamic()) {
    return NotSupported({}, fmt::format("{} of operands of dynamic shape", target.name));
  }
  const ElementType type = operand.element_type();
  if ((target.kind == Kind::kAlmostEqual || target.kind == Kind::kClose) && !IsFloat(type) &&
      !IsComplex(type)) {
    return InvalidProgram({}, fmt::format("CustomCall: the operands of {} are {}, wanted floats", target.name,
                                          operand.ToString()));
  }
  const bool fits = target.gives == Gives::kPred      ? result.IsScalar(ElementType::kPred)
                    : target.gives == Gives::kOperand ? Shape::Compatible(operand, result)
                                                      : result.IsTuple() && result.elements().empty();
  if (!fits) {
    return InvalidProgram({}, fmt::format("CustomCall: the result of {} of {} is {}", target.name,
                                          operand.ToString(), result.ToString()));
  }
  if (target.kind == Kind::kProbe || target.kind == Kind::kSerialized) {
    const std::optional<std::string> id = ConfigString(context.instruction, "probe_id");
    if (!id) return InvalidProgram({}, fmt::format("CustomCall: {} has no probe_id", target.name));
    if (id->find('\0') != std::string::npos) {  // it names a file in an .npz
      return InvalidProgram({}, fmt::format("CustomCall: probe_id of {} has a zero byte", target.name));
    }
    if (Iteration(context.instruction) < 0)
      return InvalidProgram({}, fmt::format("CustomCall: iteration of {} is negative", target.name));
  }
  return LimitsOf(target, context.instruction).status();
}

absl::StatusOr<Literal> EvalTestCall(EvalContext& context, std::span<Literal> operands) {
  const Instruction& call = context.instruction();
  const TestTarget& target = *FindTest(call.attributes.Text(Attr::kCustomCallTarget));
  if (target.kind == Kind::kPrint) {
    const auto& print = context.options().print;
    if (print) print(context.operand_instruction(0).name, operands[0]);
    return std::move(operands[0]);
  }
  if (target.kind == Kind::kProbe) {
    ASSAY_RETURN_IF_ERROR(context.Keep(operands[0]));
    context.process().probes[*ConfigString(call, "probe_id")].push_back(operands[0]);
    return std::move(operands[0]);
  }
  Literal found = operands[0];
  const Literal wanted = operands[operands.size() - 1];
  if (target.kind == Kind::kSerialized) {
    ASSAY_ASSIGN_OR_RETURN(found, Recorded(context, wanted));
  }
  ASSAY_ASSIGN_OR_RETURN(const Limits limits, LimitsOf(target, call));
  const Check check(target, limits, wanted.shape().element_type());
  ASSAY_RETURN_IF_ERROR(check.Run(context, found, wanted));
  if (target.gives == Gives::kPred) return Literal::ScalarInt(ElementType::kPred, 1);
  return Literal();
}

}  // namespace assay
