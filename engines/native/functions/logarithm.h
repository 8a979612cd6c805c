// log and its kin. With x = 2^m z, z in [0.72, 1.44), and c near 1 / z from a table: log x = m log 2 - log c
// + log(1 + r), r = z c - 1, |r| <= 0.0043. In the table's interval around 1, c = 1: there r = x - 1, and the
// result keeps its relative precision.
//
// Errors. c has 10 bits, so z c is exact in Double, and in Single where z has 43 bits (every narrow operand).
// Single: terms err by u each; outside the interval of 1 the result is at least 2^-9.1 where the table's -log
// c is at most 2^-6, so its error of 2^-60 and those of the sums are 2^-50 of it; with m != 0 the result is
// at least 0.3 and m log 2 at most 3 times as large (5 u). An argument 1 + y that errs itself (y of asinh,
// acosh, atanh: 8 u) adds 8 u 2^9 where 1 + y is outside that interval, 2^-41 in all. Double: the polynomial
// errs by 2^-101 (its head, and a tail of 2^-53 of 2^-52), the sums by 2^-103 of terms at most 2^4 times the
// result: 2^-98; 1 + y adds 2^-103 2^9.1: 2^-93.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_LOGARITHM_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_LOGARITHM_H_

#include "engines/native/functions/polynomial.h"

namespace assay::native {

// log(x + low) for a normal x > 0 and |low| <= ulp(x) / 2; where x lies in the interval of 1, `near_one` is
// to be x + low - 1.
template <class R>
ASSAY_BODY R LogOf(double x, double low, R near_one) {
  const uint64_t bits = BitsOf(x) - kLogStart;
  const uint64_t index = (bits >> (52 - kLogTableBits)) & ((1 << kLogTableBits) - 1);
  // bits >> 52 is m mod 2^12; in [-1023, 1023] it reads from the lowest 12 bits.
  const uint64_t biased = ((bits >> 52) + 1024) & 0xfff;
  const double m = FromBits(BitsOf(kRounder) + biased) - (kRounder + 1024);
  const double z = FromBits(BitsOf(x) - ((biased - 1024) << 52));
  const double inverse_scale = FromBits((1023 + 1024 - biased) << 52);
  const double c = kLogInverse[index];
  const uint64_t is_near_one = Bit(c == 1) & Bit(m == 0);
  R r;
  if constexpr (R::kIsDouble) {
    const Pair p = ExactProduct<R::kFma>(z, c);
    r = R::Of(FastSum(p.hi - 1, p.lo + low * inverse_scale * c));
  } else {
    r = {MulAdd<R::kFma>(z, c, -1.0)};
  }
  r = Choose(is_near_one != 0, near_one, r);
  const R series = AddSmaller(r, (r * r) * Polynomial<LogPolynomial>(r));
  const R table = R::Load(kLogTableHi, kLogTableLo, index);
  return (R::Of(kLn2) * m + table) + series;
}

// log(1 + y) for y > -1.
template <class R>
ASSAY_BODY R LogOnePlus(R y) {
  const R sum = y + 1.0;
  return LogOf<R>(sum.hi, sum.Low(), y);
}

struct Log {
  template <class R>
  ASSAY_BODY R Of(double x) {
    return Where((Bit(x >= std::numeric_limits<double>::min()) & Bit(x <= 0x1p1020)) != 0,
                 LogOf<R>(x, 0, R::Sum(x, -1.0)));
  }
};

struct Log1p {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const uint64_t known = Bit(x > -1) & Bit(x <= 0x1p1020);
    return Where(known != 0, Choose(x == 0, R::Of(x), LogOnePlus<R>(R::Of(x))));
  }
};

// log(1 + y), y = a + a^2 / (1 + sqrt(1 + a^2)), a = |x|.
struct Asinh {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x);
    const R square = R::Product(a, a);
    const R y = AddSmaller(R::Of(a), square / (SquareRoot(square + 1.0) + 1.0));
    return SignOf(x, Where(a <= 0x1p500, LogOnePlus<R>(y)));
  }
};

// log(1 + y), y = t + sqrt(t (x + 1)), t = x - 1.
struct Acosh {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const R t = R::Sum(x, -1.0);
    const R y = t + SquareRoot(t * R::Sum(x, 1.0));
    return Where((Bit(x >= 1) & Bit(x <= 0x1p500)) != 0, LogOnePlus<R>(y));
  }
};

// log(1 + 2 a / (1 - a)) / 2, a = |x|.
struct Atanh {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x);
    const R y = R::Of(2 * a) / R::Sum(1.0, -a);
    return SignOf(x, Where(a < 1, Scale(LogOnePlus<R>(y), 0.5)));
  }
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_LOGARITHM_H_
