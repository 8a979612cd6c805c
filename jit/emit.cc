// What each op is in vector instructions. Formulas are those of evaluator/ops; here stands how they are had.
//
// bf16 and f16 travel in f32 lanes. Sums, products, quotients and square roots are rounded to f32 first and
// then to 8 or 11 bits: 24 >= 2 p + 2, so the first rounding never shows
// (evaluator/ops/elementwise/binary.cc); subnormal results neither, which are exact or far from any boundary.
#include "jit/emit.h"

#include "base/error.h"

namespace assay::jit {
namespace {

constexpr uint64_t kNaN32 = 0x7fc00000, kNaN64 = 0x7ff8000000000000;
constexpr uint64_t kSign32 = 0x80000000, kSign64 = uint64_t{1} << 63;
constexpr uint64_t kInfinity32 = 0x7f800000, kInfinity64 = 0x7ff0000000000000;
constexpr uint64_t kOne32 = 0x3f800000, kOne64 = 0x3ff0000000000000;

bool IsNarrowFloat(ElementType type) { return type == ElementType::kBF16 || type == ElementType::kF16; }

class Emitter {
 public:
  Emitter(Assembler& a, const Emitted& what)
      : a_(a),
        node_(*what.node),
        d_(what.d),
        x_(what.operands[0]),
        y_(what.operands[1]),
        z_(what.operands[2]),
        type_(what.types[0]),
        result_(node_.type),
        lane_(LaneOf(type_)),
        canonical_(what.canonical) {}

  void Run() {
    switch (node_.opcode) {
      case Opcode::kConvert:
        return Convert();
      case Opcode::kCompare:
        return Compare();
      case Opcode::kSelect:
        return a_.Blend(LaneOf(result_), d_, x_, y_, z_);
      case Opcode::kCopy:
      case Opcode::kReal:
      case Opcode::kBitcastConvert:
        return a_.Move(d_, x_);
      case Opcode::kBroadcast:
        return a_.Spread(lane_, d_, x_, static_cast<int>(node_.a));
      default:
        if (type_ == ElementType::kPred) return Pred();
        if (IsFloat(type_)) return Float();
        return Integer();
    }
  }

 private:
  Vec t(int i) const { return Temporary(a_, i); }
  uint64_t By(uint64_t narrow, uint64_t wide) const { return lane_ == Lane::k32 ? narrow : wide; }
  void Do(VecOp op, Vec d, Vec x, Vec y) { a_.Do(op, lane_, d, x, y); }
  void Constant(Vec d, uint64_t narrow, uint64_t wide) { a_.Constant(lane_, d, By(narrow, wide)); }

  // ---- pred: masks ----

  void Not(Vec d, Vec x) {
    a_.Constant(Lane::k32, t(0), 0xffffffff);
    a_.Do(VecOp::kXor, Lane::k32, d, x, t(0));
  }

  void Pred() {
    switch (node_.opcode) {
      case Opcode::kNot:
        return Not(d_, x_);
      case Opcode::kAnd:
      case Opcode::kMultiply:
      case Opcode::kMinimum:
        return Do(VecOp::kAnd, d_, x_, y_);
      case Opcode::kOr:
      case Opcode::kAdd:
      case Opcode::kMaximum:
        return Do(VecOp::kOr, d_, x_, y_);
      case Opcode::kXor:
        return Do(VecOp::kXor, d_, x_, y_);
      case Opcode::kClamp:
        Do(VecOp::kOr, d_, x_, y_);
        return Do(VecOp::kAnd, d_, d_, z_);
      default:
        ASSAY_CHECK(false);
    }
  }

  void ComparePred() {
    switch (static_cast<Order>(node_.a)) {
      case Order::kEq:
        Do(VecOp::kXor, t(1), x_, y_);
        return Not(d_, t(1));
      case Order::kNe:
        return Do(VecOp::kXor, d_, x_, y_);
      case Order::kLt:
        return Do(VecOp::kAndNot, d_, x_, y_);
      case Order::kGt:
        return Do(VecOp::kAndNot, d_, y_, x_);
      case Order::kLe:
        Not(t(1), x_);
        return Do(VecOp::kOr, d_, t(1), y_);
      case Order::kGe:
        Not(t(1), y_);
        return Do(VecOp::kOr, d_, t(1), x_);
    }
  }

  // ---- comparisons ----

  // Makes integers in the order of sign and magnitude: x ^ (x < 0 ? max : 0).
  void TotalOrderKey(Vec d, Vec x) {
    a_.SignMask(lane_, t(2), x);
    a_.Shift(VecOp::kShiftRight, lane_, t(2), t(2), 1);
    Do(VecOp::kXor, d, x, t(2));
  }

  void Compare() {
    const Order order = static_cast<Order>(node_.a);
    if (type_ == ElementType::kPred) return ComparePred();
    if (IsFloat(type_)) {
      if (!node_.flag) return a_.CompareF(order, lane_, d_, x_, y_);
      TotalOrderKey(t(0), x_);
      TotalOrderKey(t(1), y_);
      return a_.CompareS(order, lane_, d_, t(0), t(1));
    }
    // Narrow unsigned integers are small non-negative ones in their lanes.
    if (IsUnsignedIntegral(type_) && Bits(type_) >= 32) return a_.CompareU(order, lane_, d_, x_, y_);
    a_.CompareS(order, lane_, d_, x_, y_);
  }

  // ---- integers ----

  // d modulo 2^w, extended as the type's lanes are.
  void Wrap(ElementType type, Vec d) {
    const int spare = 32 - Bits(type);
    if (spare <= 0) return;
    a_.Shift(VecOp::kShiftLeft, Lane::k32, d, d, spare);
    a_.Shift(IsSignedIntegral(type) ? VecOp::kShiftRightSigned : VecOp::kShiftRight, Lane::k32, d, d, spare);
  }

  // The pattern of w bits as an unsigned number.
  void Pattern(Vec d, Vec x) {
    if (Bits(type_) >= 32) return a_.Move(d, x);
    a_.Constant(Lane::k32, d, (uint64_t{1} << Bits(type_)) - 1);
    Do(VecOp::kAnd, d, d, x);
  }

  void Integer() {
    const bool is_signed = IsSignedIntegral(type_);
    switch (node_.opcode) {
      case Opcode::kAdd:
        return Do(VecOp::kAddI, d_, x_, y_), Wrap(type_, d_);
      case Opcode::kSubtract:
        return Do(VecOp::kSubI, d_, x_, y_), Wrap(type_, d_);
      case Opcode::kMultiply:
        return Do(VecOp::kMulI, d_, x_, y_), Wrap(type_, d_);
      case Opcode::kMaximum:
        return Do(is_signed ? VecOp::kMaxS : VecOp::kMaxU, d_, x_, y_);
      case Opcode::kMinimum:
        return Do(is_signed ? VecOp::kMinS : VecOp::kMinU, d_, x_, y_);
      case Opcode::kClamp:
        Do(is_signed ? VecOp::kMaxS : VecOp::kMaxU, d_, x_, y_);
        return Do(is_signed ? VecOp::kMinS : VecOp::kMinU, d_, d_, z_);
      case Opcode::kAnd:
        return Do(VecOp::kAnd, d_, x_, y_);
      case Opcode::kOr:
        return Do(VecOp::kOr, d_, x_, y_);
      case Opcode::kXor:
        return Do(VecOp::kXor, d_, x_, y_);
      case Opcode::kNot:
        Constant(t(0), 0xffffffff, ~uint64_t{0});
        return Do(VecOp::kXor, d_, x_, t(0)), Wrap(type_, d_);
      case Opcode::kNegate:
        Constant(t(0), 0, 0);
        return Do(VecOp::kSubI, d_, t(0), x_), Wrap(type_, d_);
      case Opcode::kAbs:
        a_.SignMask(lane_, t(0), x_);
        Do(VecOp::kXor, d_, x_, t(0));
        return Do(VecOp::kSubI, d_, d_, t(0)), Wrap(type_, d_);
      case Opcode::kSign:
        // (x < 0 ? -1 : 0) | (-x < 0 ? 1 : 0); the smallest integer is its own negative.
        Constant(t(0), 0, 0);
        Do(VecOp::kSubI, t(0), t(0), x_);
        a_.SignMask(lane_, t(0), t(0));
        Constant(t(1), 1, 1);
        Do(VecOp::kAnd, t(0), t(0), t(1));
        a_.SignMask(lane_, d_, x_);
        return Do(VecOp::kOr, d_, d_, t(0));
      case Opcode::kShiftLeft:
        Pattern(t(0), y_);
        return Do(VecOp::kShiftLeft, d_, x_, t(0)), Wrap(type_, d_);
      case Opcode::kShiftRightLogical:
        Pattern(t(0), y_);
        Pattern(t(1), x_);
        return Do(VecOp::kShiftRight, d_, t(1), t(0)), Wrap(type_, d_);
      case Opcode::kShiftRightArithmetic:
        Pattern(t(0), y_);
        a_.Move(t(1), x_);
        if (!is_signed && Bits(type_) < 32) {
          a_.Shift(VecOp::kShiftLeft, Lane::k32, t(1), t(1), 32 - Bits(type_));
          a_.Shift(VecOp::kShiftRightSigned, Lane::k32, t(1), t(1), 32 - Bits(type_));
        }
        return Do(VecOp::kShiftRightSigned, d_, t(1), t(0)), Wrap(type_, d_);
      default:
        ASSAY_CHECK(false);
    }
  }

  // ---- floats ----

  void Canonical() {
    if (canonical_) MakeCanonical(a_, result_, d_);
  }

  // An f32 in d, rounded to a narrower format; NaN stays NaN.
  void RoundTo(ElementType type, Vec d) {
    if (type == ElementType::kF16) return a_.Convert(Conversion::kF32ToF16, d, d);
    if (type != ElementType::kBF16) return;
    // Half a unit less one, one more where the kept bits are odd; then the low half is cut off. A NaN might
    // be carried past the last pattern: it is made canonical from what it was.
    a_.Shift(VecOp::kShiftLeft, Lane::k32, t(0), d, 15);
    a_.Shift(VecOp::kShiftRight, Lane::k32, t(0), t(0), 31);
    a_.Constant(Lane::k32, t(1), 0x7fff);
    a_.Do(VecOp::kAddI, Lane::k32, t(0), t(0), t(1));
    a_.Do(VecOp::kAddI, Lane::k32, t(0), t(0), d);
    a_.Shift(VecOp::kShiftRight, Lane::k32, t(0), t(0), 16);
    a_.Shift(VecOp::kShiftLeft, Lane::k32, t(0), t(0), 16);
    a_.SetWhereNaN(Lane::k32, t(0), d, d, kNaN32);
    a_.Move(d, t(0));
  }

  void Rounded() {
    RoundTo(result_, d_);
    Canonical();
  }

  // IEEE maximum: both == : x & y, which is -0 for zeros where both are; then NaN. minimum: x | y.
  void Extreme(bool maximum, Vec d, Vec x, Vec y) {
    a_.CompareF(Order::kEq, lane_, t(0), x, y);
    Do(maximum ? VecOp::kAnd : VecOp::kOr, t(1), x, y);
    Do(maximum ? VecOp::kMaxF : VecOp::kMinF, t(2), x, y);
    a_.Blend(lane_, t(2), t(0), t(1), t(2));
    a_.SetWhereNaN(lane_, t(2), x, y, By(kNaN32, kNaN64));
    a_.Move(d, t(2));
  }

  // Half away from zero: x + 0.5 less one unit, toward zero. The sum carries over an integer exactly where
  // the fraction is a half or more.
  void RoundAway() {
    Constant(t(0), kSign32, kSign64);
    Do(VecOp::kAnd, t(0), t(0), x_);
    Constant(t(1), 0x3effffff, 0x3fdfffffffffffff);
    Do(VecOp::kOr, t(0), t(0), t(1));
    Do(VecOp::kAddF, t(0), t(0), x_);
    a_.Round(lane_, d_, t(0), Rounding::kTowardZero);
    Canonical();
  }

  // x > 0 ? 1 : x < 0 ? -1 : x
  void Sign() {
    Constant(t(0), kSign32, kSign64);
    Do(VecOp::kAnd, t(0), t(0), x_);
    Constant(t(1), kOne32, kOne64);
    Do(VecOp::kOr, t(0), t(0), t(1));
    Constant(t(1), 0, 0);
    a_.CompareF(Order::kEq, lane_, t(2), x_, t(1));
    a_.Blend(lane_, d_, t(2), x_, t(0));
    a_.SetWhereNaN(lane_, d_, x_, x_, By(kNaN32, kNaN64));
  }

  void Float() {
    switch (node_.opcode) {
      case Opcode::kAdd:
        return Do(VecOp::kAddF, d_, x_, y_), Rounded();
      case Opcode::kSubtract:
        return Do(VecOp::kSubF, d_, x_, y_), Rounded();
      case Opcode::kMultiply:
        return Do(VecOp::kMulF, d_, x_, y_), Rounded();
      case Opcode::kDivide:
        return Do(VecOp::kDivF, d_, x_, y_), Rounded();
      case Opcode::kSqrt:
        return a_.Sqrt(lane_, d_, x_), Rounded();
      case Opcode::kMaximum:
        return Extreme(true, d_, x_, y_);
      case Opcode::kMinimum:
        return Extreme(false, d_, x_, y_);
      case Opcode::kClamp:
        Extreme(true, d_, x_, y_);
        return Extreme(false, d_, d_, z_);
      case Opcode::kAbs:
        Constant(t(0), kSign32, kSign64);
        return Do(VecOp::kAndNot, d_, t(0), x_), Canonical();
      case Opcode::kNegate:
        Constant(t(0), kSign32, kSign64);
        return Do(VecOp::kXor, d_, t(0), x_), Canonical();
      case Opcode::kSign:
        return Sign();
      case Opcode::kFloor:
        return a_.Round(lane_, d_, x_, Rounding::kDown), Canonical();
      case Opcode::kCeil:
        return a_.Round(lane_, d_, x_, Rounding::kUp), Canonical();
      case Opcode::kRoundNearestEven:
        return a_.Round(lane_, d_, x_, Rounding::kNearestEven), Canonical();
      case Opcode::kRoundNearestAfz:
        return RoundAway();
      case Opcode::kIsFinite:
        Constant(t(0), kSign32, kSign64);
        Do(VecOp::kAndNot, t(0), t(0), x_);
        Constant(t(1), kInfinity32, kInfinity64);
        return a_.CompareF(Order::kLt, lane_, d_, t(0), t(1));
      default:
        ASSAY_CHECK(false);
    }
  }

  // ---- conversions ----

  void Convert() {
    if (result_ == type_) return a_.Move(d_, x_);
    if (result_ == ElementType::kPred) return ToPred();
    if (type_ == ElementType::kPred) return FromPred();
    if (IsFloat(type_)) return IsFloat(result_) ? FloatToFloat() : FloatToInteger();
    return IsFloat(result_) ? IntegerToFloat() : IntegerToInteger();
  }

  void ToPred() {
    Constant(t(0), 0, 0);
    if (IsFloat(type_)) return a_.CompareF(Order::kNe, lane_, d_, x_, t(0));
    a_.CompareS(Order::kNe, lane_, d_, x_, t(0));
  }

  void FromPred() {
    const Lane lane = LaneOf(result_);
    const bool is_float = IsFloat(result_);
    if (lane == Lane::k32) {
      a_.Constant(lane, t(0), is_float ? kOne32 : 1);
      return a_.Do(VecOp::kAnd, lane, d_, x_, t(0));
    }
    a_.Constant(lane, t(0), is_float ? kOne64 : 1);
    a_.Convert(Conversion::kS32ToS64, d_, x_);
    a_.Do(VecOp::kAnd, lane, d_, d_, t(0));
  }

  void IntegerToInteger() {
    const Lane to = LaneOf(result_);
    if (lane_ == Lane::k32 && to == Lane::k64) {
      return a_.Convert(IsSignedIntegral(type_) ? Conversion::kS32ToS64 : Conversion::kU32ToU64, d_, x_);
    }
    if (lane_ == Lane::k64 && to == Lane::k32) {
      a_.Convert(Conversion::kTruncate, d_, x_);
    } else {
      a_.Move(d_, x_);
    }
    Wrap(result_, d_);
  }

  // f32 and f64 results, and narrower ones of integers that f32 holds exactly: one rounding.
  void IntegerToFloat() {
    const bool is_signed = IsSignedIntegral(type_);
    const bool to_double = result_ == ElementType::kF64;
    if (lane_ == Lane::k64) {
      a_.Convert(to_double ? (is_signed ? Conversion::kS64ToF64 : Conversion::kU64ToF64)
                           : (is_signed ? Conversion::kS64ToF32 : Conversion::kU64ToF32),
                 d_, x_);
    } else if (type_ == ElementType::kU32) {
      a_.Convert(to_double ? Conversion::kU32ToF64 : Conversion::kU32ToF32, d_, x_);
    } else {
      a_.Convert(to_double ? Conversion::kS32ToF64 : Conversion::kS32ToF32, d_, x_);
    }
    RoundTo(result_, d_);
  }

  void FloatToFloat() {
    if (type_ == ElementType::kF64) {
      a_.Convert(Conversion::kF64ToF32, d_, x_);
    } else if (result_ == ElementType::kF64) {
      a_.Convert(Conversion::kF32ToF64, d_, x_);
    } else {
      a_.Move(d_, x_);
    }
    if (!node_.flag) RoundTo(result_, d_);
    Canonical();
  }

  // Converts toward zero, saturated, NaN to 0. For what does not fit the machine gives the smallest
  // (or, in unsigned conversions, the largest) integer.
  void FloatToInteger() {
    if (LaneOf(result_) == Lane::k64) return FloatTo64();
    if (result_ == ElementType::kU32) {
      a_.Convert(Conversion::kF32ToU32, d_, x_);
      a_.Constant(Lane::k32, t(0), 0);
      a_.CompareF(Order::kGt, Lane::k32, t(1), x_, t(0));
      return a_.Do(VecOp::kAnd, Lane::k32, d_, d_, t(1));
    }
    a_.Convert(type_ == ElementType::kF64 ? Conversion::kF64ToS32 : Conversion::kF32ToS32, d_, x_);
    // What is beyond the largest goes from 2^31 to 2^31 - 1.
    Constant(t(0), 0x4f000000, 0x41e0000000000000);
    a_.CompareF(Order::kGe, lane_, t(1), x_, t(0));
    a_.Do(VecOp::kXor, Lane::k32, d_, d_, t(1));
    a_.IsNaN(lane_, t(1), x_);
    a_.Do(VecOp::kAndNot, Lane::k32, d_, t(1), d_);
    if (result_ == ElementType::kS32) return;
    const int bits = Bits(result_) - IsSignedIntegral(result_);
    a_.Constant(Lane::k32, t(0), (uint64_t{1} << bits) - 1);
    a_.Do(VecOp::kMinS, Lane::k32, d_, d_, t(0));
    a_.Constant(Lane::k32, t(0), IsSignedIntegral(result_) ? uint32_t{0} - (uint32_t{1} << bits) : 0);
    a_.Do(VecOp::kMaxS, Lane::k32, d_, d_, t(0));
  }

  void FloatTo64() {
    Vec x = x_;
    if (lane_ == Lane::k32) {
      x = t(2);
      a_.Convert(Conversion::kF32ToF64, x, x_);
    }
    const bool is_signed = result_ == ElementType::kS64;
    a_.Convert(is_signed ? Conversion::kF64ToS64 : Conversion::kF64ToU64, d_, x);
    if (is_signed) {
      a_.Constant(Lane::k64, t(0), 0x43e0000000000000);  // 2^63
      a_.CompareF(Order::kGe, Lane::k64, t(1), x, t(0));
      a_.Constant(Lane::k64, t(0), (uint64_t{1} << 63) - 1);
      a_.Blend(Lane::k64, d_, t(1), t(0), d_);
      return a_.SetWhereNaN(Lane::k64, d_, x, x, 0);
    }
    a_.Constant(Lane::k64, t(0), 0);
    a_.CompareF(Order::kGt, Lane::k64, t(1), x, t(0));
    a_.Blend(Lane::k64, d_, t(1), d_, t(0));
  }

  Assembler& a_;
  const Node& node_;
  const Vec d_, x_, y_, z_;
  const ElementType type_, result_;
  const Lane lane_;  // of operand 0
  const bool canonical_;
};

bool IsArithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kClamp:
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kSign:
      return true;
    default:
      return false;
  }
}

bool IsFloatOp(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDivide:
    case Opcode::kSqrt:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestEven:
    case Opcode::kRoundNearestAfz:
    case Opcode::kIsFinite:
      return true;
    default:
      return IsArithmetic(opcode);
  }
}

bool IsIntegerOp(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return true;
    default:
      return IsArithmetic(opcode);
  }
}

bool IsPredOp(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kClamp:
      return true;
    default:
      return false;
  }
}

// AVX2 has no conversions of 64-bit integers and of u32; nor is there one from f64, or from integers that f32
// does not hold, to 16 bits with a single rounding.
bool CanConvert(ElementType from, ElementType to, bool exact, Isa target) {
  if (from == to || from == ElementType::kPred || to == ElementType::kPred) return true;
  if (IsFloat(from) && IsFloat(to)) return exact || from != ElementType::kF64 || !IsNarrowFloat(to);
  if (!IsFloat(from) && !IsFloat(to)) return true;
  const ElementType integer = IsFloat(from) ? to : from;
  const bool wide = LaneOf(integer) == Lane::k64 || integer == ElementType::kU32;
  if (IsFloat(to) && IsNarrowFloat(to)) return Bits(from) <= 16;
  if (from == ElementType::kF64 && to == ElementType::kU32) return false;
  return !wide || target == Isa::kAvx512;
}

}  // namespace

Lane LaneOf(ElementType type) { return Bits(type) == 64 ? Lane::k64 : Lane::k32; }

bool IsKnown(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64:
      return true;
    default:
      return false;
  }
}

bool CanGenerate(const Node& node, std::span<const ElementType> operands, Isa target) {
  if (!IsKnown(node.type) || operands.empty()) return false;
  for (ElementType type : operands) {
    if (!IsKnown(type)) return false;
  }
  const ElementType type = operands[0];
  switch (node.opcode) {
    case Opcode::kConvert:
      return CanConvert(type, node.type, node.flag, target);
    case Opcode::kCompare:
    case Opcode::kSelect:
    case Opcode::kCopy:
      return true;
    case Opcode::kReal:
      return IsFloat(type);
    case Opcode::kBitcastConvert:  // of lanes that hold the element's own bits
      return Bits(type) == Bits(node.type) && Bits(type) >= 32;
    default:
      if (type == ElementType::kPred) return IsPredOp(node.opcode);
      return IsFloat(type) ? IsFloatOp(node.opcode) : IsIntegerOp(node.opcode);
  }
}

bool IsFloatArithmetic(const Node& node) {
  return IsFloat(node.type) && (node.opcode == Opcode::kConvert || IsFloatOp(node.opcode));
}

bool SeesNaNAlone(const Node& node) {
  if (node.opcode == Opcode::kCompare) return !node.flag;
  return node.opcode == Opcode::kConvert || IsFloatOp(node.opcode);
}

void Emit(Assembler& a, const Emitted& what) { Emitter(a, what).Run(); }

void MakeCanonical(Assembler& a, ElementType type, Vec v) {
  const Lane lane = LaneOf(type);
  a.SetWhereNaN(lane, v, v, v, lane == Lane::k32 ? kNaN32 : kNaN64);
}

}  // namespace assay::jit
