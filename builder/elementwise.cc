// Elementwise operations, comparison, choice and conversion (docs/spec/operations-elementwise.md).
#include "builder/internal.h"

namespace assay::builder {
namespace {

XlaOp Unary(Opcode opcode, XlaOp operand, const Accuracy& accuracy = std::nullopt) {
  NewInstruction instruction{opcode, {operand}};
  if (accuracy.has_value()) instruction.attributes.Set(Attr::kResultAccuracy, *accuracy);
  return Emit(operand.builder(), std::move(instruction));
}

XlaOp Binary(Opcode opcode, XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions, AttributeMap attributes = {}) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    auto operands = BroadcastOperands(builder, lhs, rhs, broadcast_dimensions);
    if (!operands.ok()) {
      return WithSuffix(operands.status(),
                        fmt::format(" (in {} of builder '{}')", Name(opcode), builder->name()));
    }
    return builder->Add({opcode, {operands->first, operands->second}, std::move(attributes)});
  });
}

// f(a, f(b, f(c, ...))).
XlaOp RightFold(Ops operands, XlaOp (*f)(XlaOp, XlaOp, Int64s), std::string_view name) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    if (operands.empty()) return InvalidProgram({}, fmt::format("{}: no operands", name));
    XlaOp result = operands.back();
    for (size_t i = operands.size() - 1; i > 0; --i) result = f(operands[i - 1], result, {});
    return result;
  });
}

std::string_view Text(ComparisonDirection direction) {
  static constexpr std::string_view kNames[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  return kNames[static_cast<int>(direction)];
}
std::string_view Text(ComparisonType type) {
  static constexpr std::string_view kNames[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  return kNames[static_cast<int>(type)];
}

// Compares in total order where the operands are floating, else plainly.
XlaOp CompareTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions, ComparisonDirection direction) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, lhs, "Compare"));
    const auto type = IsFloat(shape->element_type()) ? ComparisonType::kTotalOrder : ComparisonType::kDefault;
    return Compare(lhs, rhs, broadcast_dimensions, direction, type);
  });
}

// Select over tuples: both branches are the identity.
absl::StatusOr<XlaOp> SelectTuples(XlaBuilder* builder, XlaOp pred, XlaOp on_true, XlaOp on_false) {
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(on_true));
  ASSAY_ASSIGN_OR_RETURN(const Shape* pred_shape, builder->GetShapePtr(pred));
  ASSAY_ASSIGN_OR_RETURN(const Shape* false_shape, builder->GetShapePtr(on_false));
  if (!pred_shape->IsScalar(ElementType::kPred)) {
    return InvalidProgram(
        {}, fmt::format("Select-C1: of tuples the predicate must be pred[], is {}", pred_shape->ToString()));
  }
  if (!Shape::Compatible(shape, *false_shape)) {
    return InvalidProgram({}, fmt::format("Select-C2: on_true is {}, on_false is {}", shape.ToString(),
                                          false_shape->ToString()));
  }
  XlaBuilder identity("identity");
  Parameter(&identity, 0, shape, "x");
  ASSAY_ASSIGN_OR_RETURN(const XlaComputation computation, identity.Build());
  return Conditional(pred, on_true, computation, on_false, computation);
}

absl::StatusOr<XlaOp> AddConverted(XlaBuilder* builder, Opcode opcode, std::vector<XlaOp> operands,
                                   const Shape& from, ElementType type) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, from.sizes()));
  for (int64_t d = 0; d < from.rank(); ++d) shape.set_dynamic(d, from.is_dynamic(d));
  return builder->Add({opcode, std::move(operands), {}, Shared(std::move(shape))});
}

// BitcastConvertType-C4 to C6: a last dimension holds the parts of the wider type.
absl::StatusOr<Shape> BitcastShape(const Shape& from, ElementType type) {
  const auto width = [](ElementType t) { return t == ElementType::kPred ? 8 : Bits(t); };
  const int old_bits = width(from.element_type()), new_bits = width(type);
  Ints sizes(from.sizes().begin(), from.sizes().end());
  if (old_bits > new_bits) {
    sizes.push_back(old_bits / new_bits);
  } else if (old_bits < new_bits) {
    if (sizes.empty() || sizes.back() != new_bits / old_bits) {
      return InvalidProgram(
          {}, fmt::format("BitcastConvertType-C5: operand is {}, its last size must be {} for {}",
                          from.ToString(), new_bits / old_bits, Name(type)));
    }
    sizes.pop_back();
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(type, sizes));
  for (int64_t d = 0; d < std::min(from.rank(), shape.rank()); ++d) shape.set_dynamic(d, from.is_dynamic(d));
  return shape;
}

}  // namespace

XlaOp Abs(XlaOp operand) { return Unary(Opcode::kAbs, operand); }
XlaOp Acos(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kAcos, operand, accuracy); }
XlaOp Acosh(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kAcosh, operand, accuracy); }
XlaOp Asin(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kAsin, operand, accuracy); }
XlaOp Asinh(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kAsinh, operand, accuracy); }
XlaOp Atanh(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kAtanh, operand, accuracy); }
XlaOp Cbrt(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kCbrt, operand, accuracy); }
XlaOp Ceil(XlaOp operand) { return Unary(Opcode::kCeil, operand); }
XlaOp Clz(XlaOp operand) { return Unary(Opcode::kClz, operand); }
XlaOp Cos(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kCos, operand, accuracy); }
XlaOp Cosh(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kCosh, operand, accuracy); }
XlaOp Erf(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kErf, operand, accuracy); }
XlaOp Exp(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kExp, operand, accuracy); }
XlaOp Expm1(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kExpm1, operand, accuracy); }
XlaOp Floor(XlaOp operand) { return Unary(Opcode::kFloor, operand); }
XlaOp Imag(XlaOp operand) { return Unary(Opcode::kImag, operand); }
XlaOp IsFinite(XlaOp operand) { return Unary(Opcode::kIsFinite, operand); }
XlaOp Log(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kLog, operand, accuracy); }
XlaOp Log1p(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kLog1p, operand, accuracy); }
XlaOp Logistic(XlaOp operand, const Accuracy& accuracy) {
  return Unary(Opcode::kLogistic, operand, accuracy);
}
XlaOp Neg(XlaOp operand) { return Unary(Opcode::kNegate, operand); }
XlaOp Not(XlaOp operand) { return Unary(Opcode::kNot, operand); }
XlaOp PopulationCount(XlaOp operand) { return Unary(Opcode::kPopulationCount, operand); }
XlaOp Real(XlaOp operand) { return Unary(Opcode::kReal, operand); }
XlaOp Round(XlaOp operand) { return RoundNearestAfz(operand); }
XlaOp RoundNearestAfz(XlaOp operand) { return Unary(Opcode::kRoundNearestAfz, operand); }
XlaOp RoundNearestEven(XlaOp operand) { return Unary(Opcode::kRoundNearestEven, operand); }
XlaOp Rsqrt(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kRsqrt, operand, accuracy); }
XlaOp Sign(XlaOp operand) { return Unary(Opcode::kSign, operand); }
XlaOp Sin(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kSin, operand, accuracy); }
XlaOp Sinh(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kSinh, operand, accuracy); }
XlaOp Sqrt(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kSqrt, operand, accuracy); }
XlaOp Tan(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kTan, operand, accuracy); }
XlaOp Tanh(XlaOp operand, const Accuracy& accuracy) { return Unary(Opcode::kTanh, operand, accuracy); }

// complex(real(x), -imag(x)); UNARY-C2 on real types.
XlaOp Conj(XlaOp operand) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "UNARY-C1"));
    if (!IsComplex(shape->element_type())) {
      return InvalidProgram({},
                            fmt::format("UNARY-C2: conj of {}, wanted a complex type", shape->ToString()));
    }
    return Complex(Real(operand), Neg(Imag(operand)));
  });
}

XlaOp Add(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kAdd, lhs, rhs, broadcast_dimensions);
}
XlaOp And(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kAnd, lhs, rhs, broadcast_dimensions);
}
XlaOp Atan2(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kAtan2, lhs, rhs, broadcast_dimensions);
}
XlaOp Complex(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kComplex, lhs, rhs, broadcast_dimensions);
}
XlaOp Div(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kDivide, lhs, rhs, broadcast_dimensions);
}
XlaOp Max(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kMaximum, lhs, rhs, broadcast_dimensions);
}
XlaOp Min(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kMinimum, lhs, rhs, broadcast_dimensions);
}
XlaOp Mul(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kMultiply, lhs, rhs, broadcast_dimensions);
}
XlaOp Mulhi(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kMulhi, lhs, rhs, broadcast_dimensions);
}
XlaOp Or(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kOr, lhs, rhs, broadcast_dimensions);
}
XlaOp Pow(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kPower, lhs, rhs, broadcast_dimensions);
}
XlaOp Rem(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kRemainder, lhs, rhs, broadcast_dimensions);
}
XlaOp ShiftLeft(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kShiftLeft, lhs, rhs, broadcast_dimensions);
}
XlaOp ShiftRightArithmetic(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kShiftRightArithmetic, lhs, rhs, broadcast_dimensions);
}
XlaOp ShiftRightLogical(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kShiftRightLogical, lhs, rhs, broadcast_dimensions);
}
XlaOp Sub(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kSubtract, lhs, rhs, broadcast_dimensions);
}
XlaOp Xor(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Binary(Opcode::kXor, lhs, rhs, broadcast_dimensions);
}

XlaOp AndAll(Ops operands) { return RightFold(operands, And, "and"); }
XlaOp OrAll(Ops operands) { return RightFold(operands, Or, "or"); }

XlaOp Compare(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions, ComparisonDirection direction,
              ComparisonType type) {
  AttributeMap attributes = Attributes({{Attr::kDirection, Word{std::string(Text(direction))}}});
  if (type != ComparisonType::kDefault) attributes.Set(Attr::kType, Word{std::string(Text(type))});
  return Binary(Opcode::kCompare, lhs, rhs, broadcast_dimensions, std::move(attributes));
}
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction) {
  return Compare(lhs, rhs, {}, direction);
}

XlaOp Eq(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::kEq);
}
XlaOp Ne(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::kNe);
}
XlaOp Ge(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::kGe);
}
XlaOp Gt(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::kGt);
}
XlaOp Le(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::kLe);
}
XlaOp Lt(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::kLt);
}
XlaOp EqTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::kEq);
}
XlaOp NeTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::kNe);
}
XlaOp GeTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::kGe);
}
XlaOp GtTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::kGt);
}
XlaOp LeTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::kLe);
}
XlaOp LtTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions) {
  return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::kLt);
}

XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max) {
  return Emit(BuilderOf({min, operand, max}), {Opcode::kClamp, {min, operand, max}});
}

XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false) {
  XlaBuilder* const builder = BuilderOf({pred, on_true, on_false});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, builder->GetShapePtr(on_true));
    if (shape->IsTuple()) return SelectTuples(builder, pred, on_true, on_false);
    return builder->Add({Opcode::kSelect, {pred, on_true, on_false}});
  });
}

// A complex operand loses its imaginary part first if the result is not complex.
XlaOp ConvertElementType(XlaOp operand, ElementType new_element_type) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "ConvertElementType-C1"));
    XlaOp from = operand;
    if (IsComplex(shape->element_type()) && !IsComplex(new_element_type)) {
      ASSAY_ASSIGN_OR_RETURN(from, builder->Add({Opcode::kReal, {operand}}));
    }
    return AddConverted(builder, Opcode::kConvert, {from}, *shape, new_element_type);
  });
}

XlaOp BitcastConvertType(XlaOp operand, ElementType new_element_type) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "BitcastConvertType-C1"));
    ASSAY_ASSIGN_OR_RETURN(Shape result, BitcastShape(*shape, new_element_type));
    return builder->Add({Opcode::kBitcastConvert, {operand}, {}, Shared(std::move(result))});
  });
}

XlaOp StochasticConvertType(XlaOp operand, XlaOp random, ElementType new_element_type) {
  XlaBuilder* const builder = BuilderOf({operand, random});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "StochasticConvertType-C1"));
    return AddConverted(builder, Opcode::kStochasticConvert, {operand, random}, *shape, new_element_type);
  });
}

XlaOp ReducePrecision(XlaOp operand, int64_t exponent_bits, int64_t mantissa_bits) {
  return Emit(operand.builder(),
              {Opcode::kReducePrecision,
               {operand},
               Attributes({{Attr::kExponentBits, exponent_bits}, {Attr::kMantissaBits, mantissa_bits}})});
}

}  // namespace assay::builder
