// Functions whose rounding the kernel tests: those of f64, and of narrower floats those that functions.cc has
// not. Formulas and bounds are those of engines/native/functions (exponential.h,
// logarithm.h, circular.h, arc.h, roots.cc, error_function.cc, power.cc), where their errors are derived:
// sums of two doubles for f64, doubles for the others. Elements whose bounds round apart are open, and so are
// arguments for which the formulas do not hold, but for those that programs are full of: zeros,
// infinities, what overflows.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "engines/native/functions/coefficients.h"
#include "engines/native/functions/functions.h"
#include "evaluator/scalar/real.h"
#include "gpu/ptx/elementwise.h"
#include "gpu/ptx/turns.h"
#include "literal/float_format.h"

namespace assay::gpu {
namespace {

using namespace native;  // NOLINT: the tables

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNormal = std::numeric_limits<double>::min();
constexpr double kSmallest = 0x1p-960;  // below this, the low parts of approximations lose bits

class TestedFunctions {
 public:
  TestedFunctions(Emitter& emitter, std::span<Element* const> operands)
      : emitter_(emitter),
        w_(emitter.w),
        elements_(emitter.elements),
        type_(operands[0]->type),
        format_(*Info(type_).format),
        p_(emitter.w, emitter.elements, type_ == ElementType::kF64),
        x_(emitter.elements.Double(*operands[0])) {
    if (operands.size() == 2) y_ = emitter.elements.Double(*operands[1]);
  }

  Element Run(Opcode opcode) {
    const FunctionRow* const row = FindFunction(opcode);
    if (row == nullptr || (row->reference2 != nullptr) != y_.known()) return {};
    known_ = w_.NotPred(w_.False());
    const Approximate value = Of(opcode);
    if (!value.hi.known()) return {};
    return Tested(*row, value);
  }

 private:
  // ---- the test ----

  // A result that is known without the formula.
  struct Settled {
    Register where, value;
  };
  void Settle(Register where, Register value) { settled_.push_back({where, value}); }
  void Settle(Register where, double value) { Settle(where, p_.C(value)); }
  // The formula holds there alone.
  void Know(Register where) { known_ = w_.AndPred(known_, where); }

  Element Tested(const FunctionRow& row, Approximate value) {
    if (!y_.known()) {
      const Register outside = w_.NotPred(Between(row.domain_low, x_, row.domain_high));
      Settle(outside, std::numeric_limits<double>::quiet_NaN());
      if (row.keeps_zeros) Settle(w_.EqF64(x_, p_.C(0)), x_);
    }
    const double bound = p_.twofold() ? row.bounds.twofold : row.bounds.single;
    Register open = w_.NotPred(known_), result;
    if (p_.twofold()) {
      const Register error = p_.Times(p_.Magnitude(value.hi), p_.C(bound));
      const Register below = p_.Plus(value.hi, p_.Minus(value.lo, error));
      result = p_.Plus(value.hi, p_.Plus(value.lo, error));
      open = w_.OrPred(open, w_.NeF64(below, result));
      open = w_.OrPred(open, w_.NotPred(w_.GeF64(p_.Magnitude(value.hi), p_.C(kSmallest))));
    } else {
      Element below = elements_.Rounded(type_, p_.Times(value.hi, p_.C(1 - bound)));
      Element above = elements_.Rounded(type_, p_.Times(value.hi, p_.C(1 + bound)));
      result = elements_.Double(above);
      open = w_.OrPred(open, w_.Ne64(elements_.Double(below), result));
      open = w_.OrPred(open, w_.NaNF64(value.hi, value.hi));
    }
    for (const Settled& settled : settled_) {
      result = p_.Choose(settled.where, settled.value, result);
      open = w_.AndPred(open, w_.NotPred(settled.where));
    }
    emitter_.LeaveOpenIf(open);
    return elements_.Rounded(type_, result);
  }

  // ---- functions ----

  Approximate Of(Opcode opcode) {
    switch (opcode) {
      case Opcode::kExp:
        return Exp();
      case Opcode::kExpm1:
        return Expm1();
      case Opcode::kLogistic:
        return Logistic();
      case Opcode::kTanh:
        return Tanh();
      case Opcode::kSinh:
      case Opcode::kCosh:
        return Hyperbolic(opcode == Opcode::kSinh);
      case Opcode::kLog:
        return Log();
      case Opcode::kLog1p:
        return Log1p();
      case Opcode::kAsinh:
        return Asinh();
      case Opcode::kAcosh:
        return Acosh();
      case Opcode::kAtanh:
        return Atanh();
      case Opcode::kErf:
        return Erf();
      case Opcode::kRsqrt:
        return Rsqrt();
      case Opcode::kCbrt:
        return Cbrt();
      case Opcode::kSin:
        return Sine(0);
      case Opcode::kCos:
        return Sine(1);
      case Opcode::kTan:
        return Tan();
      case Opcode::kAsin:
        return Asin();
      case Opcode::kAcos:
        return Acos();
      case Opcode::kAtan2:
        return Atan2();
      case Opcode::kPower:
        return Power();
      default:
        return {};
    }
  }

  Register Between(double low, Register x, double high) {
    return w_.AndPred(w_.GeF64(x, p_.C(low)), w_.LeF64(x, p_.C(high)));
  }
  Register IsZero(Register x) { return w_.EqF64(x, p_.C(0)); }
  // 2^k of an integer k given as the pattern of kRounder + k.
  Register PowerOfTwo(Register rounded) {
    return w_.Shl64(w_.Add64(rounded, p_.Word(1023)), w_.Constant32(52));
  }
  // Beyond the limits the result is what it is there, or nothing is known.
  Register Limited(Register x, double low, double high) {
    const Register limited = p_.AtLeast(p_.AtMost(x, high), low);
    if (p_.twofold()) Know(w_.EqF64(limited, x));
    return limited;
  }

  // e^(x + low) = scale * (base + rest), |x| < 709.
  struct ExpParts {
    Register scale, inverse_scale;
    Approximate base, rest;
  };
  ExpParts ExpPartsOf(Register x, std::optional<Register> low) {
    const Register shifted = p_.Fma(x, p_.C(kExpSteps), p_.C(kRounder));
    const Register k = p_.Minus(shifted, p_.C(kRounder));
    const Register index = w_.And64(shifted, p_.Word((1 << kExpTableBits) - 1));
    const Register biased = w_.And64(w_.Add64(shifted, p_.Word(uint64_t{1} << 19)), p_.Word(0xfffff));
    const Register m = w_.Sub64(w_.ShrU64(biased, w_.Constant32(kExpTableBits)),
                                p_.Word(uint64_t{1} << (19 - kExpTableBits)));
    const Register inverse = w_.Shl64(w_.Sub64(p_.Word(1023), m), w_.Constant32(52));
    const Register third = p_.Times(p_.Negated(k), p_.C(kExpStep3));
    const Approximate two =
        p_.Sum(p_.Minus(x, p_.Times(k, p_.C(kExpStep1))), p_.Times(p_.Negated(k), p_.C(kExpStep2)));
    const Approximate r = p_.Add(two, low ? p_.Plus(*low, third) : third);
    const Approximate base = p_.Load("exp128", kExpTableHi, kExpTableLo, index);
    const Approximate series = p_.Multiply(p_.Multiply(r, r), p_.Polynomial<ExpPolynomial>(r));
    return {PowerOfTwo(m), inverse, base, p_.Multiply(base, p_.AddSmaller(r, series))};
  }
  Approximate ExpOf(Register x, std::optional<Register> low = std::nullopt) {
    const ExpParts e = ExpPartsOf(x, low);
    return p_.Scale(p_.AddSmaller(e.base, e.rest), e.scale);
  }
  Approximate Expm1Of(Register x) {
    const ExpParts e = ExpPartsOf(x, std::nullopt);
    const Approximate base = p_.Add(e.base, p_.Negated(e.inverse_scale));
    return p_.Scale(p_.Add(base, e.rest), e.scale);
  }

  static constexpr double kExpLimit = 700;
  // Where e^x is 0 and infinity in every format.
  Register Vanishes(Register x) { return w_.LtF64(x, p_.C(-746)); }
  Register Overflows(Register x) { return w_.GtF64(x, p_.C(711)); }

  Approximate Exp() {
    Settle(Vanishes(x_), 0);
    Settle(Overflows(x_), kInfinity);
    return ExpOf(Limited(x_, -kExpLimit, kExpLimit));
  }
  Approximate Expm1() {
    Settle(Overflows(x_), kInfinity);
    const Register low = p_.AtLeast(x_, -100);  // below, it differs from -1 by less than the bounds
    return Expm1Of(Limited(low, -100, kExpLimit));
  }
  Approximate Logistic() {
    Settle(Vanishes(x_), 0);
    const Register limited = Limited(p_.AtMost(x_, 100), -kExpLimit, 100);
    const Approximate u = ExpOf(p_.Negated(p_.Magnitude(limited)));
    const Approximate one = p_.Of(p_.C(1));
    const Approximate above = p_.Choose(w_.GtF64(x_, p_.C(0)), one, u);
    return p_.Divide(above, p_.Add(u, p_.C(1)));
  }
  Approximate Tanh() {
    const Register magnitude = p_.AtMost(p_.Magnitude(x_), 50);
    const Approximate e = Expm1Of(p_.Plus(magnitude, magnitude));
    return p_.SignOf(x_, p_.Divide(e, p_.Add(e, p_.C(2))));
  }
  Approximate Hyperbolic(bool sine) {
    const Register whole = p_.Magnitude(x_);
    const Register infinity = p_.C(kInfinity);
    Settle(Overflows(whole), sine ? p_.SignOf(x_, infinity) : infinity);
    const Register magnitude = Limited(whole, 0, kExpLimit);
    const Register half = p_.C(0.5);
    if (sine) {
      const Approximate e = Expm1Of(magnitude);
      const Approximate twice = p_.AddSmaller(e, p_.Divide(e, p_.Add(e, p_.C(1))));
      return p_.SignOf(x_, p_.Scale(twice, half));
    }
    const Approximate u = ExpOf(magnitude);
    return p_.Scale(p_.AddSmaller(u, p_.Divide(p_.Of(p_.C(1)), u)), half);
  }

  // log(x + low) of a normal x > 0; where x lies in the table's interval of 1, near_one is x + low - 1.
  Approximate LogOf(Register x, Register low, Approximate near_one) {
    const Register bits = w_.Sub64(x, p_.Word(kLogStart));
    const Register index =
        w_.And64(w_.ShrU64(bits, w_.Constant32(52 - kLogTableBits)), p_.Word((1 << kLogTableBits) - 1));
    const Register biased =
        w_.And64(w_.Add64(w_.ShrU64(bits, w_.Constant32(52)), p_.Word(1024)), p_.Word(0xfff));
    const Register m = p_.Minus(w_.Add64(p_.C(kRounder), biased), p_.C(kRounder + 1024));
    const Register power = w_.Shl64(w_.Sub64(biased, p_.Word(1024)), w_.Constant32(52));
    const Register z = w_.Sub64(x, power);
    const Register c = p_.LookUp("log128_inverse", kLogInverse, index);
    const Register is_near = w_.AndPred(w_.EqF64(c, p_.C(1)), IsZero(m));
    Approximate r;
    if (p_.twofold()) {
      const Register inverse_scale = w_.Sub64(p_.Word(uint64_t{1023} << 52), power);
      const Approximate product = p_.ExactProduct(z, c);
      const Register rest = p_.Times(p_.Times(low, inverse_scale), c);
      r = p_.FastSum(p_.Minus(product.hi, p_.C(1)), p_.Plus(product.lo, rest));
    } else {
      r = {p_.Fma(z, c, p_.C(-1)), {}};
    }
    r = p_.Choose(is_near, near_one, r);
    const Approximate series =
        p_.AddSmaller(r, p_.Multiply(p_.Multiply(r, r), p_.Polynomial<LogPolynomial>(r)));
    const Approximate table = p_.Load("log128", kLogTableHi, kLogTableLo, index);
    return p_.Add(p_.Add(p_.Multiply(p_.Of(kLn2), m), table), series);
  }
  Approximate LogOnePlus(Approximate y) {
    const Approximate sum = p_.Add(y, p_.C(1));
    return LogOf(sum.hi, p_.Low(sum), y);
  }
  Approximate Log() {
    Settle(IsZero(x_), -kInfinity);
    Settle(w_.EqF64(x_, p_.C(1)), 0);
    Settle(w_.EqF64(x_, p_.C(kInfinity)), kInfinity);
    Know(Between(kNormal, x_, 0x1p1020));
    return LogOf(x_, p_.C(0), p_.Sum(x_, p_.C(-1)));
  }
  Approximate Log1p() {
    Settle(w_.EqF64(x_, p_.C(-1)), -kInfinity);
    Settle(w_.EqF64(x_, p_.C(kInfinity)), kInfinity);
    Know(w_.AndPred(w_.GtF64(x_, p_.C(-1)), w_.LeF64(x_, p_.C(0x1p1020))));
    return LogOnePlus(p_.Of(x_));
  }
  Approximate Asinh() {
    const Register a = p_.Magnitude(x_);
    Settle(w_.EqF64(a, p_.C(kInfinity)), x_);
    Know(w_.LeF64(a, p_.C(0x1p500)));
    const Approximate square = p_.Product(a, a);
    const Approximate root = p_.SquareRoot(p_.Add(square, p_.C(1)));
    const Approximate rest = p_.Divide(square, p_.Add(root, p_.C(1)));
    return p_.SignOf(x_, LogOnePlus(p_.AddSmaller(p_.Of(a), rest)));
  }
  Approximate Acosh() {
    Settle(w_.EqF64(x_, p_.C(1)), 0);
    Settle(w_.EqF64(x_, p_.C(kInfinity)), kInfinity);
    Know(Between(1, x_, 0x1p500));
    const Approximate t = p_.Sum(x_, p_.C(-1));
    const Approximate root = p_.SquareRoot(p_.Multiply(t, p_.Sum(x_, p_.C(1))));
    return LogOnePlus(p_.Add(t, root));
  }
  Approximate Atanh() {
    const Register a = p_.Magnitude(x_);
    Settle(w_.EqF64(a, p_.C(1)), p_.SignOf(x_, p_.C(kInfinity)));
    Know(w_.LtF64(a, p_.C(1)));
    const Approximate y = p_.Divide(p_.Of(p_.Plus(a, a)), p_.Sum(p_.C(1), p_.Negated(a)));
    return p_.SignOf(x_, p_.Scale(LogOnePlus(y), p_.C(0.5)));
  }

  // A polynomial around the nearest table point.
  Approximate Erf() {
    const Register a = p_.AtMost(p_.Magnitude(x_), 6);
    const Register rounded = p_.Plus(p_.Times(a, p_.C(kErfRowsPerUnit)), p_.C(kRounder));
    const Register c = p_.Times(p_.Minus(rounded, p_.C(kRounder)), p_.C(1.0 / kErfRowsPerUnit));
    const Register t = p_.Minus(a, c);
    const Register point = w_.And64(rounded, p_.Word(0xff));
    const Register inside = w_.LeU64(point, p_.Word(6 * kErfRowsPerUnit));
    const Register row = p_.Choose(inside, point, p_.Word(0));  // a NaN's bits are no row
    constexpr uint64_t kLength = kErfDegree + 1;
    const std::span<const double> high(&kErfRows[0][0], sizeof(kErfRows) / sizeof(double));
    const std::span<const double> low(&kErfRowsLo[0][0], sizeof(kErfRowsLo) / sizeof(double));
    const Register first = w_.Mul64(row, p_.Word(kLength)), first_low = w_.Mul64(row, p_.Word(kErfHead));
    const auto at = [&](uint64_t i) { return p_.LookUp("erf_rows", high, w_.Add64(first, p_.Word(i))); };
    const auto low_at = [&](uint64_t i) {
      return p_.LookUp("erf_rows_low", low, w_.Add64(first_low, p_.Word(i)));
    };
    Register tail = at(kErfDegree);
    for (uint64_t i = kErfDegree; i-- > static_cast<uint64_t>(kErfHead);) tail = p_.Fma(tail, t, at(i));
    Approximate sum = p_.ExactProduct(tail, t);
    for (uint64_t i = kErfHead; i-- > 0;) {
      sum = p_.Add({at(i), low_at(i)}, sum);
      if (i > 0) sum = p_.Multiply(sum, t);
    }
    return p_.SignOf(x_, sum);
  }

  Approximate Rsqrt() {
    Settle(IsZero(x_), p_.SignOf(x_, p_.C(kInfinity)));
    Settle(w_.EqF64(x_, p_.C(kInfinity)), 0);
    Know(Between(0x1p-900, x_, 0x1p900));
    const Register y = p_.Over(p_.C(1), w_.SqrtF64(x_));
    const Approximate h = p_.Negated(p_.Add(p_.Multiply(p_.Product(y, y), x_), p_.C(-1)));
    const Register step = p_.Times(h.hi, p_.Plus(p_.C(0.5), p_.Times(p_.C(0.375), h.hi)));
    return p_.FastSum(y, p_.Times(y, step));
  }

  Approximate Cbrt() {
    constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
    const Register bits = p_.Magnitude(x_);
    Settle(w_.EqF64(bits, p_.C(kInfinity)), x_);
    const Register exponent = w_.ShrU64(bits, w_.Constant32(52));
    Know(w_.LtU64(w_.Sub64(exponent, p_.Word(1)), p_.Word(0x7fe)));
    const Register e = p_.Minus(w_.Add64(p_.C(kRounder), exponent), p_.C(kRounder + 1023));
    const Register rounded = p_.Plus(p_.Times(p_.Minus(e, p_.C(1)), p_.C(1 / 3.0)), p_.C(kRounder));
    const Register s = p_.Minus(e, p_.Times(p_.C(3), p_.Minus(rounded, p_.C(kRounder))));
    const Register mantissa = w_.Or64(w_.And64(bits, p_.Word(kMantissa)), p_.C(1));
    const Register zero = IsZero(s), one = w_.EqF64(s, p_.C(1));
    const Register z = p_.Times(mantissa, p_.Choose(zero, p_.C(1), p_.Choose(one, p_.C(2), p_.C(4))));
    const Register root = p_.Choose(zero, p_.C(1), p_.Choose(one, p_.C(kCbrt2.hi), p_.C(kCbrt4.hi)));
    const Register start = p_.Times(p_.Horner(CbrtPolynomial::kSingle, mantissa), root);
    const Register cube = p_.Times(p_.Times(start, start), start);
    const Register quotient = p_.Over(p_.Minus(cube, z), p_.Plus(p_.Times(p_.C(2), cube), z));
    const Register y = p_.Minus(start, p_.Times(start, quotient));
    const Approximate square = p_.Product(y, y);
    const Approximate rest = p_.Add(p_.Of(z), p_.Negated(p_.Multiply(square, y)));
    const Approximate sum = p_.FastSum(y, p_.Over(rest.hi, p_.Times(p_.C(3), square.hi)));
    return p_.SignOf(x_, p_.Scale(sum, PowerOfTwo(rounded)));
  }

  // ---- sin, cos, tan ----

  // |x| in quarter turns; below pi / 4, itself.
  Quadrant QuadrantOf(Register a) {
    const Register end = p_.C(std::ldexp(1.0, 1 + (p_.twofold() ? kMaxTurnedDouble : kMaxTurnedSingle)));
    Know(w_.LtF64(a, end));
    Settle(w_.EqF64(a, p_.C(kInfinity)), std::numeric_limits<double>::quiet_NaN());
    const Register reduces = w_.AndPred(w_.GeF64(a, p_.C(0x1.9p-1)), w_.LtF64(a, end));
    const Quadrant q = TurnsOf(w_, p_, p_.Choose(reduces, a, p_.C(1)));
    return {p_.Choose(reduces, q.k, p_.Word(0)), p_.Choose(reduces, q.r, p_.Of(a))};
  }
  Approximate SinOfSmall(Approximate r, Approximate square) {
    const Approximate series = p_.Multiply(square, p_.Polynomial<SinPolynomial>(square));
    return p_.AddSmaller(r, p_.Multiply(r, series));
  }
  Approximate CosOfSmall(Approximate square) {
    const Approximate series = p_.Multiply(p_.Multiply(square, square), p_.Polynomial<CosPolynomial>(square));
    return p_.AddSmaller(p_.Of(p_.C(1)), p_.AddSmaller(p_.Scale(square, p_.C(-0.5)), series));
  }
  Register IsOdd(Register k) { return w_.Ne64(w_.And64(k, p_.Word(1)), p_.Word(0)); }
  // sin of |x| and so many quarter turns, with the sign of x where there are none.
  Approximate Sine(uint64_t quarters) {
    const Quadrant q = QuadrantOf(p_.Magnitude(x_));
    const Register k = w_.Add64(q.k, p_.Word(quarters));
    const Approximate square = p_.Multiply(q.r, q.r);
    const Approximate value = p_.Choose(IsOdd(k), CosOfSmall(square), SinOfSmall(q.r, square));
    const Approximate turned = p_.SignOf(w_.Shl64(k, w_.Constant32(62)), value);
    return quarters == 0 ? p_.SignOf(x_, turned) : turned;
  }
  Approximate Tan() {
    const Quadrant q = QuadrantOf(p_.Magnitude(x_));
    const Register odd = IsOdd(q.k);
    const Approximate square = p_.Multiply(q.r, q.r);
    const Approximate sine = SinOfSmall(q.r, square), cosine = CosOfSmall(square);
    const Approximate value =
        p_.Divide(p_.Choose(odd, p_.Negated(cosine), sine), p_.Choose(odd, sine, cosine));
    return p_.SignOf(x_, value);
  }

  // ---- inverse circular functions ----

  // The angle of (x, y), x, y >= 0 and not both 0.
  Approximate AngleOf(Approximate y, Approximate x) {
    const Register steep = w_.GtF64(y.hi, x.hi);
    const Approximate least = p_.Choose(steep, x, y), most = p_.Choose(steep, y, x);
    const Register rounded = p_.Plus(p_.Times(p_.C(64), p_.Over(least.hi, most.hi)), p_.C(kRounder));
    const Register c = p_.Times(p_.Minus(rounded, p_.C(kRounder)), p_.C(0x1p-6));
    const Register i = w_.And64(rounded, p_.Word(0x7f));
    const Register index = p_.Choose(w_.LtU64(i, p_.Word(64)), i, p_.Word(64));
    const Approximate u =
        p_.Divide(p_.Subtract(least, p_.Multiply(most, c)), p_.AddSmaller(most, p_.Multiply(least, c)));
    const Approximate square = p_.Multiply(u, u);
    const Approximate series = p_.Multiply(square, p_.Polynomial<AtanPolynomial>(square));
    const Approximate atan = p_.AddSmaller(u, p_.Multiply(u, series));
    const Approximate angle = p_.Add(p_.Load("atan64", kAtanTableHi, kAtanTableLo, index), atan);
    return p_.Choose(steep, p_.Subtract(p_.Of(kHalfPi), angle), angle);
  }
  Approximate Asin() {
    const Register a = p_.Magnitude(x_);
    Know(w_.LeF64(a, p_.C(1)));
    const Register one = p_.C(1);
    const Approximate cosine = p_.SquareRoot(p_.Multiply(p_.Sum(one, p_.Negated(a)), p_.Sum(one, a)));
    return p_.SignOf(x_, AngleOf(p_.Of(a), cosine));
  }
  Approximate Acos() {
    Settle(w_.EqF64(x_, p_.C(1)), 0);
    const Register one = p_.C(1);
    const Approximate half =
        AngleOf(p_.SquareRoot(p_.Sum(one, p_.Negated(x_))), p_.SquareRoot(p_.Sum(one, x_)));
    return p_.Scale(half, p_.C(2));
  }

  // Here x_ is y of the point and y_ its x. Where one of the two is zero or NaN, the angle is known.
  Approximate Atan2() {
    const Register y = x_, x = y_, a = p_.Magnitude(y), b = p_.Magnitude(x);
    const Register sign = w_.ShrU64(x, w_.Constant32(63));
    const Register right = w_.Eq64(sign, p_.Word(0));
    const Register on_axis = p_.Choose(right, y, p_.SignOf(y, p_.C(RealAtan2(0.0, -1.0, format_))));
    Settle(w_.AndPred(IsZero(x), w_.NotPred(IsZero(y))), p_.SignOf(y, p_.C(RealAtan2(1.0, 0.0, format_))));
    Settle(IsZero(y), on_axis);
    Settle(w_.NaNF64(x, y), std::numeric_limits<double>::quiet_NaN());
    const double least = p_.twofold() ? 0x1p-400 : 0x1p-150, most = p_.twofold() ? 0x1p400 : 0x1p150;
    Know(Between(least, a, most));
    Know(Between(least, b, most));
    const Approximate angle = AngleOf(p_.Of(a), p_.Of(b));
    return p_.SignOf(y, p_.Choose(right, angle, p_.Subtract(p_.Of(kPi), angle)));
  }

  // ---- power ----

  Register IsInteger(Register a) {
    const Register rounded = p_.Minus(p_.Plus(a, p_.C(0x1p52)), p_.C(0x1p52));
    return w_.OrPred(w_.GeF64(a, p_.C(0x1p52)), w_.EqF64(rounded, a));
  }
  // |x|^y = e^t, t = y log |x|; a negative x wants an integer y, whose parity gives the sign.
  Approximate Power() {
    const Register x = x_, y = y_, zero = p_.C(0);
    const Register a = p_.Magnitude(x), exponent = p_.Magnitude(y);
    const Register integer = IsInteger(exponent);
    const Register odd = w_.AndPred(integer, w_.NotPred(IsInteger(p_.Times(p_.C(0.5), exponent))));
    const Register negative = w_.LtF64(x, zero), finite = w_.LtF64(exponent, p_.C(kInfinity));
    const Register real = w_.OrPred(w_.GtF64(x, zero), integer);
    // Zero bases; then what is no real number; then NaN; then what is 1 whatever the other is.
    // The last one holds.
    const Register of_zero = p_.Choose(w_.GtF64(y, zero), zero, p_.C(kInfinity));
    Settle(IsZero(x), p_.Choose(odd, p_.SignOf(x, of_zero), of_zero));
    const Register proper = w_.GtF64(x, p_.C(-kInfinity));
    Settle(w_.AndPred(w_.AndPred(negative, proper), w_.AndPred(finite, w_.NotPred(integer))),
           std::numeric_limits<double>::quiet_NaN());
    Settle(w_.NaNF64(x, y), std::numeric_limits<double>::quiet_NaN());
    Settle(w_.OrPred(IsZero(y), w_.EqF64(x, p_.C(1))), 1);
    Know(w_.AndPred(Between(kNormal, a, 0x1p1020), w_.AndPred(real, w_.LeF64(exponent, p_.C(0x1p900)))));
    const Approximate t = p_.Multiply(LogOf(a, zero, p_.Sum(a, p_.C(-1))), y);
    const Register clamped = Limited(t.hi, -kExpLimit, kExpLimit);
    const Register low = p_.twofold() ? p_.Choose(w_.EqF64(clamped, t.hi), t.lo, zero) : zero;
    const Approximate value = ExpOf(clamped, low);
    const Register sign = p_.Choose(w_.AndPred(negative, odd), p_.C(-1), p_.C(1));
    return p_.Scale(value, sign);
  }

  Emitter& emitter_;
  PtxWriter& w_;
  Elements& elements_;
  const ElementType type_;
  const FloatFormat& format_;
  Pairs p_;
  const Register x_;
  Register y_;
  Register known_;
  std::vector<Settled> settled_;
};

}  // namespace

Element EmitTestedFunction(Emitter& emitter, const Instruction& instruction,
                           std::span<Element* const> operands) {
  if (operands.empty() || operands.size() > 2 || Bits(operands[0]->type) < 16) return {};
  return TestedFunctions(emitter, operands).Run(instruction.opcode);
}

}  // namespace assay::gpu
