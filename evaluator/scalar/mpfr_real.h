// MPFR values with an owner, and their rounding to float formats. Only evaluator/scalar includes it.
//
// MPFR's exponent range is left at its default, (-2^30, 2^30), and of its global state only GMP's memory
// functions are changed, which throw std::bad_alloc: results are taken toward zero at 64 bits or more with
// their ternary value, and rounded by rounding.h.
#ifndef ASSAY_EVALUATOR_SCALAR_MPFR_REAL_H_
#define ASSAY_EVALUATOR_SCALAR_MPFR_REAL_H_

#include <mpfr.h>

#include <optional>

#include "shape/element_type.h"

namespace assay {

// Enough for one rounding to any format of a result taken toward zero.
inline constexpr mpfr_prec_t kTruncatedPrecision = 64;
inline constexpr mpfr_prec_t kDoublePrecision = 53;

// Call before MPFR allocates anything on this thread; what it keeps is freed when the thread ends.
void UseMpfrCache();

class MpfrReal {
 public:
  explicit MpfrReal(mpfr_prec_t precision);
  explicit MpfrReal(double x);  // exactly
  ~MpfrReal() { mpfr_clear(value_); }
  MpfrReal(const MpfrReal&) = delete;
  MpfrReal& operator=(const MpfrReal&) = delete;

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
};

// RN_F of the value whose truncation toward zero is `value` (precision 64 or more); `ternary` is nonzero if
// something was cut off. NaN, infinities and zeros go through RoundToFormat.
double RoundMpfr(mpfr_srcptr value, int ternary, const FloatFormat& format);

// RN_F of a real number in [low, high] that is not 0, where both ends decide the same; else nothing.
std::optional<double> RoundInterval(mpfr_srcptr low, mpfr_srcptr high, const FloatFormat& format);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_MPFR_REAL_H_
