// Floating-point numbers of N x 64 bits: what decompositions are computed in before they are rounded to a
// type (custom/linalg/ladder.h). Operations are ones of integers (and quotients and roots
// start from those of two doubles, which are rounded correctly everywhere), so a result is the same on every
// machine; exponents have 32 bits, so that nothing overflows or is subnormal.
//
// A number is 0 or +-0.d_1 d_2 ... d_64N x 2^exponent in binary, d_1 = 1. Operations drop the digits behind
// the last (their error is below 2 units of it), but for one rule: a sum of two numbers that is smaller than
// 2^-48N times the larger of them, of whose digits three quarters have cancelled, is 0. So what is 0 without
// rounding errors is 0 with them.
#ifndef ASSAY_CUSTOM_LINALG_WIDE_H_
#define ASSAY_CUSTOM_LINALG_WIDE_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// Loops over the limbs of short numbers become code without jumps.
#ifdef __clang__
#define ASSAY_UNROLL _Pragma("clang loop unroll_count(4)")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 4")
#endif

namespace assay::linalg {

// Without kZeros the rule for sums that are 0 does not hold: for iterations, which come to their ends by
// small numbers.
template <int N, bool kZeros = true>
class Wide {
 public:
  static constexpr int kLimbs = N;
  static constexpr int kBits = 64 * N;
  // A number smaller than 2^-kKept times what it was made of is rounding error.
  static constexpr int kKept = 48 * N;

  Wide() = default;
  // Finite.
  Wide(double value) {  // NOLINT: numbers are written as such
    if (value == 0) return;
    int exponent;
    const double fraction = std::frexp(std::abs(value), &exponent);
    limbs_[N - 1] = static_cast<uint64_t>(std::ldexp(fraction, 53)) << 11;
    exponent_ = exponent;
    negative_ = value < 0;
  }
  explicit Wide(const Wide<N, !kZeros>& other) { *this = std::bit_cast<Wide>(other); }
  // 2^exponent
  static Wide PowerOf2(int exponent) {
    Wide result;
    result.limbs_[N - 1] = uint64_t{1} << 63;
    result.exponent_ = exponent + 1;
    return result;
  }

  bool is_zero() const { return limbs_[N - 1] == 0; }
  bool is_negative() const { return negative_; }
  // |x| < 2^exponent, |x| >= 2^(exponent - 1); of 0 below that of all others.
  int exponent() const { return is_zero() ? std::numeric_limits<int>::min() / 2 : exponent_; }

  Wide operator-() const {
    Wide result = *this;
    if (!is_zero()) result.negative_ = !negative_;
    return result;
  }
  Wide Times2To(int power) const {
    Wide result = *this;
    if (!is_zero()) result.exponent_ += power;
    return result;
  }

  friend Wide operator+(const Wide& a, const Wide& b) {
    if constexpr (N > 3) return AddCalled(a, b, b.negative_, kZeros ? kKept : kAll);
    return Add(a, b, b.negative_, kZeros ? kKept : kAll);
  }
  friend Wide operator-(const Wide& a, const Wide& b) {
    if constexpr (N > 3) return AddCalled(a, b, !b.negative_, kZeros ? kKept : kAll);
    return Add(a, b, !b.negative_, kZeros ? kKept : kAll);
  }
  friend Wide operator*(const Wide& a, const Wide& b) {
    if constexpr (N > 3) return MultiplyCalled(a, b);
    return Multiply(a, b);
  }
  friend Wide operator/(const Wide& a, const Wide& b) { return a * Reciprocal(b); }
  Wide& operator+=(const Wide& b) { return *this = *this + b; }
  Wide& operator-=(const Wide& b) { return *this = *this - b; }
  Wide& operator*=(const Wide& b) { return *this = *this * b; }

  friend bool operator<(const Wide& a, const Wide& b) {
    if (a.negative_ != b.negative_) return a.negative_;
    const int order = CompareSizes(a, b);
    return a.negative_ ? order > 0 : order < 0;
  }
  friend bool operator>(const Wide& a, const Wide& b) { return b < a; }
  friend bool operator<=(const Wide& a, const Wide& b) { return !(b < a); }
  friend bool operator>=(const Wide& a, const Wide& b) { return !(a < b); }

  friend Wide Abs(Wide a) {
    a.negative_ = false;
    return a;
  }

  // Newton's iteration from the 53 bits that doubles give; b is not 0.
  [[gnu::noinline]] friend Wide Reciprocal(const Wide& b) {
    const Wide one(1.0);
    Wide x(1 / b.Fraction());
    for (int bits = 50; bits < kBits; bits *= 2) {
      const Wide rest = Add(one, b.Scaled() * x, /*negative=*/true, kAll);
      x = Add(x, x * rest, rest.negative_, kAll);
    }
    x.exponent_ -= b.exponent_;
    x.negative_ = b.negative_;
    return x;
  }

  // a >= 0
  [[gnu::noinline]] friend Wide Sqrt(const Wide& a) {
    if (a.is_zero()) return a;
    const int half = a.exponent_ >> 1;
    Wide scaled = a;
    scaled.exponent_ = a.exponent_ - 2 * half;  // 0 or 1
    const Wide one(1.0);
    Wide y(1 / std::sqrt(std::ldexp(a.Fraction(), scaled.exponent_)));
    for (int bits = 48; bits < kBits; bits *= 2) {
      const Wide rest = Add(one, scaled * (y * y), /*negative=*/true, kAll);
      y = Add(y, (y * rest).Times2To(-1), rest.negative_, kAll);
    }
    return (scaled * y).Times2To(half);
  }

  // The nearest number of a format with `precision` bits, least exponent `least` (the smallest subnormal is
  // 2^least) and largest numbers below 2^most, by its double; ties to even, beyond the largest infinity. What
  // is within 2^-kKept of a tie of the format, relatively, is the tie.
  [[gnu::noinline]] double Round(int precision, int least, int most) const {
    if (is_zero()) return 0;
    Wide x = *this;
    x.RoundDigits(kKept);
    const int digits = x.exponent_ - precision < least ? x.exponent_ - least : precision;
    if (digits < 0) return negative_ ? -0.0 : 0.0;
    x.RoundDigits(digits);
    if (x.is_zero()) return negative_ ? -0.0 : 0.0;
    double value = std::numeric_limits<double>::infinity();
    if (x.exponent_ <= most) value = std::ldexp(static_cast<double>(x.limbs_[N - 1] >> 11), x.exponent_ - 53);
    return negative_ ? -value : value;
  }
  double RoundToDouble() const { return Round(53, -1074, 1024); }
  float RoundToFloat() const { return static_cast<float>(Round(24, -149, 128)); }

 private:
  static constexpr int kAll = kBits + 64;
  using Product = unsigned __int128;

  // |x| without its exponent, in [1/2, 1): all that is exact in a double.
  double Fraction() const { return std::ldexp(static_cast<double>(limbs_[N - 1] >> 11), -53); }
  Wide Scaled() const {
    Wide result = *this;
    result.exponent_ = 0;
    result.negative_ = false;
    return result;
  }

  static int CompareSizes(const Wide& a, const Wide& b) {
    if (a.exponent() != b.exponent()) return a.exponent() < b.exponent() ? -1 : 1;
    for (int i = N - 1; i >= 0; --i) {
      if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    }
    return 0;
  }

  // To `digits` digits, 0 <= digits, to nearest, ties to even.
  void RoundDigits(int digits) {
    if (digits >= kBits) return;
    const int dropped = kBits - digits, at = dropped / 64, bit = dropped % 64;
    const int half_at = (dropped - 1) / 64, half_bit = (dropped - 1) % 64;
    const bool half = (limbs_[half_at] >> half_bit & 1) != 0;
    bool below = (limbs_[half_at] & ((uint64_t{1} << half_bit) - 1)) != 0;
    for (int i = 0; i < half_at; ++i) below = below || limbs_[i] != 0;
    const bool odd = digits > 0 && (limbs_[at] >> bit & 1) != 0;
    for (int i = 0; i < at && i < N; ++i) limbs_[i] = 0;
    if (at < N) limbs_[at] &= ~uint64_t{0} << bit;
    if (!half || !(below || odd)) {
      if (digits == 0) *this = Wide();
      return;
    }
    if (digits == 0) return TakePowerOf2();
    uint64_t carry = uint64_t{1} << bit;
    for (int i = at; i < N && carry != 0; ++i) {
      limbs_[i] += carry;
      carry = limbs_[i] < carry ? 1 : 0;
    }
    if (carry != 0) TakePowerOf2();
  }
  // The sign stays.
  void TakePowerOf2() {
    for (uint64_t& limb : limbs_) limb = 0;
    limbs_[N - 1] = uint64_t{1} << 63;
    ++exponent_;
  }

  static Wide Multiply(const Wide& a, const Wide& b) {
    if (a.is_zero() || b.is_zero()) return Wide();
    uint64_t product[2 * N] = {};
    ASSAY_UNROLL
    for (int i = 0; i < N; ++i) {
      uint64_t carry = 0;
      ASSAY_UNROLL
      for (int j = 0; j < N; ++j) {
        const Product sum = static_cast<Product>(a.limbs_[i]) * b.limbs_[j] + product[i + j] + carry;
        product[i + j] = static_cast<uint64_t>(sum);
        carry = static_cast<uint64_t>(sum >> 64);
      }
      product[i + N] = carry;
    }
    Wide result;
    const int shift = static_cast<int>(~product[2 * N - 1] >> 63);  // 0 or 1
    ASSAY_UNROLL
    for (int i = 0; i < N; ++i)
      result.limbs_[i] = product[N + i] << shift | (shift != 0 ? product[N + i - 1] >> 63 : 0);
    result.exponent_ = a.exponent_ + b.exponent_ - shift;
    result.negative_ = a.negative_ != b.negative_;
    return result;
  }

  // |a| + |b| or |a| - |b| for |a| >= |b|, with 64 digits more than the result has.
  struct Extended {
    uint64_t limbs[N + 1];
  };
  // |b| / 2^shift, 0 <= shift < kBits + 64.
  static Extended ShiftedRight(const Wide& b, int shift) {
    Extended result;
    const int whole = shift / 64, part = shift % 64;
    // limbs of b stand in limbs 1 ... N
    ASSAY_UNROLL
    for (int i = 0; i <= N; ++i) {
      const int from = i + whole;
      const uint64_t low = from >= 1 && from <= N ? b.limbs_[from - 1] : 0;
      const uint64_t high = from + 1 >= 1 && from + 1 <= N ? b.limbs_[from] : 0;
      result.limbs[i] = part == 0 ? low : low >> part | high << (64 - part);
    }
    return result;
  }

  // a + b, b's sign being `negative`; 0 where more than `kept` digits cancel.
  static Wide Add(const Wide& a, const Wide& b, bool negative, int kept) {
    if (b.is_zero()) return a;
    if (a.is_zero()) {
      Wide result = b;
      result.negative_ = negative;
      return result;
    }
    const int order = a.exponent_ != b.exponent_ ? a.exponent_ - b.exponent_ : CompareSizes(a, b);
    if (order < 0) return Combine(b, negative, a, a.negative_, kept);
    if (order == 0 && a.negative_ != negative) return Wide();
    return Combine(a, a.negative_, b, negative, kept);
  }

  // Not once more in each place that adds: of longer numbers that takes the compiler minutes, and the
  // processor no less time.
  [[gnu::noinline]] static Wide AddCalled(const Wide& a, const Wide& b, bool negative, int kept) {
    return Add(a, b, negative, kept);
  }
  [[gnu::noinline]] static Wide MultiplyCalled(const Wide& a, const Wide& b) { return Multiply(a, b); }

  static Wide Combine(const Wide& large, bool sign, const Wide& small, bool small_sign, int kept) {
    const int64_t distance = static_cast<int64_t>(large.exponent_) - small.exponent_;
    Wide result = large;
    result.negative_ = sign;
    if (distance >= kBits + 64) return result;
    const Extended shifted = ShiftedRight(small, static_cast<int>(distance));
    return sign == small_sign ? Sum(result, shifted) : Difference(result, shifted, kept);
  }

  static Wide Sum(Wide large, const Extended& small) {
    uint64_t carry = 0;
    ASSAY_UNROLL
    for (int i = 0; i < N; ++i) {
      const Product sum = static_cast<Product>(large.limbs_[i]) + small.limbs[i + 1] + carry;
      large.limbs_[i] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
    if (carry == 0) return large;
    ASSAY_UNROLL
    for (int i = 0; i + 1 < N; ++i) large.limbs_[i] = large.limbs_[i] >> 1 | large.limbs_[i + 1] << 63;
    large.limbs_[N - 1] = large.limbs_[N - 1] >> 1 | uint64_t{1} << 63;
    ++large.exponent_;
    return large;
  }

  static Wide Difference(Wide large, const Extended& small, int kept) {
    uint64_t digits[N + 1];
    uint64_t borrow = 0;
    ASSAY_UNROLL
    for (int i = 0; i <= N; ++i) {
      const uint64_t minuend = i == 0 ? 0 : large.limbs_[i - 1];
      const Product difference = static_cast<Product>(minuend) - small.limbs[i] - borrow;
      digits[i] = static_cast<uint64_t>(difference);
      borrow = static_cast<uint64_t>(difference >> 64) & 1;
    }
    int top = N;
    while (top >= 0 && digits[top] == 0) --top;
    if (top < 0) return Wide();
    const int part = std::countl_zero(digits[top]), lost = 64 * (N - top) + part;
    if (lost > kept) return Wide();
    ASSAY_UNROLL
    for (int i = N - 1; i >= 0; --i) {
      const int from = i + 1 - (N - top);
      const uint64_t high = from >= 0 ? digits[from] : 0, low = from >= 1 ? digits[from - 1] : 0;
      large.limbs_[i] = part == 0 ? high : high << part | low >> (64 - part);
    }
    large.exponent_ -= lost;
    return large;
  }

  uint64_t limbs_[N] = {};  // the last one first
  int32_t exponent_ = 0;
  bool negative_ = false;  // of 0: false
};

}  // namespace assay::linalg

#undef ASSAY_UNROLL

#endif  // ASSAY_CUSTOM_LINALG_WIDE_H_
