// atan2, asin and acos. For y, x >= 0 and t = min / max: atan t = atan c + atan((min - c
// max) / (max + c min)) with c = i / 64 next to t; pi / 2 minus that where y > x.
//
// Errors. Single: min - c max errs by u c max, so u c of the quotient, less than u of the result; the result
// is at least half of each term: 2^-50. asin: (1 - a)(1 + a) 2 u, its root 2 u more: 2^-49. Double: the
// quotient errs by 2^-101 and enters with at most half the weight, tables and sums by 2^-103: 2^-99;
// asin and acos 2^-97.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_ARC_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_ARC_H_

#include "engines/native/functions/polynomial.h"

namespace assay::native {

// The angle of (x, y) in [0, pi / 2], for x, y >= 0 that are not both 0.
template <class R>
ASSAY_BODY R AngleOf(R y, R x) {
  const bool steep = y.hi > x.hi;
  const R least = Choose(steep, x, y), most = Choose(steep, y, x);
  const double rounded = 64 * (least.hi / most.hi) + kRounder;
  const double c = (rounded - kRounder) * 0x1p-6;
  const uint64_t i = BitsOf(rounded) & 0x7f;
  const R u = Minus(least, most * c) / AddSmaller(most, least * c);
  const R square = u * u;
  const R atan = AddSmaller(u, u * (square * Polynomial<AtanPolynomial>(square)));
  const R angle = R::Load(kAtanTableHi, kAtanTableLo, i < 64 ? i : 64) + atan;
  return Choose(steep, Minus(R::Of(kHalfPi), angle), angle);
}

struct Atan2 {
  template <class R>
  ASSAY_BODY R Of(double y, double x) {
    const double a = Absolute(y), b = Absolute(x);
    const R angle = AngleOf<R>(R::Of(a), R::Of(b));
    // Tier 2 without values whose products could leave a double's range.
    constexpr double kLeast = R::kIsDouble ? 0x1p-400 : 0x1p-150, kMost = R::kIsDouble ? 0x1p400 : 0x1p150;
    const uint64_t known = Bit(a >= kLeast) & Bit(b >= kLeast) & Bit(a <= kMost) & Bit(b <= kMost);
    return Where(known != 0, SignOf(y, Choose(x < 0, Minus(R::Of(kPi), angle), angle)));
  }
};

// The angle of (sqrt((1 - a)(1 + a)), a), a = |x|.
struct Asin {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double a = Absolute(x);
    const R cosine = SquareRoot(R::Sum(1.0, -a) * R::Sum(1.0, a));
    return Where(a <= 1, SignOf(x, AngleOf<R>(R::Of(a), cosine)));
  }
};

// Twice the angle of (sqrt(1 + x), sqrt(1 - x)).
struct Acos {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const R half = AngleOf<R>(SquareRoot(R::Sum(1.0, -x)), SquareRoot(R::Sum(1.0, x)));
    return Where(Absolute(x) <= 1, Scale(half, 2.0));
  }
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_ARC_H_
