// The fixed-point accumulator of exact sums (NUM-5, NUM-6), and its roundings.
//
// A term is an integer mantissa times a power of two; it is cut into pieces of 32 bits at the limbs'
// boundaries and added to (or subtracted from) the limbs, which are 64 bits wide, so that no carry has to be
// moved until 2^30 terms came in. A product of two doubles is an integer of 106 bits: nothing is rounded and
// nothing under- or overflows, whatever the operands' exponents.
#include "evaluator/scalar/exact_sum.h"

#include <gmp.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "evaluator/scalar/rounding.h"
#include "literal/float_format.h"

namespace assay {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr uint64_t kFractionMask = (uint64_t{1} << 52) - 1;
constexpr uint64_t kLimbMask = 0xffffffff;
constexpr int kSpecialExponent = 0x7ff;

// |x| = mantissa * 2^(exponent - 1075); exponent is 1 for subnormals and zero.
struct Parts {
  uint64_t mantissa;
  int exponent;
};

inline Parts PartsOf(uint64_t bits) {
  const int field = static_cast<int>(bits >> 52) & kSpecialExponent;
  const uint64_t implicit = static_cast<uint64_t>(field != 0) << 52;
  return {(bits & kFractionMask) | implicit, field + (field == 0)};
}

inline bool IsSpecial(uint64_t bits) { return ((bits >> 52) & kSpecialExponent) == kSpecialExponent; }

// Adds -piece if `mask` is all ones, piece if it is 0.
inline void AddPiece(int64_t& limb, uint64_t piece, uint64_t mask) {
  limb = static_cast<int64_t>(static_cast<uint64_t>(limb) + ((piece ^ mask) - mask));
}

// Adds +-value * 2^shift, 106 + 31 bits at most, to the five limbs from `limb`.
inline void AddShifted(int64_t* limb, Uint128 value, int shift, uint64_t mask) {
  const uint64_t lower = static_cast<uint64_t>(value), upper = static_cast<uint64_t>(value >> 64);
  const uint64_t word0 = lower << shift;
  const uint64_t word1 = (upper << shift) | ((lower >> 1) >> (63 - shift));
  const uint64_t word2 = (upper >> 1) >> (63 - shift);
  AddPiece(limb[0], word0 & kLimbMask, mask);
  AddPiece(limb[1], word0 >> 32, mask);
  AddPiece(limb[2], word1 & kLimbMask, mask);
  AddPiece(limb[3], word1 >> 32, mask);
  AddPiece(limb[4], word2, mask);
}

// Adds +-value * 2^shift for a value of 64 bits to the three limbs from `limb`.
inline void AddShifted(int64_t* limb, uint64_t value, int shift, uint64_t mask) {
  const uint64_t word0 = value << shift;
  AddPiece(limb[0], word0 & kLimbMask, mask);
  AddPiece(limb[1], word0 >> 32, mask);
  AddPiece(limb[2], (value >> 1) >> (63 - shift), mask);
}

// Products of f32 values have this many zero bits at the low end, at least.
constexpr int kShortProductZeros = 58;
constexpr uint64_t kShortProductMask = (uint64_t{1} << kShortProductZeros) - 1;

}  // namespace

// |sum| as an integer times 2^kLowExponent, without leading zero limbs.
struct ExactSum::Magnitude {
  std::array<uint32_t, kLimbs + 1> limbs{};
  int count = 0;
  bool negative = false;
};

void ExactSum::Clear() {
  if (low_ <= high_) std::fill(limbs_.begin() + low_, limbs_.begin() + high_ + 1, 0);
  low_ = kLimbs;
  high_ = -1;
  terms_ = 0;
  positive_infinity_ = negative_infinity_ = nan_ = any_ = false;
  all_negative_zero_ = true;
}

void ExactSum::AddSpecial(double term) {
  all_negative_zero_ = false;
  if (std::isnan(term)) {
    nan_ = true;
  } else {
    (term > 0 ? positive_infinity_ : negative_infinity_) = true;
  }
}

void ExactSum::Add(double x) {
  const double one = 1.0;
  AddProducts(&x, 0, &one, 0, 1);
}

void ExactSum::AddProduct(double a, double b) { AddProducts(&a, 0, &b, 0, 1); }

void ExactSum::AddProducts(const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t n) {
  any_ |= n > 0;
  while (n > 0) {
    const int64_t block = std::min(n, kMaxTerms - terms_);
    AddBlock(a, a_stride, b, b_stride, block);
    terms_ += block;
    if (terms_ == kMaxTerms) Normalize();
    n -= block;
    a += block * a_stride;
    b += block * b_stride;
  }
}

void ExactSum::AddBlock(const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t n) {
  // Position 0 is the lowest bit of limb 0; a product's lowest bit has the weight 2^(ea + eb - 2150).
  constexpr int kPositionBias = -2150 - kLowExponent;
  int64_t* const limbs = limbs_.data();
  int low = low_, high = high_;
  bool all_negative_zero = true;
  for (int64_t i = 0; i < n; ++i, a += a_stride, b += b_stride) {
    const uint64_t a_bits = std::bit_cast<uint64_t>(*a), b_bits = std::bit_cast<uint64_t>(*b);
    if (IsSpecial(a_bits) || IsSpecial(b_bits)) {
      AddSpecial(*a * *b);
      continue;
    }
    const Parts x = PartsOf(a_bits), y = PartsOf(b_bits);
    const uint64_t mask = static_cast<uint64_t>(static_cast<int64_t>(a_bits ^ b_bits) >> 63);
    const Uint128 product = static_cast<Uint128>(x.mantissa) * y.mantissa;
    if (product == 0) {
      all_negative_zero &= mask != 0;
      continue;
    }
    all_negative_zero = false;
    int position = x.exponent + y.exponent + kPositionBias;
    int limb = position >> 5;
    if ((static_cast<uint64_t>(product) & kShortProductMask) == 0) {
      position += kShortProductZeros;
      limb = position >> 5;
      AddShifted(limbs + limb, static_cast<uint64_t>(product >> kShortProductZeros), position & 31, mask);
      high = std::max(high, limb + 2);
    } else {
      AddShifted(limbs + limb, product, position & 31, mask);
      high = std::max(high, limb + 4);
    }
    low = std::min(low, limb);
  }
  low_ = low;
  high_ = high;
  all_negative_zero_ &= all_negative_zero;
}

void ExactSum::Normalize() const {
  terms_ = 0;
  int64_t carry = 0;
  for (int i = low_; i <= high_; ++i) {
    const int64_t value = limbs_[i] + carry;
    if (i == high_ && value == static_cast<int32_t>(value)) {
      limbs_[i] = value;
      return;
    }
    limbs_[i] = value & static_cast<int64_t>(kLimbMask);
    carry = value >> 32;
    if (i == high_ && carry != 0) {
      limbs_[++high_] = carry;
      return;
    }
  }
}

std::optional<double> ExactSum::SpecialValue() const {
  if (nan_ || (positive_infinity_ && negative_infinity_)) return std::nan("");
  if (positive_infinity_) return HUGE_VAL;
  if (negative_infinity_) return -HUGE_VAL;
  if (Sign() == 0) return any_ && all_negative_zero_ ? -0.0 : 0.0;
  return std::nullopt;
}

int ExactSum::Sign() const {
  if (nan_ || (positive_infinity_ && negative_infinity_)) return 0;
  if (positive_infinity_) return 1;
  if (negative_infinity_) return -1;
  Normalize();
  for (int i = high_; i >= low_; --i) {
    if (limbs_[i] != 0) return limbs_[i] < 0 ? -1 : 1;
  }
  return 0;
}

ExactSum::Magnitude ExactSum::AbsoluteValue() const {
  Magnitude result;
  result.negative = Sign() < 0;
  int64_t carry = 0;
  for (int i = low_; i <= high_; ++i) {
    const int64_t value = (result.negative ? -limbs_[i] : limbs_[i]) + carry;
    result.limbs[i] = static_cast<uint32_t>(value);
    carry = value >> 32;
  }
  // The absolute value of a top limb that fits in 32 signed bits fits in 32 unsigned ones.
  result.count = std::max(high_ + 1, 0);
  while (result.count > 0 && result.limbs[result.count - 1] == 0) --result.count;
  return result;
}

namespace {

// RN_F of the positive integer in `limbs` (the last of which is not zero) times 2^exponent.
double RoundLimbs(const uint32_t* limbs, int count, int64_t exponent, bool sticky, bool negative,
                  const FloatFormat& format) {
  const auto limb = [&](int i) -> uint64_t { return i >= 0 ? limbs[i] : 0; };
  const int shift = std::countl_zero(limbs[count - 1]);
  // The leading 96 bits contain the 64 that are wanted.
  const uint64_t leading = (limb(count - 1) << 32) | limb(count - 2);
  const uint64_t next = limb(count - 3) << 32;
  const uint64_t mantissa = shift == 0 ? leading : (leading << shift) | (next >> (64 - shift));
  sticky |= (next << shift) != 0;
  for (int i = 0; i < count - 3; ++i) sticky |= limbs[i] != 0;
  return RoundTruncated({.negative = negative,
                         .mantissa = mantissa,
                         .exponent = exponent + 32 * (count - 2) - shift,
                         .sticky = sticky},
                        format);
}

}  // namespace

double ExactSum::Round(const FloatFormat& format) const {
  if (const auto special = SpecialValue()) return RoundToFormat(*special, format);
  const Magnitude sum = AbsoluteValue();
  return RoundLimbs(sum.limbs.data(), sum.count, kLowExponent, false, sum.negative, format);
}

// Long division by n, limb by limb from the top. Five limbs of zeros below make the quotient longer than 64
// bits, and the remainder says whether it is exact.
double ExactSum::RoundQuotient(int64_t n, const FloatFormat& format) const {
  if (n <= 0) return CanonicalNaN(format);
  if (const auto special = SpecialValue()) return RoundToFormat(*special, format);
  constexpr int kExtra = 5;
  const Magnitude sum = AbsoluteValue();
  std::array<uint32_t, kLimbs + 1 + kExtra> quotient{};
  const auto divisor = static_cast<uint64_t>(n);
  uint64_t remainder = 0;
  for (int i = sum.count + kExtra - 1; i >= 0; --i) {
    const Uint128 dividend =
        static_cast<Uint128>(remainder) << 32 | (i >= kExtra ? sum.limbs[i - kExtra] : 0);
    quotient[i] = static_cast<uint32_t>(dividend / divisor);
    remainder = static_cast<uint64_t>(dividend % divisor);
  }
  int count = sum.count + kExtra;
  while (quotient[count - 1] == 0) --count;
  return RoundLimbs(quotient.data(), count, kLowExponent - 32 * kExtra, remainder != 0, sum.negative, format);
}

namespace {

// A GMP integer with an owner.
struct GmpInteger {
  GmpInteger() { mpz_init(value); }
  // The integer in little-endian limbs.
  GmpInteger(const uint32_t* limbs, int count) : GmpInteger() {
    mpz_import(value, count, -1, sizeof(uint32_t), 0, 0, limbs);
  }
  ~GmpInteger() { mpz_clear(value); }
  GmpInteger(const GmpInteger&) = delete;
  GmpInteger& operator=(const GmpInteger&) = delete;
  mpz_t value;
};

// RN_F(numerator / denominator * 2^exponent), numerator not zero, denominator positive.
double RoundFraction(const GmpInteger& numerator, const GmpInteger& denominator, int64_t exponent,
                     const FloatFormat& format) {
  GmpInteger quotient, remainder;
  const auto bits = [](const GmpInteger& x) { return static_cast<int64_t>(mpz_sizeinbase(x.value, 2)); };
  // Enough bits appended to the numerator for a quotient of 64 bits or more.
  const int64_t extra = std::max<int64_t>(0, bits(denominator) - bits(numerator) + 65);
  mpz_abs(quotient.value, numerator.value);
  mpz_mul_2exp(quotient.value, quotient.value, extra);
  mpz_tdiv_qr(quotient.value, remainder.value, quotient.value, denominator.value);
  const int64_t surplus = bits(quotient) - 64;
  const bool sticky =
      mpz_sgn(remainder.value) != 0 || static_cast<int64_t>(mpz_scan1(quotient.value, 0)) < surplus;
  mpz_tdiv_q_2exp(quotient.value, quotient.value, surplus);
  return RoundTruncated({.negative = mpz_sgn(numerator.value) < 0,
                         .mantissa = mpz_get_ui(quotient.value),
                         .exponent = surplus - extra + exponent,
                         .sticky = sticky},
                        format);
}

}  // namespace

// With S1 = m1 * 2^L and S2 = m2 * 2^L: variance = (n * m2 * 2^-L - m1^2) * 2^(2L) / n^2.
double RoundVariance(const ExactSum& sum, const ExactSum& sum_of_squares, int64_t n,
                     const FloatFormat& format) {
  if (n <= 0 || !sum.IsFinite() || !sum_of_squares.IsFinite()) return CanonicalNaN(format);
  const ExactSum::Magnitude m1 = sum.AbsoluteValue(), m2 = sum_of_squares.AbsoluteValue();
  GmpInteger square(m1.limbs.data(), m1.count), numerator(m2.limbs.data(), m2.count), divisor;
  mpz_mul(square.value, square.value, square.value);
  if (m2.negative) mpz_neg(numerator.value, numerator.value);
  mpz_mul_si(numerator.value, numerator.value, n);
  mpz_mul_2exp(numerator.value, numerator.value, -ExactSum::kLowExponent);
  mpz_sub(numerator.value, numerator.value, square.value);
  if (mpz_sgn(numerator.value) == 0) return RoundToFormat(0.0, format);
  mpz_set_si(divisor.value, n);
  mpz_mul_si(divisor.value, divisor.value, n);
  return RoundFraction(numerator, divisor, 2 * ExactSum::kLowExponent, format);
}

double RoundRatio(const ExactSum& numerator, const ExactSum& denominator, const FloatFormat& format) {
  if (!numerator.IsFinite() || !denominator.IsFinite() || denominator.Sign() <= 0)
    return CanonicalNaN(format);
  if (const auto zero = numerator.SpecialValue()) return RoundToFormat(*zero, format);
  const ExactSum::Magnitude above = numerator.AbsoluteValue(), below = denominator.AbsoluteValue();
  GmpInteger dividend(above.limbs.data(), above.count), divisor(below.limbs.data(), below.count);
  if (above.negative) mpz_neg(dividend.value, dividend.value);
  return RoundFraction(dividend, divisor, 0, format);
}

}  // namespace assay
