// Floats: arithmetic, rounding to integers, extremes, remainders, reduce-precision.
//
// f32 and f64 are computed as they are. Narrower floats are computed in f64 and rounded once more, which is
// one rounding of the exact result (evaluator/ops/elementwise/binary.cc says why), or in f32 where that is as
// good: sums of f16 and bf16, of which 24 bits are 2 p + 2 or more and subnormal ones are exact; products of
// f16, which f32 holds; and results that are values of the type.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/lanes.h"
#include "literal/float_format.h"

namespace assay::gpu {
namespace {

// How a result is had from operands: in f32 or f64, where a value of the type comes out
// or where it must be rounded.
enum class In : uint8_t { kExact, kF32, kF64 };

In SumIn(ElementType type) {
  const bool half = type == ElementType::kF16 || type == ElementType::kBF16;
  return half || type == ElementType::kF32 ? In::kF32 : In::kF64;
}
In ProductIn(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kF32 ? In::kF32 : In::kF64;
}
In QuotientIn(ElementType type) { return type == ElementType::kF32 ? In::kF32 : In::kF64; }

class Floats {
 public:
  Floats(Emitter& emitter, ElementType type, std::span<Element* const> operands)
      : emitter_(emitter), w_(emitter.w), elements_(emitter.elements), type_(type), operands_(operands) {}

  Element Unary(const Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::kNegate:
        return Apply(In::kExact, [](Reals& r, Register x) { return r.Xor(x, r.SignMask()); });
      case Opcode::kAbs:
        return Apply(In::kExact, [](Reals& r, Register x) { return r.Magnitude(x); });
      case Opcode::kSign:
        return Apply(In::kExact, [](Reals& r, Register x) {
          const Register negative = r.Choose(r.LtF(x, r.Value(0)), r.Value(-1), x);
          return r.Choose(r.GtF(x, r.Value(0)), r.Value(1), negative);
        });
      case Opcode::kFloor:
        return Apply(In::kExact, [](Reals& r, Register x) { return r.Floor(x); });
      case Opcode::kCeil:
        return Apply(In::kExact, [](Reals& r, Register x) { return r.Ceil(x); });
      case Opcode::kRoundNearestEven:
        return Apply(In::kExact, [](Reals& r, Register x) { return r.Even(x); });
      case Opcode::kRoundNearestAfz:
        return Apply(In::kExact, [](Reals& r, Register x) {
          const Register magnitude = r.Magnitude(x), whole = r.Trunc(magnitude);
          const Register up = r.GeF(r.SubF(magnitude, whole), r.Value(0.5));
          return r.WithSign(x, r.Choose(up, r.AddF(whole, r.Value(1)), whole));
        });
      case Opcode::kSqrt:
        return Apply(QuotientIn(type_), [](Reals& r, Register x) { return r.Sqrt(x); });
      case Opcode::kReal:
        return *operands_[0];
      case Opcode::kImag:
        return Apply(In::kExact, [](Reals& r, Register) { return r.Value(0); });
      case Opcode::kIsFinite:
        return IsFinite();
      case Opcode::kReducePrecision:
        return ReducePrecision(instruction.attributes.Int(Attr::kExponentBits),
                               instruction.attributes.Int(Attr::kMantissaBits));
      default:
        return {};
    }
  }

  Element Binary(Opcode opcode) {
    switch (opcode) {
      case Opcode::kAdd:
        return Apply2(SumIn(type_), [](Reals& r, Register x, Register y) { return r.AddF(x, y); });
      case Opcode::kSubtract:
        return Apply2(SumIn(type_), [](Reals& r, Register x, Register y) { return r.SubF(x, y); });
      case Opcode::kMultiply:
        return Apply2(ProductIn(type_), [](Reals& r, Register x, Register y) { return r.MulF(x, y); });
      case Opcode::kDivide:
        return Apply2(QuotientIn(type_), [](Reals& r, Register x, Register y) { return r.DivF(x, y); });
      case Opcode::kMaximum:
        return Apply2(In::kExact, [](Reals& r, Register x, Register y) { return Extreme(r, x, y, true); });
      case Opcode::kMinimum:
        return Apply2(In::kExact, [](Reals& r, Register x, Register y) { return Extreme(r, x, y, false); });
      case Opcode::kRemainder:
        return elements_.Rounded(type_, Remainder());
      default:
        return {};
    }
  }

  Element Clamp() {
    Reals r(w_, WidthIn(In::kExact));
    const Register raised = Extreme(r, Get(0, In::kExact), Get(1, In::kExact), true);
    return Result(In::kExact, Extreme(r, raised, Get(2, In::kExact), false));
  }

 private:
  Width WidthIn(In in) const {
    return type_ == ElementType::kF64 || in == In::kF64 ? Width::k64 : Width::k32;
  }
  Register Get(size_t k, In in) {
    return WidthIn(in) == Width::k64 ? elements_.Double(*operands_[k]) : elements_.Single(*operands_[k]);
  }
  Element Result(In in, Register value) {
    if (value.width == Width::k64) return elements_.Rounded(type_, value);
    return in == In::kExact ? elements_.Exact(type_, value) : elements_.RoundedSingle(type_, value);
  }
  template <typename F>
  Element Apply(In in, F f) {
    Reals r(w_, WidthIn(in));
    return Result(in, f(r, Get(0, in)));
  }
  template <typename F>
  Element Apply2(In in, F f) {
    Reals r(w_, WidthIn(in));
    const Register x = Get(0, in), y = Get(1, in);
    return Result(in, f(r, x, y));
  }

  // NaN wins, -0 < +0: of equal numbers that are not one, the zeros, both signs or one are negative.
  static Register Extreme(Reals& r, Register x, Register y, bool maximum) {
    const Register first = maximum ? r.GtF(x, y) : r.LtF(x, y);
    const Register chosen = r.Choose(first, x, y);
    const Register alike = maximum ? r.And(x, y) : r.Or(x, y);
    const Register settled = r.Choose(r.EqF(x, y), alike, chosen);
    return r.Choose(r.NaNF(x, y), r.Value(std::numeric_limits<double>::quiet_NaN()), settled);
  }

  Element IsFinite() {
    Reals r(w_, WidthIn(In::kExact));
    const Register magnitude = r.Magnitude(Get(0, In::kExact));
    return elements_.OfPattern(ElementType::kPred,
                               r.LtF(magnitude, r.Value(std::numeric_limits<double>::infinity())));
  }

  // fmod. As long as r = |x| is |y| or more, a multiple of s = |y| 2^k is taken off it, k such that the
  // quotient q has at most 52 bits: r - q s is a multiple of the last place of s and smaller than s,
  // so it is exact.
  Register Remainder() {
    Reals r(w_, Width::k64);
    const Register x = elements_.Double(*operands_[0]), y = elements_.Double(*operands_[1]);
    const Register start = r.Magnitude(x), divisor = r.Magnitude(y);
    Register invalid =
        w_.OrPred(r.EqF(divisor, r.Value(0)), r.EqF(start, r.Value(std::numeric_limits<double>::infinity())));
    invalid = w_.OrPred(invalid, r.NaNF(x, y));
    // The exponents of subnormal numbers are not what their fields say.
    if (type_ == ElementType::kF64) {
      const Register small = r.LtF(divisor, r.Value(std::numeric_limits<double>::min()));
      emitter_.LeaveOpenIf(w_.AndPred(small, w_.NotPred(invalid)));
      invalid = w_.OrPred(invalid, small);
    }
    const Register nan = r.Value(std::numeric_limits<double>::quiet_NaN());
    const Register rest = w_.Copy(r.Choose(invalid, nan, start));
    const Label again = w_.NewLabel(), done = w_.NewLabel();
    w_.Place(again);
    w_.BranchUnless(r.GeF(rest, divisor), done);
    w_.Assign(rest, ReducedOnce(r, rest, divisor));
    w_.Branch(again);
    w_.Place(done);
    return r.WithSign(x, rest);
  }
  Register ReducedOnce(Reals& r, Register rest, Register divisor) {
    constexpr uint64_t kExponents = uint64_t{0x7ff} << 52, kMost = uint64_t{50} << 52;
    const Register mask = w_.Constant64(kExponents), zero = w_.Constant64(0);
    const Register apart = w_.Sub64(w_.And64(rest, mask), w_.And64(divisor, mask));
    const Register beyond = w_.Sub64(apart, w_.Constant64(kMost));
    const Register scaled = w_.Add64(divisor, r.Choose(w_.GtS64(beyond, zero), beyond, zero));
    const Register quotient = r.Trunc(r.DivF(rest, scaled));
    const Register left = w_.FmaF64(r.Xor(quotient, r.SignMask()), scaled, rest);
    return r.Choose(r.LtF(left, r.Value(0)), r.AddF(left, scaled), left);
  }

  // On the bits, which of positive finite values count up without gaps
  // (evaluator/ops/elementwise/convert.cc).
  Element ReducePrecision(int64_t exponent_bits, int64_t mantissa_bits) {
    const FloatFormat& format = *Info(type_).format;
    const auto pattern_of = [&](double value) { return EncodeFloat(value, format); };
    Words words(w_, WidthOf(type_));
    const Register bits = elements_.Pattern(*operands_[0]);
    const Register sign_mask = words.Constant(uint64_t{1} << (format.bits - 1));
    const Register magnitude = words.And(bits, words.Constant((uint64_t{1} << (format.bits - 1)) - 1));
    const uint64_t infinity_bits = pattern_of(std::numeric_limits<double>::infinity());
    const Register infinity = words.Constant(infinity_bits), zero = words.Constant(0);
    Register value = magnitude;
    if (mantissa_bits < format.mantissa_bits) {
      const auto dropped = static_cast<uint32_t>(format.mantissa_bits - mantissa_bits);
      const Register places = w_.Constant32(dropped);
      const Register odd = words.And(words.ShrU(value, places), words.Constant(1));
      value = words.Add(words.Add(value, words.Constant((uint64_t{1} << (dropped - 1)) - 1)), odd);
      value = words.Shl(words.ShrU(value, places), places);
      value = words.Choose(words.GeU(value, infinity), infinity, value);
    }
    if (exponent_bits < format.exponent_bits) {
      const int bias = (1 << (exponent_bits - 1)) - 1;
      const Register most = words.Constant(pattern_of(std::ldexp(1.0, bias + 1)));
      const Register least = words.Constant(pattern_of(std::ldexp(1.0, 1 - bias)));
      value = words.Choose(words.GeU(value, most), infinity, value);
      value = words.Choose(words.LtU(value, least), zero, value);
    }
    value = words.Choose(words.GeU(magnitude, infinity), infinity, value);
    value = words.Or(value, words.And(bits, sign_mask));
    const Register nan = words.Constant(format.nan_bits);
    return elements_.OfPattern(type_, words.Choose(words.GtU(magnitude, infinity), nan, value));
  }

  Emitter& emitter_;
  PtxWriter& w_;
  Elements& elements_;
  const ElementType type_;
  const std::span<Element* const> operands_;
};

}  // namespace

Element EmitFloats(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands) {
  Floats floats(emitter, operands[0]->type, operands);
  if (operands.size() == 1) return floats.Unary(instruction);
  if (operands.size() == 2) return floats.Binary(instruction.opcode);
  return instruction.opcode == Opcode::kClamp ? floats.Clamp() : Element{};
}

}  // namespace assay::gpu
