// rsqrt and cbrt: a double near the root, and for tier 2 one Newton step whose residual is exact.
//
// Errors. rsqrt: Single, 1 / sqrt(x) is two operations: 2 u. Double: y errs by d = 2 u of the root, h = 1 - x
// y^2 = 2 d is known to 2^-104 (x y^2 is a Product times a double, 8 u^2), and y (1 + h/2 + 3 h^2 / 8) leaves
// d^3 terms and 2^-105. cbrt: the polynomial errs by d = 2^-22, Halley's step leaves d^3 and errs by 4 u of y
// in its residual y^3 - z: 2^-50 in all. Double: from y = that double, z - y^3 is known to 12 u^2 z and the
// Newton step leaves d^2 = 2^-100.
#include "engines/native/functions/passes.h"
#include "engines/native/functions/polynomial.h"

namespace assay::native {
namespace {

struct Rsqrt {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const double y = 1 / __builtin_sqrt(x);
    if constexpr (R::kIsDouble) {
      const R h = -(R::Product(y, y) * x + -1.0);
      const double step = h.hi * (0.5 + 0.375 * h.hi);
      return Where((Bit(x >= 0x1p-900) & Bit(x <= 0x1p900)) != 0, R::Of(FastSum(y, y * step)));
    } else {
      return {y};
    }
  }
};

struct Cbrt {
  template <class R>
  ASSAY_BODY R Of(double x) {
    const uint64_t bits = BitsOf(Absolute(x));
    // |x| = 2^(3 q + s) z', z' in [1, 2), s in {0, 1, 2}: rounding e / 3 - 1/3 to the nearest gives q.
    const uint64_t exponent = bits >> 52;
    const double e = FromBits(BitsOf(kRounder) + exponent) - (kRounder + 1023);
    const double rounded = (e - 1) * (1 / 3.0) + kRounder;
    const double s = e - 3 * (rounded - kRounder);
    const double mantissa = FromBits((bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52));
    const double z = mantissa * Choose(s == 0, 1.0, Choose(s == 1, 2.0, 4.0));
    const double start = HornerSingle<CbrtPolynomial, R::kFma, 0>(mantissa) *
                         Choose(s == 0, 1.0, Choose(s == 1, kCbrt2.hi, kCbrt4.hi));
    const double cube = start * start * start;
    const double y = start - start * ((cube - z) / (2 * cube + z));
    const double scale = PowerOfTwo(BitsOf(rounded));
    const bool known = exponent - 1 < 0x7fe;
    if constexpr (R::kIsDouble) {
      const R square = R::Product(y, y);
      const R rest = R::Of(z) + -(square * y);
      return Where(known, SignOf(x, Scale(R::Of(FastSum(y, rest.hi / (3 * square.hi))), scale)));
    } else {
      return Where(known, SignOf(x, R{y * scale}));
    }
  }
};

}  // namespace

constinit const Passes kRsqrtPasses = PassesOf<Rsqrt>();
constinit const Passes kCbrtPasses = PassesOf<Cbrt>();

}  // namespace assay::native
