// Activations and conversions of results, each step rounded to the type of its operand.
#include <cmath>

#include "base/counted.h"
#include "custom/xla/xla_call.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr double kSqrtTwoOverPi = 0.79788456080286535588, kSqrtHalf = 0.70710678118654752440;

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
WrittenArray GeluTanh(CallWriter& write, const WrittenArray& x) {
  const WrittenArray cube = write.Apply("multiply", write.Apply("multiply", x, x), x);
  const WrittenArray inner = write.Apply("add", x, write.Apply("multiply", cube, 0.044715));
  const WrittenArray tanh = write.Apply("tanh", write.Apply("multiply", inner, kSqrtTwoOverPi));
  return write.Apply("multiply", write.Apply("multiply", x, 0.5), write.Apply("add", tanh, 1.0));
}

// x / 2 (1 + erf(x / sqrt(2)))
WrittenArray GeluErf(CallWriter& write, const WrittenArray& x) {
  const WrittenArray erf = write.Apply("erf", write.Apply("multiply", x, kSqrtHalf));
  return write.Apply("multiply", write.Apply("multiply", x, 0.5), write.Apply("add", erf, 1.0));
}

// x > 0 ? x : negative
WrittenArray WherePositive(CallWriter& write, const WrittenArray& x, const WrittenArray& negative) {
  return write.Select(write.Compare(x, write.Splat(x.type, 0, x.sizes), "GT"), x, negative);
}

}  // namespace

absl::Status XlaCall::CheckOperands(int64_t least, int64_t most) const {
  if (num_operands() >= least && num_operands() <= most) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{}, wanted {}", Counted(num_operands(), "operand"),
                      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
}

ElementType ComputeType(ElementType operand, ElementType result) {
  for (const ElementType type : {ElementType::kC128, ElementType::kC64, ElementType::kF64}) {
    if (operand == type || result == type) return type;
  }
  if (IsIntegral(operand) && IsIntegral(result) && Bits(result) >= 32) return result;
  return ElementType::kF32;
}

WrittenArray Stored(CallWriter& write, const WrittenArray& x, ElementType type) {
  if (x.type == type || IsComplex(x.type)) return write.Convert(x, type);
  if (IsFloat(type) && Bits(type) <= 8) {
    const double most = Info(type).format->max_finite;
    return write.Convert(write.Clamp(x, -most, most), type);
  }
  if (IsIntegral(type) && Bits(type) <= 8) {
    const double values = std::ldexp(1.0, Bits(type));
    const bool is_signed = IsSignedIntegral(type);
    return write.Convert(write.Clamp(x, is_signed ? -values / 2 : 0, is_signed ? values / 2 - 1 : values - 1),
                         type);
  }
  return write.Convert(x, type);
}

absl::StatusOr<WrittenArray> Activated(CallWriter& write, std::string_view name, const WrittenArray& x,
                                       double alpha) {
  if (name == "kNone" || name == "NONE") return x;
  if (name == "kRelu" || name == "RELU") return write.Apply("maximum", x, 0.0);
  if (name == "kRelu6" || name == "RELU6") return write.Clamp(x, 0, 6);
  if (name == "kLeakyRelu") return WherePositive(write, x, write.Apply("multiply", x, alpha));
  if (name == "kSigmoid" || name == "SIGMOID") return write.Apply("logistic", x);
  if (name == "kTanh" || name == "TANH") return write.Apply("tanh", x);
  if (name == "kElu" || name == "ELU") {  // cuDNN's factor is 1
    const WrittenArray e = write.Apply("exponential-minus-one", x);
    return WherePositive(write, x, name == "kElu" || alpha == 1 ? e : write.Apply("multiply", e, alpha));
  }
  if (name == "kGeluExact" || name == "GELU_ERF") return GeluErf(write, x);
  if (name == "GELU" || name == "GELU_TANH") return GeluTanh(write, x);
  if (name == "LINEAR") return write.Apply("multiply", x, alpha);
  return NotSupported({}, fmt::format("activation '{}'", name));
}

}  // namespace assay::custom
