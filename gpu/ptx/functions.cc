// Functions of one f32, f16 or bf16: engines/native/functions/proven_body.h, operation by operation and with
// its tables, so what was compared there for every argument holds here. Where that asks the function with a
// rounding test, the element is open.
#include <bit>
#include <limits>
#include <optional>

#include "engines/native/functions/coefficients.h"
#include "engines/native/functions/proven_coefficients.h"
#include "gpu/ptx/doubles.h"
#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/turns.h"

namespace assay::gpu {
namespace {

using namespace native;  // NOLINT: the tables

template <size_t n>
std::span<const uint64_t> WordsOf(const double (&table)[n]) {
  return {reinterpret_cast<const uint64_t*>(table), n};
}

class Functions : Doubles {
 public:
  Functions(Emitter& emitter, Element& x)
      : Doubles(emitter.w),
        emitter_(emitter),
        elements_(emitter.elements),
        type_(x.type),
        single_(emitter.elements.Single(x)),
        x_(emitter.elements.Double(x)) {}

  Element Run(Opcode opcode) {
    switch (opcode) {
      case Opcode::kExp:
        return Rounded(Exp());
      case Opcode::kExpm1:
        return Rounded(Expm1(), {.keeps_sign = true, .asks = true});
      case Opcode::kLogistic:
        return Rounded(Logistic(), {.asks = true});
      case Opcode::kTanh:
        return Rounded(Tanh(), {.keeps_sign = true});
      case Opcode::kSinh:
        return Rounded(Sinh(), {.keeps_sign = true, .asks = true});
      case Opcode::kCosh:
        return Rounded(Cosh());
      case Opcode::kLog:
        return Rounded(Logarithm(x_, x_, {}), {.asks = true, .pole = 0});
      case Opcode::kLog1p:
        return Rounded(Log1p(), {.keeps_sign = true, .asks = true, .pole = -1});
      case Opcode::kErf:
        return Rounded(Erf(), {.keeps_sign = true});
      case Opcode::kRsqrt:
        return Rsqrt();
      case Opcode::kCbrt:
        return Cbrt();
      case Opcode::kSin:
        return Rounded(Sine(0), {.asks = true});
      case Opcode::kCos:
        return Rounded(Sine(1), {.asks = true});
      default:
        return {};
    }
  }

 private:
  struct How {
    bool keeps_sign = false;                   // the result has the sign of x
    bool asks = false;                         // f32 results near a midpoint are open
    std::optional<float> pole = std::nullopt;  // -infinity there, NaN below; infinity has itself
  };

  // By powers in pairs, as the CPU's vectors add them.
  Register Series(std::span<const double> c, Register x, Register square) {
    if (c.size() == 1) return C(c[0]);
    const Register first = Fma(C(c[1]), x, C(c[0]));
    return c.size() == 2 ? first : Fma(Series(c.subspan(2), x, square), square, first);
  }
  // A table of 16 by the lowest four bits.
  Register LookUp(std::string_view name, std::span<const uint64_t> table, Register index, uint32_t row = 0) {
    const Register at = w.And32(w.Low32(index), w.Constant32(15));
    const Register in_row = row == 0 ? at : w.Add32(at, w.Constant32(16 * row));
    return elements_.LookUp("b64", 8, w.Table(name, table), in_row);
  }

  // ---- results ----

  // The last bit of 24 is one where bits were lost: narrower formats round that as they would round x.
  Register NarrowToOdd(Register x) {
    const Register lost = w.Constant64((uint64_t{1} << 29) - 1);
    const Register up = w.Add64(w.And64(x, lost), lost);
    return w.NarrowToF32(w.And64(w.Or64(x, up), w.Constant64(~((uint64_t{1} << 29) - 1))));
  }
  Register Narrowed(Register value) {
    return type_ == ElementType::kF32 ? w.NarrowToF32(value) : NarrowToOdd(value);
  }

  Element Rounded(Register value) { return Rounded(value, {}); }
  Element Rounded(Register value, How how) {
    Register y = Narrowed(value);
    if (how.pole) y = LogarithmSpecial(y, *how.pole);
    return Finished(value, y, how);
  }
  Element Finished(Register value, Register y, How how) {
    if (how.keeps_sign) y = w.Or32(y, w.And32(single_, w.Constant32(uint32_t{1} << 31)));
    if (how.asks && type_ == ElementType::kF32) {
      // Within 64 units of a midpoint of two floats, in the last place of 53 bits.
      constexpr uint64_t kUnits = 64, kMidpoint = uint64_t{1} << 28, kRest = 2 * kMidpoint - 2 * kUnits;
      const Register near = w.And64(w.Add64(value, w.Constant64(kMidpoint + kUnits)), w.Constant64(kRest));
      emitter_.LeaveOpenIf(w.Eq64(near, w.Constant64(0)));
    }
    return elements_.RoundedSingle(type_, y);
  }

  // ---- exp and its kin ----

  // e^x = scale (1 + small).
  struct Parts {
    Register scale, small;
  };
  Parts Exponential(Register x) {
    const Register shifted = Fma(x, C(kExp16Steps), C(kRounder));
    const Register k = Minus(shifted, C(kRounder));
    const Register r = Fma(k, C(-kExp16StepRest), Fma(k, C(-kExp16Step), x));
    const Register square = Times(r, r);
    const Register small = Fma(Series(kExp16Polynomial, r, square), square, r);
    const Register power = LookUp("exp16", kExp16Table, shifted);
    return {w.Add64(power, w.Shl64(shifted, w.Constant32(48))), small};
  }
  Register Clamped() { return AtLeast(AtMost(x_, 105), -105); }
  // e^x - 1.
  Register MinusOne(const Parts& e) { return Fma(e.scale, e.small, Minus(e.scale, C(1))); }

  Register Exp() {
    const Parts e = Exponential(Clamped());
    return Fma(e.scale, e.small, e.scale);
  }
  Register Expm1() { return MinusOne(Exponential(Clamped())); }
  Register Logistic() {
    const Parts e = Exponential(Negated(Clamped()));
    return Over(C(1), Plus(Fma(e.scale, e.small, e.scale), C(1)));
  }
  Register Tanh() {
    const Register magnitude = AtMost(Magnitude(x_), 10);
    const Register power = MinusOne(Exponential(Plus(magnitude, magnitude)));
    return Over(power, Plus(power, C(2)));
  }
  Register Sinh() {
    const Register power = MinusOne(Exponential(AtMost(Magnitude(x_), 105)));
    return Times(C(0.5), Plus(power, Over(power, Plus(power, C(1)))));
  }
  Register Cosh() {
    const Parts e = Exponential(AtMost(Magnitude(x_), 105));
    const Register power = Fma(e.scale, e.small, e.scale);
    return Times(C(0.5), Plus(power, Over(C(1), power)));
  }

  // ---- log ----

  // log x; where the predicate is known and true, `near_one` is x - 1.
  Register Logarithm(Register x, Register near_one, Register is_near_one) {
    constexpr uint64_t kOne = uint64_t{1023} << 52, kMantissa = (uint64_t{1} << 52) - 1;
    const Register bits = w.Add64(x, w.Constant64(kOne - kLog16Start));
    const Register exponent = w.Or64(w.ShrU64(bits, w.Constant32(52)), C(0x1p52));
    const Register m = Minus(exponent, C(0x1p52 + 1023));
    const Register z = w.Add64(w.And64(bits, w.Constant64(kMantissa)), w.Constant64(kLog16Start));
    const Register index = w.ShrU64(bits, w.Constant32(48));
    Register r = Fma(z, LookUp("log16_inverse", WordsOf(kLog16Inverse), index), C(-1));
    if (is_near_one.known()) r = r_.Choose(is_near_one, near_one, r);
    const Register square = Times(r, r);
    const Register small = Fma(Series(kLog16Polynomial, r, square), square, r);
    return Fma(m, C(kLn2.hi), Plus(LookUp("log16", WordsOf(kLog16Table), index), small));
  }
  Register Log1p() {
    const Register near = w.AndPred(r_.GeF(x_, C(-0x1p-6)), r_.LtF(x_, C(0x1p-5)));
    return Logarithm(Plus(x_, C(1)), x_, near);
  }
  Register LogarithmSpecial(Register y, float pole) {
    const Register at = w.Single(pole), infinity = w.Single(std::numeric_limits<float>::infinity());
    const Register usual = w.AndPred(w.GtF32(single_, at), w.LtF32(single_, infinity));
    const Register nan = w.Single(std::numeric_limits<float>::quiet_NaN());
    Register limit = w.Choose32(infinity, nan, w.EqF32(single_, infinity));
    limit = w.Choose32(w.Single(-std::numeric_limits<float>::infinity()), limit, w.EqF32(single_, at));
    return w.Choose32(y, limit, usual);
  }

  // ---- erf, roots ----

  Register Erf() {
    const Register magnitude = AtMost(Magnitude(x_), 15.5 * kErf16Spacing);
    const Register shifted = Fma(magnitude, C(kErf16PerUnit), C(kRounder));
    const Register t = Fma(Minus(C(kRounder), shifted), C(kErf16Spacing), magnitude);
    const std::span<const uint64_t> table(reinterpret_cast<const uint64_t*>(&kErf16[0][0]),
                                          16 * (kErf16Degree + 1));
    Register sum = LookUp("erf16", table, shifted, kErf16Degree);
    for (int j = kErf16Degree - 1; j >= 0; --j)
      sum = Fma(sum, t, LookUp("erf16", table, shifted, static_cast<uint32_t>(j)));
    return sum;
  }

  Element Rsqrt() {
    const Register of_single = w.DivF32(w.Single(1), w.SqrtF32(single_));
    const Register start = w.WidenF32(of_single);
    const Register h = Fma(Times(Negated(x_), start), start, C(1));
    const Register value = Fma(Times(start, h), Fma(h, C(0.375), C(0.5)), start);
    const Register infinity = w.Single(std::numeric_limits<float>::infinity());
    const Register usual = w.AndPred(w.GtF32(single_, w.Single(0)), w.LtF32(single_, infinity));
    return Finished(value, w.Choose32(Narrowed(value), of_single, usual), {});
  }

  // |x| = 2^(3 q + s) z: a polynomial of z and one of Halley's steps.
  Element Cbrt() {
    constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
    const Register bits = r_.Magnitude(x_);
    const Register e = Minus(w.Or64(w.ShrU64(bits, w.Constant32(52)), C(0x1p52)), C(0x1p52 + 1023));
    const Register rounded = Fma(Minus(e, C(1)), C(1 / 3.0), C(kRounder));
    const Register s = Fma(Minus(C(kRounder), rounded), C(3), e);
    const Register mantissa = w.Or64(w.And64(bits, w.Constant64(kMantissa)), C(1.0));
    const Register zero = r_.EqF(s, C(0)), one = r_.EqF(s, C(1));
    const Register power = r_.Choose(zero, C(1), r_.Choose(one, C(2), C(4)));
    const Register root = r_.Choose(zero, C(1), r_.Choose(one, C(kCbrt2.hi), C(kCbrt4.hi)));
    const Register start = Times(Series(CbrtPolynomial::kSingle, mantissa, Times(mantissa, mantissa)), root);
    const Register z = Times(mantissa, power);
    const Register cube = Times(Times(start, start), start);
    const Register y = Fma(Negated(start), Over(Minus(cube, z), Fma(C(2), cube, z)), start);
    const Register scale = w.Shl64(w.Add64(rounded, w.Constant64(1023)), w.Constant32(52));
    const Register value = Times(y, scale);
    const Register usual =
        w.AndPred(w.NeF32(single_, w.Single(0)), w.EqF32(w.SubF32(single_, single_), w.Single(0)));
    return Finished(value, w.Choose32(Narrowed(value), single_, usual), {.keeps_sign = true});
  }

  // ---- sin, cos ----

  // x = k quarter turns + r. From 2^18 on, k has too many bits for two parts of pi / 2.
  struct Turns {
    Register k, r;
  };
  Turns TurnsOfArgument() {
    const Register shifted = Fma(x_, C(kQuarters), C(kRounder)), turns = Minus(shifted, C(kRounder));
    const Register k = w.Copy(shifted);
    const Register r = w.Copy(Fma(turns, C(-kQuarterRest), Fma(turns, C(-kQuarter), x_)));
    const Register magnitude = r_.Magnitude(x_), infinity = C(std::numeric_limits<double>::infinity());
    const Register finite = r_.LtF(magnitude, infinity);
    if (type_ != ElementType::kF16) {
      const Label usual = w.NewLabel();
      w.BranchUnless(w.AndPred(finite, r_.GeF(magnitude, C(0x1p18))), usual);
      Pairs pairs(w, elements_, false);
      const Quadrant q = gpu::TurnsOf(w, pairs, magnitude);
      const Register negative = r_.LtF(x_, C(0));
      w.Assign(k, r_.Choose(negative, w.Sub64(w.Constant64(0), q.k), q.k));
      w.Assign(r, pairs.SignOf(x_, q.r.hi));
      w.Place(usual);
    }
    return {k, r_.Choose(finite, r, C(std::numeric_limits<double>::quiet_NaN()))};
  }

  // sin of x and so many quarter turns.
  Register Sine(uint64_t quarters) {
    const auto [turns, r] = TurnsOfArgument();
    const Register k = quarters == 0 ? turns : w.Add64(turns, w.Constant64(quarters));
    const Register square = Times(r, r), fourth = Times(square, square);
    const Register sine = Times(r, Fma(Series(kSin6, square, fourth), square, C(1)));
    const Register cosine = Fma(Series(kCos6, square, fourth), fourth, Fma(square, C(-0.5), C(1)));
    const Register odd = w.Ne64(w.And64(k, w.Constant64(1)), w.Constant64(0));
    const Register sign = w.Shl64(w.ShrU64(k, w.Constant32(1)), w.Constant32(63));
    return w.Xor64(r_.Choose(odd, cosine, sine), sign);
  }

  Emitter& emitter_;
  Elements& elements_;
  const ElementType type_;
  const Register single_, x_;
};

}  // namespace

Element EmitFunction(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands) {
  if (operands.size() != 1 || operands[0]->type == ElementType::kF64) return {};
  return Functions(emitter, *operands[0]).Run(instruction.opcode);
}

}  // namespace assay::gpu
