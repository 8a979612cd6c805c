#include "evaluator/scalar/mpfr_real.h"

#include <gmp.h>

#include <bit>
#include <cstdlib>
#include <new>

#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

static_assert(GMP_NUMB_BITS == 64);

// Owner of the constants and free numbers that MPFR keeps per thread.
struct ThreadCache {
  // Where an allocation failed, a constant may be half computed.
  void Use() {
    if (has_gaps) mpfr_free_cache();
    has_gaps = false;
  }
  ~ThreadCache() { mpfr_free_cache(); }
  bool has_gaps = false;
};
thread_local ThreadCache thread_cache;

// GMP, which MPFR and MPC allocate by, ends the process where there is no memory. The exception passes
// through their functions instead, whose temporary numbers are lost then.
void* OrThrow(void* block) {
  if (block != nullptr) return block;
  thread_cache.has_gaps = true;
  throw std::bad_alloc();
}
void* Allocate(size_t bytes) { return OrThrow(std::malloc(bytes)); }
void* Reallocate(void* block, size_t /*old_bytes*/, size_t bytes) {
  return OrThrow(std::realloc(block, bytes));
}
void Free(void* block, size_t /*bytes*/) { std::free(block); }
// Before main, so before any number of GMP; the default functions could free what these allocate, too.
[[maybe_unused]] const bool throws_bad_alloc = [] {
  mp_set_memory_functions(Allocate, Reallocate, Free);
  return true;
}();

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
