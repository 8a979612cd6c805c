// Functions of one f32, f16 or bf16: engines/native/functions/proven_body.h, operation by operation and with its tables, so
// what was compared there for every argument holds here. Where that asks the function with a rounding test, the element is
// open.
#include <bit>
#include <limits>
#include <optional>

#include "engines/native/functions/coefficients.h"
#include "engines/native/functions/proven_coefficients.h"
#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/lanes.h"
#include "gpu/ptx/turns.h"

namespace assay::gpu {
namespace {

using namespace native;  // NOLINT: the tables

template <size_t n>
std::span<const uint64_t> WordsOf(const double (&table)[n]) {
  return {reinterpret_cast<const uint64_t*>(table), n};
}

class Functions {
 public:
  Functions(Emitter& emitter, Element& x)
      : emitter_(emitter),
        w_(emitter.w),
        elements_(emitter.elements),
        r_(emitter.w, Width::k64),
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

  Register C(double value) { return w_.Double(value); }
  Register Add(Register a, Register b) { return w_.AddF64(a, b); }
  Register Sub(Register a, Register b) { return w_.SubF64(a, b); }
  Register Mul(Register a, Register b) { return w_.MulF64(a, b); }
  Register Div(Register a, Register b) { return w_.DivF64(a, b); }
  Register Fma(Register a, Register b, Register c) { return w_.FmaF64(a, b, c); }
  Register Negative(Register a) { return r_.Xor(a, r_.SignMask()); }
  // x where that is NaN.
  Register Least(double limit, Register x) { return r_.Choose(r_.LtF(C(limit), x), C(limit), x); }
  Register Most(double limit, Register x) { return r_.Choose(r_.GtF(C(limit), x), C(limit), x); }

  // By powers in pairs, as the CPU's vectors add them.
  Register Series(std::span<const double> c, Register x, Register square) {
    if (c.size() == 1) return C(c[0]);
    const Register first = Fma(C(c[1]), x, C(c[0]));
    return c.size() == 2 ? first : Fma(Series(c.subspan(2), x, square), square, first);
  }
  // A table of 16 by the lowest four bits.
  Register LookUp(std::string_view name, std::span<const uint64_t> table, Register index, uint32_t row = 0) {
    const Register at = w_.And32(w_.Low32(index), w_.Constant32(15));
    const Register in_row = row == 0 ? at : w_.Add32(at, w_.Constant32(16 * row));
    return elements_.LookUp("b64", 8, w_.Table(name, table), in_row);
  }

  // ---- results ----

  // The last bit of 24 is one where bits were lost: narrower formats round that as they would round x.
  Register NarrowToOdd(Register x) {
    const Register lost = w_.Constant64((uint64_t{1} << 29) - 1);
    const Register up = w_.Add64(w_.And64(x, lost), lost);
    return w_.NarrowToF32(w_.And64(w_.Or64(x, up), w_.Constant64(~((uint64_t{1} << 29) - 1))));
  }
  Register Narrowed(Register value) {
    return type_ == ElementType::kF32 ? w_.NarrowToF32(value) : NarrowToOdd(value);
  }

  Element Rounded(Register value) { return Rounded(value, {}); }
  Element Rounded(Register value, How how) {
    Register y = Narrowed(value);
    if (how.pole) y = LogarithmSpecial(y, *how.pole);
    return Finished(value, y, how);
  }
  Element Finished(Register value, Register y, How how) {
    if (how.keeps_sign) y = w_.Or32(y, w_.And32(single_, w_.Constant32(uint32_t{1} << 31)));
    if (how.asks && type_ == ElementType::kF32) {
      // Within 64 units of a midpoint of two floats, in the last place of 53 bits.
      constexpr uint64_t kUnits = 64, kMidpoint = uint64_t{1} << 28, kRest = 2 * kMidpoint - 2 * kUnits;
      const Register near =
          w_.And64(w_.Add64(value, w_.Constant64(kMidpoint + kUnits)), w_.Constant64(kRest));
      emitter_.LeaveOpenIf(w_.Eq64(near, w_.Constant64(0)));
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
    const Register k = Sub(shifted, C(kRounder));
    const Register r = Fma(k, C(-kExp16StepRest), Fma(k, C(-kExp16Step), x));
    const Register square = Mul(r, r);
    const Register small = Fma(Series(kExp16Polynomial, r, square), square, r);
    const Register power = LookUp("exp16", kExp16Table, shifted);
    return {w_.Add64(power, w_.Shl64(shifted, w_.Constant32(48))), small};
  }
  Register Clamped() { return Most(-105, Least(105, x_)); }
  // e^x - 1.
  Register MinusOne(const Parts& e) { return Fma(e.scale, e.small, Sub(e.scale, C(1))); }

  Register Exp() {
    const Parts e = Exponential(Clamped());
    return Fma(e.scale, e.small, e.scale);
  }
  Register Expm1() { return MinusOne(Exponential(Clamped())); }
  Register Logistic() {
    const Parts e = Exponential(Negative(Clamped()));
    return Div(C(1), Add(Fma(e.scale, e.small, e.scale), C(1)));
  }
  Register Tanh() {
    const Register magnitude = Least(10, r_.Magnitude(x_));
    const Register power = MinusOne(Exponential(Add(magnitude, magnitude)));
    return Div(power, Add(power, C(2)));
  }
  Register Sinh() {
    const Register power = MinusOne(Exponential(Least(105, r_.Magnitude(x_))));
    return Mul(C(0.5), Add(power, Div(power, Add(power, C(1)))));
  }
  Register Cosh() {
    const Parts e = Exponential(Least(105, r_.Magnitude(x_)));
    const Register power = Fma(e.scale, e.small, e.scale);
    return Mul(C(0.5), Add(power, Div(C(1), power)));
  }

  // ---- log ----

  // log x; where the predicate is known and true, `near_one` is x - 1.
  Register Logarithm(Register x, Register near_one, Register is_near_one) {
    constexpr uint64_t kOne = uint64_t{1023} << 52, kMantissa = (uint64_t{1} << 52) - 1;
    const Register bits = w_.Add64(x, w_.Constant64(kOne - kLog16Start));
    const Register exponent = w_.Or64(w_.ShrU64(bits, w_.Constant32(52)), C(0x1p52));
    const Register m = Sub(exponent, C(0x1p52 + 1023));
    const Register z = w_.Add64(w_.And64(bits, w_.Constant64(kMantissa)), w_.Constant64(kLog16Start));
    const Register index = w_.ShrU64(bits, w_.Constant32(48));
    Register r = Fma(z, LookUp("log16_inverse", WordsOf(kLog16Inverse), index), C(-1));
    if (is_near_one.known()) r = r_.Choose(is_near_one, near_one, r);
    const Register square = Mul(r, r);
    const Register small = Fma(Series(kLog16Polynomial, r, square), square, r);
    return Fma(m, C(kLn2.hi), Add(LookUp("log16", WordsOf(kLog16Table), index), small));
  }
  Register Log1p() {
    const Register near = w_.AndPred(r_.GeF(x_, C(-0x1p-6)), r_.LtF(x_, C(0x1p-5)));
    return Logarithm(Add(x_, C(1)), x_, near);
  }
  Register LogarithmSpecial(Register y, float pole) {
    const Register at = w_.Single(pole), infinity = w_.Single(std::numeric_limits<float>::infinity());
    const Register usual = w_.AndPred(w_.GtF32(single_, at), w_.LtF32(single_, infinity));
    const Register nan = w_.Single(std::numeric_limits<float>::quiet_NaN());
    Register limit = w_.Choose32(infinity, nan, w_.EqF32(single_, infinity));
    limit = w_.Choose32(w_.Single(-std::numeric_limits<float>::infinity()), limit, w_.EqF32(single_, at));
    return w_.Choose32(y, limit, usual);
  }

  // ---- erf, roots ----

  Register Erf() {
    const Register magnitude = Least(15.5 * kErf16Spacing, r_.Magnitude(x_));
    const Register shifted = Fma(magnitude, C(kErf16PerUnit), C(kRounder));
    const Register t = Fma(Sub(C(kRounder), shifted), C(kErf16Spacing), magnitude);
    const std::span<const uint64_t> table(reinterpret_cast<const uint64_t*>(&kErf16[0][0]),
                                          16 * (kErf16Degree + 1));
    Register sum = LookUp("erf16", table, shifted, kErf16Degree);
    for (int j = kErf16Degree - 1; j >= 0; --j)
      sum = Fma(sum, t, LookUp("erf16", table, shifted, static_cast<uint32_t>(j)));
    return sum;
  }

  Element Rsqrt() {
    const Register of_single = w_.DivF32(w_.Single(1), w_.SqrtF32(single_));
    const Register start = w_.WidenF32(of_single);
    const Register h = Fma(Mul(Negative(x_), start), start, C(1));
    const Register value = Fma(Mul(start, h), Fma(h, C(0.375), C(0.5)), start);
    const Register infinity = w_.Single(std::numeric_limits<float>::infinity());
    const Register usual = w_.AndPred(w_.GtF32(single_, w_.Single(0)), w_.LtF32(single_, infinity));
    return Finished(value, w_.Choose32(Narrowed(value), of_single, usual), {});
  }

  // |x| = 2^(3 q + s) z: a polynomial of z and one of Halley's steps.
  Element Cbrt() {
    constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
    const Register bits = r_.Magnitude(x_);
    const Register e = Sub(w_.Or64(w_.ShrU64(bits, w_.Constant32(52)), C(0x1p52)), C(0x1p52 + 1023));
    const Register rounded = Fma(Sub(e, C(1)), C(1 / 3.0), C(kRounder));
    const Register s = Fma(Sub(C(kRounder), rounded), C(3), e);
    const Register mantissa = w_.Or64(w_.And64(bits, w_.Constant64(kMantissa)), C(1.0));
    const Register zero = r_.EqF(s, C(0)), one = r_.EqF(s, C(1));
    const Register power = r_.Choose(zero, C(1), r_.Choose(one, C(2), C(4)));
    const Register root = r_.Choose(zero, C(1), r_.Choose(one, C(kCbrt2.hi), C(kCbrt4.hi)));
    const Register start = Mul(Series(CbrtPolynomial::kSingle, mantissa, Mul(mantissa, mantissa)), root);
    const Register z = Mul(mantissa, power);
    const Register cube = Mul(Mul(start, start), start);
    const Register y = Fma(Negative(start), Div(Sub(cube, z), Fma(C(2), cube, z)), start);
    const Register scale = w_.Shl64(w_.Add64(rounded, w_.Constant64(1023)), w_.Constant32(52));
    const Register value = Mul(y, scale);
    const Register usual =
        w_.AndPred(w_.NeF32(single_, w_.Single(0)), w_.EqF32(w_.SubF32(single_, single_), w_.Single(0)));
    return Finished(value, w_.Choose32(Narrowed(value), single_, usual), {.keeps_sign = true});
  }

  // ---- sin, cos ----

  // x = k quarter turns + r. From 2^18 on, k has too many bits for two parts of pi / 2.
  struct Turns {
    Register k, r;
  };
  Turns TurnsOfArgument() {
    const Register shifted = Fma(x_, C(kQuarters), C(kRounder)), turns = Sub(shifted, C(kRounder));
    const Register k = w_.Copy(shifted);
    const Register r = w_.Copy(Fma(turns, C(-kQuarterRest), Fma(turns, C(-kQuarter), x_)));
    const Register magnitude = r_.Magnitude(x_), infinity = C(std::numeric_limits<double>::infinity());
    const Register finite = r_.LtF(magnitude, infinity);
    if (type_ != ElementType::kF16) {
      const Label usual = w_.NewLabel();
      w_.BranchUnless(w_.AndPred(finite, r_.GeF(magnitude, C(0x1p18))), usual);
      Pairs pairs(w_, elements_, false);
      const Quadrant q = gpu::TurnsOf(w_, pairs, magnitude);
      const Register negative = r_.LtF(x_, C(0));
      w_.Assign(k, r_.Choose(negative, w_.Sub64(w_.Constant64(0), q.k), q.k));
      w_.Assign(r, pairs.SignOf(x_, q.r.hi));
      w_.Place(usual);
    }
    return {k, r_.Choose(finite, r, C(std::numeric_limits<double>::quiet_NaN()))};
  }

  // sin of x and so many quarter turns.
  Register Sine(uint64_t quarters) {
    const auto [turns, r] = TurnsOfArgument();
    const Register k = quarters == 0 ? turns : w_.Add64(turns, w_.Constant64(quarters));
    const Register square = Mul(r, r), fourth = Mul(square, square);
    const Register sine = Mul(r, Fma(Series(kSin6, square, fourth), square, C(1)));
    const Register cosine = Fma(Series(kCos6, square, fourth), fourth, Fma(square, C(-0.5), C(1)));
    const Register odd = w_.Ne64(w_.And64(k, w_.Constant64(1)), w_.Constant64(0));
    const Register sign = w_.Shl64(w_.ShrU64(k, w_.Constant32(1)), w_.Constant32(63));
    return w_.Xor64(r_.Choose(odd, cosine, sine), sign);
  }

  Emitter& emitter_;
  PtxWriter& w_;
  Elements& elements_;
  Reals r_;
  const ElementType type_;
  const Register single_, x_;
};

}  // namespace

Element EmitFunction(Emitter& emitter, const Instruction& instruction, std::span<Element* const> operands) {
  if (operands.size() != 1 || operands[0]->type == ElementType::kF64) return {};
  return Functions(emitter, *operands[0]).Run(instruction.opcode);
}

}  // namespace assay::gpu
