#include "evaluator/scalar/mpfr_real.h"

#include <bit>

#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

static_assert(GMP_NUMB_BITS == 64);

// Owner of the constants and free numbers that MPFR keeps per thread.
struct ThreadCache {
  void Use() {}
  ~ThreadCache() { mpfr_free_cache(); }
};
thread_local ThreadCache thread_cache;

Truncated Truncate(mpfr_srcptr value, int ternary) {
  const auto* limbs = static_cast<const mp_limb_t*>(mpfr_custom_get_significand(value));
  const int64_t count = (mpfr_get_prec(value) + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS;
  bool sticky = ternary != 0;
  for (int64_t i = 0; i + 1 < count; ++i) sticky |= limbs[i] != 0;
  return {.negative = mpfr_signbit(value) != 0,
          .mantissa = limbs[count - 1],
          .exponent = mpfr_get_exp(value) - 64,
          .sticky = sticky};
}

}  // namespace

void UseMpfrCache() { thread_cache.Use(); }

MpfrReal::MpfrReal(mpfr_prec_t precision) {
  UseMpfrCache();
  mpfr_init2(value_, precision);
}

MpfrReal::MpfrReal(double x) : MpfrReal(kDoublePrecision) { mpfr_set_d(value_, x, MPFR_RNDN); }

double RoundMpfr(mpfr_srcptr value, int ternary, const FloatFormat& format) {
  if (mpfr_regular_p(value)) return RoundTruncated(Truncate(value, ternary), format);
  if (mpfr_zero_p(value) && ternary != 0) return RoundTiny(mpfr_signbit(value) != 0, format);
  return RoundToFormat(mpfr_get_d(value, MPFR_RNDZ), format);
}

std::optional<double> RoundInterval(mpfr_srcptr low, mpfr_srcptr high, const FloatFormat& format) {
  if (mpfr_nan_p(low) || mpfr_nan_p(high)) return std::nullopt;
  // An end that is zero stands for numbers next to it, on the inner side.
  const double a = mpfr_zero_p(low) ? RoundTiny(false, format) : RoundMpfr(low, 0, format);
  const double b = mpfr_zero_p(high) ? RoundTiny(true, format) : RoundMpfr(high, 0, format);
  if (std::bit_cast<uint64_t>(a) != std::bit_cast<uint64_t>(b)) return std::nullopt;
  return a;
}

}  // namespace assay
