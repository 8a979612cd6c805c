// erf, around the nearest table point c, in t = |x| - c, which is exact. Above 6 it is taken at 6: erf x lies
// between that and 1, which are 2^-55.4 apart and round alike in every format.
//
// Single: erf(c + t) = erf c + erf' c t (u_0 / 1 + u_1 / 2 + u_2 / 3 + ...), where u_n are the terms of
// e^(-2ct - t^2) = erf'(c + t) / erf' c: differentiated, that gives u_(n+1) = -2 (c t u_n + t^2 u_(n-1)) /
// (n + 1). Double: a polynomial for each c.
//
// Errors. Single, |t| <= 1/64: nine terms leave erf' c t (2 c t + t^2)^9 / 10!, which is below 2^-57 of erf c
// for every c, and of t erf' 0 at c = 0; the terms' errors of a few u enter with t at most: 2^-50. Double,
// |t| <= 1/16: the polynomial 2^-107; tail coefficients are below 2^-52 of the first with their powers of t,
// so 2^-105; each of the 13 steps errs by 12 u^2 of a sum at most 2^-4 of the next: 2^-101.
#include "engines/native/functions/passes.h"
#include "engines/native/functions/polynomial.h"

namespace assay::native {
namespace {

// u_n / (n + 1) + u_(n+1) / (n + 2) + ... to u_8 / 9, of u = u_n and before = u_(n-1); p = -2 c t,
// q = -2 t^2.
template <bool F, int n>
ASSAY_BODY double SeriesFrom(double u, double before, double p, double q) {
  constexpr double kWeight = 1.0 / (n + 1);
  if constexpr (n == 8) {
    return u * kWeight;
  } else {
    const double next = MulAdd<F>(p, u, q * before) * kWeight;
    return MulAdd<F>(u, kWeight, SeriesFrom<F, n + 1>(next, u, p, q));
  }
}

// Coefficients i and up of a row, in t.
template <bool F, int i>
ASSAY_BODY double RowTail(uint64_t row, double t) {
  const double coefficient = (&kErfRows[0][0])[row * (kErfDegree + 1) + i];
  if constexpr (i == kErfDegree) {
    return coefficient;
  } else {
    return MulAdd<F>(RowTail<F, i + 1>(row, t), t, coefficient);
  }
}
template <bool F, int i>
ASSAY_BODY Double<F> RowHead(uint64_t row, double t) {
  const Double<F> coefficient = {(&kErfRows[0][0])[row * (kErfDegree + 1) + i],
                                 (&kErfRowsLo[0][0])[row * kErfHead + i]};
  if constexpr (i + 1 == kErfHead) {
    return coefficient + Double<F>::Product(RowTail<F, i + 1>(row, t), t);
  } else {
    return coefficient + RowHead<F, i + 1>(row, t) * t;
  }
}

struct Erf {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Blend(-Bit(Absolute(x) > 6), 6, Absolute(x));
    constexpr int kPerUnit = R::kIsDouble ? kErfRowsPerUnit : kErfPointsPerUnit;
    const double rounded = a * kPerUnit + kRounder;
    const double c = (rounded - kRounder) * (1.0 / kPerUnit);
    const double t = a - c;
    const uint64_t point = BitsOf(rounded) & 0xff;
    const uint64_t i = point <= 6 * kPerUnit ? point : 0;  // a NaN's bits are no row
    if constexpr (R::kIsDouble) {
      return SignOf(x, RowHead<R::kFma, 0>(i, t));
    } else {
      const double series = SeriesFrom<R::kFma, 0>(1, 0, -2 * c * t, -2 * t * t);
      return SignOf(x, R{kErfAt[i] + kErfSlope[i] * t * series});
    }
  }
};

}  // namespace

constinit const Passes kErfPasses = PassesOf<Erf>();

}  // namespace assay::native
