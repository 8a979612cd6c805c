#include "gpu/ptx/turns.h"

#include <vector>

#include "engines/native/functions/circular.h"
#include "engines/native/functions/coefficients.h"

namespace assay::gpu {
namespace {

using namespace native;  // NOLINT: the tables

constexpr int kLeastExponent = -1;

class Turner {
 public:
  Turner(PtxWriter& writer, Pairs& pairs) : w_(writer), p_(pairs) {}

  Quadrant Run(Register a) {
    const Register exponent = w_.ShrU64(a, w_.Constant32(52));
    const Register index = w_.Sub64(exponent, p_.Word(uint64_t{1023 + kLeastExponent}));
    const Register fraction = w_.And64(a, p_.Word((uint64_t{1} << 52) - 1));
    const Register mantissa = w_.Or64(fraction, p_.C(1));
    return p_.twofold() ? Twofold(index, mantissa) : Single(index, mantissa);
  }

 private:
  // The part's entry for the exponent, of which there are as many as arguments have.
  Register Entry(int part, const TurnPart& table, Register index) {
    const int bits = p_.twofold() ? 52 : 23;  // the mantissa is an integer of so many, and one
    const int most = p_.twofold() ? kMaxTurnedDouble : kMaxTurnedSingle;
    const double* const first = table.at + (kLeastExponent - bits - kTurnFirst);
    const std::string name =
        std::string(p_.twofold() ? "turns_double_" : "turns_single_") + std::to_string(part);
    return p_.LookUp(name, {first, static_cast<size_t>(most - kLeastExponent + 1)}, index);
  }

  Quadrant Single(Register index, Register mantissa) {
    const Register m = p_.Times(mantissa, p_.C(0x1p23));
    const Approximate product = p_.ExactProduct(m, Entry(0, kTurns0, index));
    const Register shifted = p_.Plus(product.hi, p_.C(kRounder));
    const Register f = p_.Plus(p_.Minus(product.hi, p_.Minus(shifted, p_.C(kRounder))),
                               p_.Fma(m, Entry(1, kTurns1, index), product.lo));
    return {shifted, {p_.Times(f, p_.C(kHalfPi.hi)), {}}};
  }

  // x >= 0 to the nearest integer.
  Register RoundPositive(Register x) {
    const Register rounded = p_.Minus(p_.Plus(x, p_.C(0x1p52)), p_.C(0x1p52));
    return p_.Choose(w_.LtF64(x, p_.C(0x1p52)), rounded, x);
  }
  Quadrant Twofold(Register index, Register mantissa) {
    const Register m = p_.Times(mantissa, p_.C(0x1p52));
    const Approximate p0 = p_.ExactProduct(m, Entry(0, kTurns0, index));
    const Approximate p1 = p_.ExactProduct(m, Entry(1, kTurns1, index));
    const Approximate p2 = p_.ExactProduct(m, Entry(2, kTurns2, index));
    const Register p3 = p_.Times(m, Entry(3, kTurns3, index));
    const Register whole = RoundPositive(p0.hi);
    const Register quarters = p_.Minus(whole, p_.Times(p_.C(4), RoundPositive(p_.Times(p_.C(0.25), whole))));
    const Approximate s = p_.ExactSum(p_.Plus(p_.Minus(p0.hi, whole), p0.lo), p1.hi);
    const Register shifted = p_.Plus(s.hi, p_.C(kRounder));
    const Approximate head = p_.ExactSum(p_.Minus(s.hi, p_.Minus(shifted, p_.C(kRounder))), s.lo);
    const Approximate f = p_.Add(p_.Add(p_.Add(p_.Add(head, p1.lo), p2.hi), p2.lo), p3);
    const Register k = w_.Add64(shifted, p_.Plus(quarters, p_.C(kRounder)));
    return {k, p_.Multiply(f, p_.Of(kHalfPi))};
  }

  PtxWriter& w_;
  Pairs& p_;
};

}  // namespace

Quadrant TurnsOf(PtxWriter& writer, Pairs& pairs, Register a) { return Turner(writer, pairs).Run(a); }

}  // namespace assay::gpu
