// Sums of floats by MPFR with more bits than any sum of floats has, rounded once: an oracle that shares
// nothing with the evaluator.
#ifndef ASSAY_TESTS_ENGINES_NATIVE_SUMS_WIDE_SUMS_H_
#define ASSAY_TESTS_ENGINES_NATIVE_SUMS_WIDE_SUMS_H_

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace assay::testing {

// `count` sums, at first of no term.
class WideSums {
 public:
  explicit WideSums(int64_t count) : sums_(static_cast<size_t>(count)) {
    for (Sum& sum : sums_) {
      mpfr_init2(sum.finite, 400);
      mpfr_set_zero(sum.finite, 1);
    }
  }
  ~WideSums() {
    for (Sum& sum : sums_) mpfr_clear(sum.finite);
  }
  WideSums(const WideSums&) = delete;
  WideSums& operator=(const WideSums&) = delete;

  void Add(int64_t i, float x) {
    Sum& sum = sums_[static_cast<size_t>(i)];
    sum.all_negative_zero &= x == 0 && std::signbit(x);
    if (std::isnan(x)) sum.nan = true;
    if (std::isinf(x)) (x > 0 ? sum.positive : sum.negative) = true;
    if (std::isfinite(x)) mpfr_add_d(sum.finite, sum.finite, x, MPFR_RNDN);
  }
  // The sum's bits as f32.
  uint32_t Bits(int64_t i) const {
    const Sum& sum = sums_[static_cast<size_t>(i)];
    if (sum.nan || (sum.positive && sum.negative)) return 0x7fc00000;
    if (sum.positive || sum.negative) return sum.positive ? 0x7f800000 : 0xff800000;
    if (mpfr_zero_p(sum.finite)) return sum.all_negative_zero ? 0x80000000 : 0;
    return std::bit_cast<uint32_t>(mpfr_get_flt(sum.finite, MPFR_RNDN));
  }

 private:
  struct Sum {
    mpfr_t finite;
    bool nan = false, positive = false, negative = false, all_negative_zero = true;
  };
  std::vector<Sum> sums_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_ENGINES_NATIVE_SUMS_WIDE_SUMS_H_
