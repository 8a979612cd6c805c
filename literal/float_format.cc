// Decoding, encoding and rounding of all float formats by integer arithmetic on the bits of doubles
// (docs/spec/shapes.md 2.1). Strips of elements are in element_io.cc.
#include "literal/float_format.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay {
namespace {

constexpr int kDoubleMantissa = 52;
constexpr uint64_t kDoubleSign = uint64_t{1} << 63;
constexpr uint64_t kDoubleInfinity = uint64_t{0x7ff} << kDoubleMantissa;
constexpr uint64_t kDoubleQuietNaN = uint64_t{0xfff} << 51;
constexpr uint64_t kDoubleMantissaMask = (uint64_t{1} << kDoubleMantissa) - 1;

// 2^exponent for exponents of normal doubles.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << kDoubleMantissa);
}
double WithSign(double magnitude, bool negative) { return negative ? -magnitude : magnitude; }
double NaNBits(bool negative, uint64_t mantissa) {
  return std::bit_cast<double>((negative ? kDoubleSign : 0) | kDoubleInfinity | mantissa);
}

uint64_t SignBit(const FloatFormat& format) { return uint64_t{1} << (format.bits - 1); }

// The NaN a pattern stands for, or false if the pattern is a number.
bool IsNaNPattern(uint64_t bits, uint64_t magnitude, const FloatFormat& format) {
  switch (format.specials) {
    case FloatSpecials::kIeee:
      return magnitude > ((SignBit(format) - 1) >> format.mantissa_bits << format.mantissa_bits);
    case FloatSpecials::kFn:
      return magnitude == SignBit(format) - 1;
    case FloatSpecials::kFnuz:
      return bits == SignBit(format);
    case FloatSpecials::kE8M0:
      return bits == 0xff;
    case FloatSpecials::kFinite:
      return false;
  }
  return false;
}

double DecodeNaN(bool negative, uint64_t magnitude, const FloatFormat& format) {
  if (format.specials == FloatSpecials::kFn) return NaNBits(negative, kDoubleQuietNaN & kDoubleMantissaMask);
  if (format.specials != FloatSpecials::kIeee) return CanonicalNaN(format);
  const uint64_t payload = magnitude & ((uint64_t{1} << format.mantissa_bits) - 1);
  return NaNBits(negative, payload << (kDoubleMantissa - format.mantissa_bits));
}

uint64_t EncodeNaN(uint64_t bits, const FloatFormat& format) {
  const uint64_t sign = (bits & kDoubleSign) ? SignBit(format) : 0;
  if (format.specials == FloatSpecials::kFn) return format.nan_bits | sign;
  if (format.specials != FloatSpecials::kIeee) return format.nan_bits;
  const int dropped = kDoubleMantissa - format.mantissa_bits;
  const uint64_t mantissa = bits & kDoubleMantissaMask;
  const uint64_t payload = mantissa >> dropped;
  if (payload == 0 || payload << dropped != mantissa) return format.nan_bits | sign;
  const uint64_t exponent = (uint64_t{1} << format.exponent_bits) - 1;
  return sign | (exponent << format.mantissa_bits) | payload;
}

// Rounds a power-of-two format: ties go up, everything positive below the smallest value gives it.
double RoundToE8M0(double value, const FloatFormat& format) {
  if (!(value > 0)) return CanonicalNaN(format);
  if (value < format.min_subnormal) return format.min_subnormal;
  const uint64_t half = uint64_t{1} << (kDoubleMantissa - 1);
  const double rounded =
      std::bit_cast<double>((std::bit_cast<uint64_t>(value) + half) & ~kDoubleMantissaMask);
  return rounded > format.max_finite ? CanonicalNaN(format) : rounded;
}

double Overflow(bool negative, const FloatFormat& format) {
  if (format.has_infinity()) return WithSign(std::numeric_limits<double>::infinity(), negative);
  if (format.specials == FloatSpecials::kFinite) return WithSign(format.max_finite, negative);
  return CanonicalNaN(format);
}

// A finite magnitude to the nearest multiple of its unit in the last place, exponent unbounded above.
double RoundMagnitude(double magnitude, const FloatFormat& format) {
  if (magnitude < PowerOfTwo(format.min_exponent)) {
    // One unit in the last place of `shift` is the format's smallest subnormal.
    const double shift = PowerOfTwo(format.min_exponent - format.mantissa_bits + kDoubleMantissa);
    const double shifted = magnitude + shift;
    return shifted - shift;
  }
  const int dropped = kDoubleMantissa - format.mantissa_bits;
  const uint64_t bits = std::bit_cast<uint64_t>(magnitude);
  const uint64_t below_half = (uint64_t{1} << (dropped - 1)) - 1;
  const uint64_t odd = (bits >> dropped) & 1;
  return std::bit_cast<double>((bits + below_half + odd) >> dropped << dropped);
}

double RoundNarrow(double value, const FloatFormat& format) {
  if (std::isnan(value)) return CanonicalNaN(format);
  if (format.specials == FloatSpecials::kE8M0) return RoundToE8M0(value, format);
  const bool negative = std::signbit(value);
  if (std::isinf(value)) return Overflow(negative, format);
  const double magnitude = RoundMagnitude(std::fabs(value), format);
  if (magnitude > format.max_finite) return Overflow(negative, format);
  if (magnitude == 0 && !format.has_negative_zero()) return 0.0;
  return WithSign(magnitude, negative);
}

// Two lanes of 64 bits, as GCC and clang spell them for any target.
using F64x2 = double __attribute__((vector_size(16)));
using U64x2 = uint64_t __attribute__((vector_size(16)));
using I64x2 = int64_t __attribute__((vector_size(16)));
F64x2 ChooseDoubles(I64x2 mask, F64x2 a, F64x2 b) {
  const U64x2 m = std::bit_cast<U64x2>(mask);
  return std::bit_cast<F64x2>((std::bit_cast<U64x2>(a) & m) | (std::bit_cast<U64x2>(b) & ~m));
}

// RoundNarrow for formats with a sign, two values at a time. Adding 2^(e + dropped bits) to a magnitude of
// exponent e rounds it at the format's last place, to nearest even; e is kept at or above that of the
// smallest normal for gradual underflow.
void RoundStripNarrow(double* values, int64_t n, const FloatFormat& format) {
  int64_t i = 0;
  if (format.specials != FloatSpecials::kE8M0) {
    const F64x2 smallest = F64x2{} + PowerOfTwo(format.min_exponent);
    const F64x2 largest = F64x2{} + format.max_finite;
    const F64x2 beyond = F64x2{} + 2 * PowerOfTwo(format.max_exponent);
    const F64x2 overflow = F64x2{} + std::fabs(Overflow(false, format));
    const F64x2 nan = {CanonicalNaN(format), CanonicalNaN(format)};
    const double scale = PowerOfTwo(kDoubleMantissa - format.mantissa_bits);
    const bool overflow_is_nan = std::isnan(overflow[0]);
    const bool signed_zero = format.has_negative_zero();
    for (; i + 2 <= n; i += 2) {
      F64x2 value;
      std::memcpy(&value, values + i, sizeof(value));
      const U64x2 bits = std::bit_cast<U64x2>(value);
      F64x2 magnitude = std::bit_cast<F64x2>(bits & ~kDoubleSign);
      magnitude = ChooseDoubles(magnitude > beyond, beyond, magnitude);
      F64x2 power = std::bit_cast<F64x2>(std::bit_cast<U64x2>(magnitude) & kDoubleInfinity);
      power = ChooseDoubles(power > smallest, power, smallest) * scale;
      const F64x2 rounded = (magnitude + power) - power;
      U64x2 sign = bits & kDoubleSign;
      if (!signed_zero) sign &= std::bit_cast<U64x2>(rounded != 0.0);
      const I64x2 over = rounded > largest;
      F64x2 result = ChooseDoubles(over, overflow, rounded);
      if (overflow_is_nan) sign &= ~std::bit_cast<U64x2>(over);
      result = std::bit_cast<F64x2>(std::bit_cast<U64x2>(result) | sign);
      result = ChooseDoubles(value == value, result, nan);
      std::memcpy(values + i, &result, sizeof(result));
    }
  }
  for (; i < n; ++i) values[i] = RoundNarrow(values[i], format);
}

bool IsF32(const FloatFormat& format) { return format.mantissa_bits == 23; }
bool IsF64(const FloatFormat& format) { return format.mantissa_bits == kDoubleMantissa; }

}  // namespace

double DecodeFloat(uint64_t bits, const FloatFormat& format) {
  if (IsF64(format)) return std::bit_cast<double>(bits);
  bits &= (uint64_t{1} << format.bits) - 1;
  const bool has_sign = format.specials != FloatSpecials::kE8M0;
  const bool negative = has_sign && (bits & SignBit(format)) != 0;
  const uint64_t magnitude = negative ? bits ^ SignBit(format) : bits;
  if (IsNaNPattern(bits, magnitude, format)) return DecodeNaN(negative, magnitude, format);
  const uint64_t exponent = magnitude >> format.mantissa_bits;
  const uint64_t all_ones = (uint64_t{1} << format.exponent_bits) - 1;
  if (format.has_infinity() && exponent == all_ones) return Overflow(negative, format);
  if (exponent == 0 && has_sign) {
    return WithSign(static_cast<double>(magnitude) * format.min_subnormal, negative);
  }
  const uint64_t rebias = static_cast<uint64_t>(1023 - format.bias) << kDoubleMantissa;
  return WithSign(std::bit_cast<double>((magnitude << (kDoubleMantissa - format.mantissa_bits)) + rebias),
                  negative);
}

uint64_t EncodeFloat(double value, const FloatFormat& format) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  if (IsF64(format)) return bits;
  if (std::isnan(value)) return EncodeNaN(bits, format);
  const uint64_t sign = (bits & kDoubleSign) ? SignBit(format) : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) {
    const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
    return format.has_infinity() ? sign | infinity : EncodeFloat(Overflow(sign != 0, format), format);
  }
  if (magnitude < PowerOfTwo(format.min_exponent)) {
    const auto count = static_cast<uint64_t>(magnitude / format.min_subnormal);
    return count == 0 && !format.has_negative_zero() ? 0 : sign | count;
  }
  const uint64_t rebias = static_cast<uint64_t>(1023 - format.bias) << kDoubleMantissa;
  const uint64_t field = ((bits & ~kDoubleSign) - rebias) >> (kDoubleMantissa - format.mantissa_bits);
  return (format.specials == FloatSpecials::kE8M0 ? 0 : sign) | field;
}

double RoundToFormat(double value, const FloatFormat& format) {
  if (IsF64(format)) return std::isnan(value) ? CanonicalNaN(format) : value;
  if (IsF32(format)) {
    return std::isnan(value) ? CanonicalNaN(format) : static_cast<double>(static_cast<float>(value));
  }
  return RoundNarrow(value, format);
}

void RoundStripToFormat(double* values, int64_t n, const FloatFormat& format) {
  if (!IsF32(format) && !IsF64(format)) return RoundStripNarrow(values, n, format);
  // Blocks of a constant length are what -O2 turns into vector code.
  constexpr int64_t kBlock = 8;
  const double nan = CanonicalNaN(format);
  const bool narrow = IsF32(format);
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    double* block = values + i;
    if (narrow) {
      for (int64_t j = 0; j < kBlock; ++j) block[j] = static_cast<double>(static_cast<float>(block[j]));
    }
    for (int64_t j = 0; j < kBlock; ++j) block[j] = block[j] != block[j] ? nan : block[j];
  }
  for (; i < n; ++i) values[i] = RoundToFormat(values[i], format);
}

double CanonicalNaN(const FloatFormat& format) {
  return format.has_nan() ? std::bit_cast<double>(kDoubleQuietNaN & ~kDoubleSign) : -0.0;
}

// Gives `value` itself where nothing is below (-infinity, the lowest value of a format without it, NaN).
double NextBelow(double value, const FloatFormat& format) {
  if (std::isnan(value)) return value;
  if (IsF64(format)) return std::nextafter(value, -std::numeric_limits<double>::infinity());
  const bool is_lowest = value == (format.has_infinity() ? -std::numeric_limits<double>::infinity()
                                   : format.specials == FloatSpecials::kE8M0 ? format.min_subnormal
                                                                             : -format.max_finite);
  if (is_lowest) return value;
  if (value > 0) return DecodeFloat(EncodeFloat(value, format) - 1, format);
  return -DecodeFloat(EncodeFloat(std::fabs(value), format) + 1, format);
}

}  // namespace assay
