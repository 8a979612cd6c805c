// exp and its kin. With x = k log 2 / 128 + r: e^x = 2^(k / 128) e^r = 2^m (T + T p), where k = 128 m + i,
// T = 2^(i / 128) from a table and p = e^r - 1 from a polynomial, |r| <= 0.0028.
//
// Errors. Single: r errs by 2^-60 (its rounding, and 2^18 times what two parts leave of log 2 / 128), p by
// 2^-60, T by u; T + T p by 3 u in all. e^x - 1 = 2^m ((T - 2^-m) + T p): where k != 0 the sum is at least
// 0.0027 and T's error of 2^-53 is 2^-44.4 of it; where k = 0 it is p itself, to 4 u. Functions made of these
// add a few u. Double: r errs by 2^-112 + 2^18 * 2^-131, p by 2^-104 |r| (the polynomial 2^-106.7, its head
// 20 u^2 |r|, its tail 2^-53 of a term of 2^-52 |r|), T by 2^-107: 2^-103 in all, and 2^-95 for e^x - 1.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_EXPONENTIAL_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_EXPONENTIAL_H_

#include "engines/native/functions/polynomial.h"

namespace assay::native {

// scale * (base + rest) = e^x.
template <class R>
struct ExpParts {
  double scale, inverse_scale;
  R base, rest;
};

// The parts of e^(x + low), |x| < 709, low a hair of x.
template <class R>
ASSAY_BODY ExpParts<R> ExpPartsOf(double x, double low) {
  const double shifted = MulAdd<R::kFma>(x, kExpSteps, kRounder);
  const double k = shifted - kRounder;
  const uint64_t bits = BitsOf(shifted);
  const uint64_t index = bits & ((1 << kExpTableBits) - 1);
  // kRounder + m: the pattern's lowest 20 bits hold k, its sign included.
  const uint64_t power = ((bits + (uint64_t{1} << 19)) & 0xfffff) >> kExpTableBits;
  const uint64_t m = power - (uint64_t{1} << (19 - kExpTableBits));
  const double scale = PowerOfTwo(m);
  const double inverse_scale = FromBits((1023 - m) << 52);
  const R r = R::Sum(x - k * kExpStep1, -k * kExpStep2) + (low - k * kExpStep3);
  const R base = R::Load(kExpTableHi, kExpTableLo, index);
  const R p = AddSmaller(r, (r * r) * Polynomial<ExpPolynomial>(r));
  return {scale, inverse_scale, base, base * p};
}

// These have no clamp, and take |x| < 709.
template <class R>
ASSAY_BODY R ExpOf(double x, double low = 0) {
  const ExpParts<R> e = ExpPartsOf<R>(x, low);
  return Scale(AddSmaller(e.base, e.rest), e.scale);
}
template <class R>
ASSAY_BODY R Expm1Of(double x) {
  const ExpParts<R> e = ExpPartsOf<R>(x, 0);
  return Scale((e.base + -e.inverse_scale) + e.rest, e.scale);
}

// Bounds of the arguments: tier 1's results beyond e^+-700 are beyond every narrow format anyway; tier 2 does
// not take arguments whose result nears the ends of f64.
inline constexpr double kExpLimit = 700;

ASSAY_BODY double AtMost(double x, double limit) { return x > limit ? limit : x; }
ASSAY_BODY double AtLeast(double x, double limit) { return x < limit ? limit : x; }

struct Exp {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double clamped = AtLeast(AtMost(x, kExpLimit), -kExpLimit);
    return Where(!R::kIsDouble || clamped == x, ExpOf<R>(clamped));
  }
};

// Below -100 the result differs from -1 by less than the bounds.
struct Expm1 {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double clamped = AtMost(x, kExpLimit);
    const R value = Choose(x == 0, R::Of(x), Expm1Of<R>(AtLeast(clamped, -100)));
    return Where(!R::kIsDouble || clamped == x, value);
  }
};

// 1 / (1 + u) and u / (1 + u) for u = e^-|x|.
struct Logistic {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double magnitude = AtMost(Absolute(AtMost(x, 100)), kExpLimit);
    const R u = ExpOf<R>(-magnitude);
    const R one = R::Of(1.0);
    return Where(!R::kIsDouble || x >= -kExpLimit, Choose(x > 0, one, u) / (u + 1.0));
  }
};

// E / (E + 2), E = e^2|x| - 1; above 50 the result differs from 1 by less than the bounds.
struct Tanh {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double magnitude = AtMost(Absolute(x), 50);
    const R e = Expm1Of<R>(2 * magnitude);
    return SignOf(x, e / (e + 2.0));
  }
};

// (E + E / (E + 1)) / 2, E = e^|x| - 1.
struct Sinh {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double magnitude = AtMost(Absolute(x), kExpLimit);
    const R e = Expm1Of<R>(magnitude);
    const R twice = AddSmaller(e, e / (e + 1.0));
    return Where(!R::kIsDouble || magnitude == Absolute(x), SignOf(x, Scale(twice, 0.5)));
  }
};

// (u + 1 / u) / 2, u = e^|x|.
struct Cosh {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double magnitude = AtMost(Absolute(x), kExpLimit);
    const R u = ExpOf<R>(magnitude);
    const R twice = AddSmaller(u, R::Of(1.0) / u);
    return Where(!R::kIsDouble || magnitude == Absolute(x), Scale(twice, 0.5));
  }
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_EXPONENTIAL_H_
