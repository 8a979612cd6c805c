// is-finite, compare, select, clamp (docs/spec/operations-elementwise.md, "Comparison", "Ternary").
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/map_elements.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/shape_rules.h"
#include "evaluator/strips.h"
#include "fmt/format.h"
#include "literal/float_format.h"

namespace assay {
namespace {

absl::StatusOr<Shape> InferIsFinite(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferUnary(context, kFloatTypes));
  ASSAY_ASSIGN_OR_RETURN(shape, WithElementType(shape, ElementType::kPred));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "UNARY-C3"));
  return shape;
}

void IsFiniteReal(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip<uint8_t, double>(n, in[0], out, [](double x) { return static_cast<uint8_t>(std::isfinite(x)); });
}

constexpr KindStrips kIsFiniteStrips = {.real = IsFiniteReal};

}  // namespace

// is-finite: result[i] = operand[i] is neither an infinity nor NaN.
constinit const OpDef ops::IsFinite = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .infer = InferIsFinite,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::IsFinite,
    .audit = audit::Nothing,
    .strip = ByKind<kIsFiniteStrips>,
};

namespace {

enum Direction : int64_t { kEq, kNe, kGe, kGt, kLe, kLt };

std::optional<Direction> DirectionFromText(std::string_view text) {
  constexpr std::string_view kNames[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  for (int64_t i = 0; i < 6; ++i) {
    if (text == kNames[i]) return static_cast<Direction>(i);
  }
  return std::nullopt;
}

// FLOAT for floating and complex types, TOTALORDER for floating ones,
// SIGNED and UNSIGNED for integers, UNSIGNED for pred.
bool TypeFits(std::string_view type, ElementType element) {
  if (type == "FLOAT") return IsFloat(element) || IsComplex(element);
  if (type == "TOTALORDER") return IsFloat(element);
  if (type == "SIGNED") return IsSignedIntegral(element);
  return type == "UNSIGNED" && (IsUnsignedIntegral(element) || element == ElementType::kPred);
}

absl::StatusOr<Shape> InferCompare(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferBinary(context, kArrayTypes));
  const ElementType element = shape.element_type();
  const std::string_view text = context.attributes().Text(Attr::kDirection);
  const std::optional<Direction> direction = DirectionFromText(text);
  if (!direction) {
    return InvalidProgram({}, fmt::format("Compare: direction is {}, wanted EQ, NE, GE, GT, LE or LT", text));
  }
  const std::string_view type = context.attributes().Text(Attr::kType);
  if (context.attributes().Has(Attr::kType) && !TypeFits(type, element)) {
    return InvalidProgram(
        {}, fmt::format("Compare-C2: type {} does not fit element type {}", type, Name(element)));
  }
  if (IsComplex(element) && *direction != kEq && *direction != kNe) {
    return InvalidProgram({}, fmt::format("Compare-C3: direction {} orders {}, which takes EQ and NE alone",
                                          text, Name(element)));
  }
  ASSAY_ASSIGN_OR_RETURN(shape, WithElementType(shape, ElementType::kPred));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "BINARY-C5"));
  return shape;
}

template <typename T, typename Key>
void CompareBy(int64_t direction, int64_t n, const void* const* in, void* out, Key key) {
  const auto map = [&](auto f) {
    MapStrip2<uint8_t, T>(n, in, out, [&](T a, T b) { return static_cast<uint8_t>(f(key(a), key(b))); });
  };
  switch (direction) {
    case kEq:
      return map([](auto a, auto b) { return a == b; });
    case kNe:
      return map([](auto a, auto b) { return a != b; });
    case kGe:
      return map([](auto a, auto b) { return a >= b; });
    case kGt:
      return map([](auto a, auto b) { return a > b; });
    case kLe:
      return map([](auto a, auto b) { return a <= b; });
    case kLt:
      return map([](auto a, auto b) { return a < b; });
  }
}

template <typename T>
void CompareValues(const StripParams& params, int64_t n, const void* const* in, void* out) {
  CompareBy<T>(params.a, n, in, out, [](T x) { return x; });
}

void CompareComplexes(const StripParams& params, int64_t n, const void* const* in, void* out) {
  using Complex = std::complex<double>;
  const bool equal = params.a == kEq;
  MapStrip2<uint8_t, Complex>(n, in, out, [equal](Complex a, Complex b) {
    return static_cast<uint8_t>((a.real() == b.real() && a.imag() == b.imag()) == equal);
  });
}

// Sign and magnitude of the bits as one integer: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
int64_t TotalOrderKey(double x) {
  const int64_t bits = std::bit_cast<int64_t>(x);
  return bits ^ ((bits >> 63) & std::numeric_limits<int64_t>::max());
}

// Decision: total-order-single-nan. The one NaN of a format that has no NaN with a sign is +NaN.
void CompareTotalOrder(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const FloatSpecials specials = Info(params.operand).format->specials;
  if (specials == FloatSpecials::kFnuz || specials == FloatSpecials::kE8M0) {
    CompareBy<double>(params.a, n, in, out,
                      [](double x) { return TotalOrderKey(std::isnan(x) ? std::fabs(x) : x); });
  } else {
    CompareBy<double>(params.a, n, in, out, TotalOrderKey);
  }
}

constexpr KindStrips kCompareStrips = {
    .boolean = CompareValues<uint8_t>,
    .signed_integer = CompareValues<int64_t>,
    .unsigned_integer = CompareValues<uint64_t>,
    .real = CompareValues<double>,
    .complex = CompareComplexes,
};

StripKernel StripForCompare(const Instruction& instruction, std::span<const ElementType> operands,
                            ElementType result) {
  StripKernel kernel = KernelFor(kCompareStrips, operands, result);
  kernel.params.a = DirectionFromText(instruction.attributes.Text(Attr::kDirection)).value_or(kEq);
  if (IsFloat(operands[0]) && instruction.attributes.Text(Attr::kType) == "TOTALORDER") {
    kernel.fn = CompareTotalOrder;
  }
  return kernel;
}

constexpr AttrSpec kCompareAttributes[] = {Required(Attr::kDirection), Optional(Attr::kType)};

}  // namespace

// compare: result[i] = lhs[i] `direction` rhs[i]. type FLOAT is IEEE (NaN unequal to all and unordered, zeros
// equal); TOTALORDER compares sign and magnitude of the bits; false < true.
constinit const OpDef ops::Compare = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kCompareAttributes,
    .infer = InferCompare,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Compare,
    .audit = audit::Compare,
    .strip = StripForCompare,
};

namespace {

// Where the shape is left out, the result lies as pred does, as XLA has it; only E(n) is that of on_true.
void TakeSelectLayout(const Shape& pred, const Shape& on_true, Shape& shape) {
  TakeLayout(pred, shape);
  const std::shared_ptr<const LayoutTail> on_true_tail = on_true.layout().tail;
  if (on_true_tail == nullptr || on_true_tail->element_size_in_bits == 0) return;
  const std::shared_ptr<const LayoutTail> tail = shape.layout().tail;
  auto sized = std::make_shared<LayoutTail>(tail == nullptr ? LayoutTail{} : *tail);
  sized->element_size_in_bits = on_true_tail->element_size_in_bits;
  shape.set_layout({shape.layout().minor_to_major, std::move(sized)});
}

absl::StatusOr<Shape> InferSelect(const InferContext& context) {
  const Shape& pred = context.operand(0);
  const Shape& on_true = context.operand(1);
  const Shape& on_false = context.operand(2);
  if (!pred.IsArray() || pred.element_type() != ElementType::kPred) {
    return InvalidProgram({}, fmt::format("Select-C1: operand 0 is {}, wanted pred", pred.ToString()));
  }
  if (!on_true.IsArray() || !on_false.IsArray() || on_true.element_type() != on_false.element_type() ||
      !SameOrUnboundedDimensions(on_true, on_false)) {
    return InvalidProgram({}, fmt::format("Select-C2: on_true is {} and on_false is {}, wanted arrays of one "
                                          "shape",
                                          on_true.ToString(), on_false.ToString()));
  }
  if (pred.rank() != 0 && !SameOrUnboundedDimensions(pred, on_true)) {
    return InvalidProgram({}, fmt::format("Select-C3: pred is {}, wanted a scalar or the dimensions of {}",
                                          pred.ToString(), on_true.ToString()));
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape, JoinDimensions(on_true, on_false));
  if (pred.rank() == 0) return shape;
  ASSAY_ASSIGN_OR_RETURN(shape, JoinDimensions(shape, pred));
  TakeSelectLayout(pred, on_true, shape);
  return shape;
}

template <typename T>
void SelectValues(const StripParams&, int64_t n, const void* const* in, void* out) {
  const uint8_t* pred = static_cast<const uint8_t*>(in[0]);
  const T* on_true = static_cast<const T*>(in[1]);
  const T* on_false = static_cast<const T*>(in[2]);
  T* result = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) result[i] = pred[i] ? on_true[i] : on_false[i];
}

constexpr KindStrips kSelectStrips = {
    .boolean = SelectValues<uint8_t>,
    .signed_integer = SelectValues<int64_t>,
    .unsigned_integer = SelectValues<uint64_t>,
    .real = SelectValues<double>,
    .complex = SelectValues<std::complex<double>>,
};

StripKernel StripForSelect(const Instruction&, std::span<const ElementType> operands, ElementType result) {
  return KernelFor(kSelectStrips, operands.subspan(1), result);
}

// A scalar pred picks a whole array, which is handed on as it is.
absl::StatusOr<Literal> EvalSelect(EvalContext& context, std::span<Literal> operands) {
  if (operands[0].shape().rank() != 0) return EvalElementwise(context, operands);
  const bool pred = operands[0].GetInt(0) != 0;
  const std::span<Literal> chosen = operands.subspan(pred ? 1 : 2, 1);
  ASSAY_ASSIGN_OR_RETURN(const DimVector sizes, JoinRuntimeSizes(context, chosen));
  Literal result = std::exchange(chosen[0], Literal()).WithShape(context.shared_result_shape());
  SetRuntimeSizes(result, sizes);
  return result;
}

}  // namespace

// select: result[i] = pred[i] ? on_true[i] : on_false[i], bit for bit; a scalar pred decides for all i.
constinit const OpDef ops::Select = {
    .operands = Exactly(3),
    .types = kArrayTypes,
    .infer = InferSelect,
    .eval = EvalSelect,
    .work = work::Elementwise,
    .bound = bound::Select,
    .audit = audit::Nothing,
    .strip = StripForSelect,
    .pass_demand = demand::InPlace<1, 2>,
};

namespace {

absl::Status CheckClampBound(const Shape& bound, const Shape& operand, std::string_view name) {
  if (bound.element_type() != operand.element_type()) {
    return InvalidProgram({}, fmt::format("Clamp-C1: element type of {} is {}, of the operand {}", name,
                                          Name(bound.element_type()), Name(operand.element_type())));
  }
  if (bound.rank() == 0 || SameOrUnboundedDimensions(bound, operand)) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("Clamp-C2: {} is {}, wanted a scalar or the dimensions of {}", name,
                                        bound.ToString(), operand.ToString()));
}

absl::StatusOr<Shape> InferClamp(const InferContext& context) {
  for (int64_t k = 0; k < 3; ++k) {
    if (context.operand(k).IsArray()) continue;
    return InvalidProgram(
        {}, fmt::format("Clamp-C1: operand {} is {}, wanted an array", k, context.operand(k).ToString()));
  }
  const Shape& min = context.operand(0);
  const Shape& operand = context.operand(1);
  const Shape& max = context.operand(2);
  ASSAY_RETURN_IF_ERROR(CheckClampBound(min, operand, "min"));
  ASSAY_RETURN_IF_ERROR(CheckClampBound(max, operand, "max"));
  if (IsComplex(operand.element_type())) {
    return InvalidProgram(
        {}, fmt::format("Clamp-C3: element type {} has no order", Name(operand.element_type())));
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape, WithElementType(operand, operand.element_type()));
  for (const Shape* bound : {&min, &max}) {
    if (bound->rank() == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(shape, JoinDimensions(shape, *bound));
  }
  return shape;
}

template <typename T>
void ClampValues(const StripParams&, int64_t n, const void* const* in, void* out) {
  const T* min = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  const T* max = static_cast<const T*>(in[2]);
  T* result = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const T raised = x[i] > min[i] ? x[i] : min[i];
    result[i] = raised < max[i] ? raised : max[i];
  }
}

void ClampReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const double* min = static_cast<const double*>(in[0]);
  const double* x = static_cast<const double*>(in[1]);
  const double* max = static_cast<const double*>(in[2]);
  double* result = static_cast<double*>(out);
  for (int64_t i = 0; i < n; ++i) result[i] = MinimumOf(MaximumOf(min[i], x[i]), max[i]);
  RoundResult(params, n, out);
}

constexpr KindStrips kClampStrips = {
    .boolean = ClampValues<uint8_t>,
    .signed_integer = ClampValues<int64_t>,
    .unsigned_integer = ClampValues<uint64_t>,
    .real = ClampReals,
};

}  // namespace

// clamp: result[i] = minimum(maximum(min[i], operand[i]), max[i]): NaN anywhere gives NaN, min > max gives
// max.
constinit const OpDef ops::Clamp = {
    .operands = Exactly(3),
    .types = kPredTypes | kIntegralTypes | kFloatTypes,
    .infer = InferClamp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Clamp,
    .audit = audit::Clamp,
    .strip = ByKind<kClampStrips>,
    .pass_demand = demand::InPlace<1>,
};

}  // namespace assay
