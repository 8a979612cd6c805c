#include "evaluator/scalar/unit_root.h"

#include "evaluator/scalar/mpfr_real.h"

namespace assay {
namespace {

RootPart SplitRoot(mpfr_ptr x) {
  RootPart part;
  part.hi = mpfr_get_d(x, MPFR_RNDN);
  mpfr_sub_d(x, x, part.hi, MPFR_RNDN);
  part.lo = mpfr_get_d(x, MPFR_RNDN);
  return part;
}

}  // namespace

UnitRoot MakeUnitRoot(int64_t t, int64_t n) {
  // Multiples of a right angle.
  if (4 * t % n == 0) {
    constexpr UnitRoot kQuarters[] = {{{1}, {0}}, {{0}, {-1}}, {{-1}, {0}}, {{0}, {1}}};
    return kQuarters[4 * t / n];
  }
  // The angle's error of 2^-188 is far below 2^-106 of a component, which is at least sin(2 pi / (4 n)) where
  // it is not zero.
  constexpr mpfr_prec_t kPrecision = 192;
  MpfrReal angle(kPrecision), sine(kPrecision), cosine(kPrecision);
  mpfr_const_pi(angle.get(), MPFR_RNDN);
  mpfr_mul_si(angle.get(), angle.get(), static_cast<long>(2 * t), MPFR_RNDN);
  mpfr_div_si(angle.get(), angle.get(), static_cast<long>(n), MPFR_RNDN);
  mpfr_sin_cos(sine.get(), cosine.get(), angle.get(), MPFR_RNDN);
  mpfr_neg(sine.get(), sine.get(), MPFR_RNDN);
  return {SplitRoot(cosine.get()), SplitRoot(sine.get())};
}

}  // namespace assay
