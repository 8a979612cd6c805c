// power: |x|^y = e^t, t = y log |x|; a negative x wants an integer y, whose parity gives the sign.
//
// Errors. |t| <= 745 unless the result is beyond its format's range, and for f32 and narrower |t| <= 105.
// Single: log 2^-50, the product u: 2^-43 of error in t, which is a relative error of the result, and 3 u.
// Double: log 2^-98 and 4 u^2 of t: 2^-88.3; exp adds 2^-103.
#include "engines/native/functions/exponential.h"
#include "engines/native/functions/logarithm.h"
#include "engines/native/functions/passes.h"

namespace assay::native {
namespace {

// 1 if a >= 0 is an integer. Doubles from 2^52 up are.
ASSAY_BODY uint64_t IsInteger(double a) { return Bit(a >= 0x1p52) | Bit((a + 0x1p52) - 0x1p52 == a); }

struct Power {
  template <class R>
  ASSAY_BODY R Of(double x, double y) {
    const double a = Absolute(x), exponent = Absolute(y);
    const R t = LogOf<R>(a, 0, R::Sum(a, -1.0)) * y;
    const double clamped = AtLeast(AtMost(t.hi, kExpLimit), -kExpLimit);
    const double low = Choose(clamped == t.hi, t.Low(), 0.0);
    const R value = ExpOf<R>(clamped, low);
    const uint64_t inside = R::kIsDouble ? Bit(clamped == t.hi) : 1;
    const uint64_t argument = Bit(a >= std::numeric_limits<double>::min()) & Bit(a <= 0x1p1020);
    const uint64_t real = Bit(x > 0) | IsInteger(exponent);
    const uint64_t odd = IsInteger(exponent) & ~IsInteger(0.5 * exponent);
    const double sign = Choose((Bit(x < 0) & odd) != 0, -1.0, 1.0);
    return Where((argument & real & inside & Bit(exponent <= 0x1p900)) != 0, Scale(value, sign));
  }
};

}  // namespace

constinit const Passes kPowerPasses = PassesOf<Power>();

}  // namespace assay::native
